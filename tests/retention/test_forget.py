"""Forgetting: nothing is readable afterwards, no figure changes, and nothing comes back."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
import zstandard
from typer.testing import CliRunner

from beleg import flow
from beleg.cli.main import app
from beleg.core.contracts import of_kind
from beleg.core.errors import UsageError
from beleg.ingest import quarantine
from beleg.lake.forgotten import BLANKED, KINDS, Kind
from beleg.lake.publication import facts
from beleg.retention.forget import forget
from tests.events import event, lines
from tests.flow.support import AS_OF, Installation, run_events

ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)
KEPT = {
    *("source", "event_id", "event_time", "revision", "tenant", "team", "environment", "retention_policy"),
    *("payload_policy", "ingest_id", "day", "run_id", "parent_run_id", "workflow", "purpose", "canon_version"),
    *("prompt_version", "prompt_source", "feature", "contract_version", "contract_digest", "status", "exception_class"),
    *(
        "duration_ms",
        "units",
        "step_id",
        "parent_step_id",
        "kind",
        "name",
        "tool_name",
        "provider",
        "endpoint_provider",
    ),
    *("api", "model", "call_key", "attempt", "attempt_reason", "latency_ms", "has_usage", "raw_usage", "convention"),
    *("convention_evidence", "usage_check", "service_tier", "batch", "region", "other_units", "billed_pico_usd"),
    *("toolset_hash", "layout_hash", "cache_miss_reason", "playbook", "rating", "correction_id", "supersedes", "field"),
    *("reason", "subject", "decision", "by", "outcome_id", "run_ids", "count", "occurred_at", "retracts", "case_id"),
    *("dataset_digest", "side", "candidate_digest", "repetition", "scorer", "scorer_version", "score", "tools"),
    *("segments",),
}
"""Columns that forgetting leaves: money, counts, states, technical names. `tenant` and `by` get another value."""
HASH = "c0ffee" * 10 + "c0de"
MARKS = {
    "ref": "Mark-Ref-4711",
    "tenant": "Mark-Tenant-Acme",
    "person": "beef" * 16,
}
OTHERS = ("Mark-Label", "Mark-Key", "Mark-Talk", "Mark-Content", "Mark-Expected", "Mark-Response", HASH)
"""What stands on the rows of the forgotten run as well."""


SOAKED = [pytest.param(kind, marks=pytest.mark.soak) for kind in KINDS if kind != "tenant"]
"""The other kinds, where what is tested hardly depends on the kind."""


def history(run: str, at: datetime, **fields: Any) -> list[dict[str, Any]]:
    """A run with everything on it that may lead back to someone."""
    marked = {"tenant": MARKS["tenant"], "labels": {"case": "Mark-Label"}} | fields
    start, step, finish = run_events(run, at)
    talk = {"input_ref": MARKS["ref"], "input_key": "Mark-Key", "conversation_id": "Mark-Talk", "input_hash": HASH}
    later = (at + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    summary = {"kind": "answer_summary", "content": {"summary": "Mark-Content"}, "content_hash": HASH}
    return [
        start | marked | talk | fields,
        step | marked | {"response_id": "Mark-Response", "input_hash": HASH, "output_hash": HASH},
        finish | marked | {"output_hash": HASH},
        event("feedback", f"{run}-like", later, run_id=run, author_hash=MARKS["person"], **marked),
        event(
            "correction",
            f"{run}-fix",
            later,
            run_id=run,
            author_hash=MARKS["person"],
            expected="Mark-Expected",
            **marked,
        )
        | {"input_ref": fields.get("input_ref", MARKS["ref"])},
        event("artifact", f"{run}-summary", later, run_id=run, **summary, **marked),
        event("outcome", f"{run}-filed", later, workflow="vat_return", kind="filed_return", run_ids=[run], **marked),
    ]


def others() -> list[dict[str, Any]]:
    return [e for n in range(3) for e in run_events(f"other{n}", NOON + n * DAY, tenant="someone-else")]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("original"))
    made.take(*history("mine", NOON), *others())
    made.take(*history("late", NOON + DAY), {"event": "broken", "tenant": MARKS["tenant"]})
    return made


@pytest.fixture
def beleg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, original: Installation) -> Installation:
    monkeypatch.delenv("BELEG_HASH_KEYS", raising=False)
    return original.copied_to(tmp_path)


def everything(home: Path) -> str:
    """All that is stored below a folder as text, compressed columns too."""
    found = []
    with duckdb.connect() as con:
        for path in sorted(home.rglob("*")):
            if path.suffix == ".parquet":
                rows = con.execute(
                    "SELECT CAST(t AS VARCHAR) FROM read_parquet($1, hive_partitioning = false) AS t", [str(path)]
                )
                found += [str(row) for row in rows.fetchall()]
            elif path.is_file():
                found.append(path.read_bytes().decode("latin-1"))
    return "\n".join(found)


def money(beleg: Installation) -> list[tuple[Any, ...]]:
    """Every figure, but for the name of the tenant."""
    return beleg.ask(
        "SELECT business_day, workflow, model, sum(COLUMNS(* EXCLUDE (business_day, workflow, purpose, tenant, team, "
        "prompt_version, provider, model, unit, unit_per, month))) FROM unit_costs GROUP BY ALL ORDER BY ALL"
    )


def do(beleg: Installation, kind: Kind) -> Any:
    return forget(beleg.settings, kind, MARKS[kind], as_of=AS_OF)


def test_every_column_of_an_event_is_either_kept_or_forgotten() -> None:
    for contract in of_kind("events"):
        for column in contract.columns:
            known = column.name in KEPT or column.name in BLANKED[contract.table] or column.unit == "tokens"
            assert known, f"{contract.table}.{column.name}: say in BLANKED or in this test whether forgetting keeps it"


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_below_the_home_tells_what_was_forgotten(beleg: Installation, kind: Kind) -> None:
    assert MARKS[kind] in everything(beleg.settings.home)
    do(beleg, kind)
    text = everything(beleg.settings.home)
    assert MARKS[kind] not in text
    if kind != "person":
        assert [mark for mark in OTHERS if mark in text] == []


@pytest.mark.parametrize("kind", ["tenant", *SOAKED])
def test_no_figure_changes_and_nothing_is_restated(beleg: Installation, kind: Kind) -> None:
    before, ledger = money(beleg), beleg.ask("SELECT count(*), sum(delta) FROM restatements")
    do(beleg, kind)
    assert money(beleg) == before
    assert beleg.ask("SELECT count(*), sum(delta) FROM restatements") == ledger
    assert beleg.marts() == beleg.rebuilt()


def test_others_stay_as_they_are(beleg: Installation) -> None:
    rows = "SELECT * FROM runs WHERE tenant = 'someone-else' ORDER BY ALL"
    before = beleg.ask(rows)
    do(beleg, "tenant")
    assert beleg.ask(rows) == before != []
    assert beleg.ask("SELECT DISTINCT tenant FROM unit_costs ORDER BY 1") == [("forgotten-1",), ("someone-else",)]


@pytest.mark.parametrize("kind", ["tenant", *SOAKED])
def test_the_same_events_and_new_ones_do_not_bring_it_back(beleg: Installation, kind: Kind) -> None:
    do(beleg, kind)
    before = money(beleg)
    beleg.take(*history("mine", NOON))
    assert money(beleg) == before
    beleg.take(*history("new", NOON + DAY))
    text = everything(beleg.settings.home)
    assert MARKS[kind] not in text
    if kind != "person":
        assert [mark for mark in OTHERS if mark in text] == []
    assert money(beleg) != before


def test_only_the_run_of_the_reference_is_forgotten(beleg: Installation) -> None:
    beleg.take(*history("another", NOON, input_ref="Another-Ref"))
    do(beleg, "ref")
    assert beleg.ask("SELECT run_id FROM runs WHERE input_hash IS NOT NULL") == [("another",)]
    assert beleg.ask("SELECT DISTINCT tenant FROM runs WHERE run_id = 'mine'") == [(MARKS["tenant"],)]


def test_a_dry_run_counts_and_changes_nothing(beleg: Installation) -> None:
    before = everything(beleg.settings.lake)
    planned = forget(beleg.settings, "tenant", MARKS["tenant"], dry_run=True)
    assert everything(beleg.settings.lake) == before
    assert planned.rows == do(beleg, "tenant").rows
    assert forget(beleg.settings, "tenant", MARKS["tenant"], dry_run=True).rows == {}


def test_the_record_says_who_when_and_how_much_but_not_what(beleg: Installation) -> None:
    do(beleg, "tenant")
    started, done = facts(beleg.settings.ledger / "forgets.jsonl")
    assert (started["state"], done["state"], done["kind"], done["label"]) == (
        "started",
        "done",
        "tenant",
        "forgotten-1",
    )
    assert done["rows"]["runs_started"] == 2
    assert done["by"]
    assert done["at"]
    assert MARKS["tenant"] not in json.dumps([started, done])


def test_own_spool_files_lose_the_lines_and_growing_ones_are_named(beleg: Installation) -> None:
    spool = beleg.settings.spool
    spool.mkdir()
    name = "host~boot~1~2~0001"
    (spool / f"{name}.jsonl").write_bytes(lines(*history("mine", NOON), *others()))
    flow.run(beleg.settings, as_of=AS_OF)
    done = do(beleg, "ref")
    assert done.spool_lines == 6
    assert done.left == ()
    assert MARKS["ref"] not in everything(beleg.settings.home)
    growing = spool / "host~boot~1~2~0002.open.jsonl"
    growing.write_bytes(lines(*history("mine", NOON)))
    assert "may still be written" in do(beleg, "ref").left[0]


@pytest.mark.parametrize(
    ("pack", "folder"),
    [
        (gzip.compress, "spool/from-host-7"),
        (zstandard.ZstdCompressor().compress, "inbox/s3/bucket"),
        pytest.param(bytes, "spool", marks=pytest.mark.soak),
        pytest.param(zstandard.ZstdCompressor().compress, "spool", marks=pytest.mark.soak),
        pytest.param(bytes, "inbox/s3/bucket", marks=pytest.mark.soak),
    ],
)
def test_files_brought_by_any_tool_lose_the_lines_too(
    beleg: Installation, pack: Callable[[bytes], bytes], folder: str
) -> None:
    path = beleg.settings.home / folder / "shipped.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(pack(lines(*history("mine", NOON), *others())))
    flow.run(beleg.settings, [path] if "inbox" in folder else [], as_of=AS_OF)
    done = do(beleg, "ref")
    assert (done.spool_lines, done.left) == (6, ())
    assert MARKS["ref"] not in everything(beleg.settings.home)
    kept = path.read_bytes()
    assert pack(b"")[:3] == kept[:3] or pack is bytes
    before = money(beleg)
    flow.run(beleg.settings, [path] if "inbox" in folder else [], as_of=AS_OF)
    assert money(beleg) == before


@pytest.mark.parametrize("content", [gzip.compress(b"{}\n" * 9, mtime=0)[:-6], b"PK\x03\x04"], ids=["gzip", "zip"])
def test_a_file_that_cannot_be_read_whole_is_named(beleg: Installation, content: bytes) -> None:
    beleg.settings.spool.mkdir()
    (beleg.settings.spool / "torn.jsonl").write_bytes(content)
    assert "torn.jsonl cannot be read whole" in do(beleg, "ref").left[0]


def test_reports_that_show_it_go(beleg: Installation) -> None:
    report = beleg.settings.home / "reports" / "march.html"
    report.parent.mkdir()
    report.write_text(f"<p>{MARKS['tenant']}")
    assert do(beleg, "tenant").reports == ("march.html",)
    assert not report.exists()


def test_a_tenants_own_key_is_destroyed(beleg: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = tmp_path / "keys.json"
    keys = {"k": "00" * 32, "acme-1": "11" * 32}
    ring.write_text(json.dumps({"active": "k", "keys": keys, "tenants": {MARKS["tenant"]: "acme-1"}}))
    monkeypatch.setenv("BELEG_HASH_KEYS", str(ring))
    assert do(beleg, "tenant").key == "acme-1"
    assert set(json.loads(ring.read_text())["keys"]) == {"k"}
    assert do(beleg, "tenant").key is None


def test_a_key_that_others_use_stays_and_is_named(
    beleg: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = tmp_path / "keys.json"
    ring.write_text(json.dumps({"active": "k", "keys": {"k": "00" * 32}, "tenants": {MARKS["tenant"]: "k"}}))
    monkeypatch.setenv("BELEG_HASH_KEYS", str(ring))
    done = do(beleg, "tenant")
    assert done.key is None
    assert "not the tenant's alone" in done.notes[0]


def test_a_wrong_call_forgets_nothing(beleg: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HOME", str(beleg.settings.home))
    with pytest.raises(UsageError, match="exactly one"):
        CliRunner().invoke(app, ["forget"], catch_exceptions=False)
    with pytest.raises(UsageError, match="exactly one"):
        CliRunner().invoke(app, ["forget", "--ref", "a", "--tenant", "b"], catch_exceptions=False)
    with pytest.raises(UsageError, match="nothing to forget"):
        forget(beleg.settings, "ref", "")


def test_the_command_speaks_json(beleg: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HOME", str(beleg.settings.home))
    result = CliRunner().invoke(app, ["forget", "--ref", MARKS["ref"], "--json"], catch_exceptions=False)
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["rows"]["runs_started"], answer["left"]) == (0, 2, [])


DRIVER = """
import sys
from datetime import datetime
from pathlib import Path
from beleg.core.settings import Settings
from beleg.retention.forget import forget
from tests.dying import arm

home, step, when, nth, kind, value, as_of = sys.argv[1:]
arm(step, when, int(nth))
forget(Settings(Path(home), Path(home) / "spool"), kind, value, as_of=datetime.fromisoformat(as_of))
"""
PLACES = (
    pytest.param("beleg.lake.forgotten:Forgotten.bury", "after", 1, marks=pytest.mark.soak),
    pytest.param("beleg.lake.table:LakeTable.commit", "after", 1, marks=pytest.mark.soak),
    ("beleg.lake.table:LakeTable.commit", "before", 4),
    ("beleg.lake.publication:publish", "before", 1),
    pytest.param("beleg.lake.catalog:rebuild", "before", 1, marks=pytest.mark.soak),
    pytest.param("beleg.retention.traces:purge", "before", 1, marks=pytest.mark.soak),
    pytest.param("beleg.retention.traces:purge", "after", 1, marks=pytest.mark.soak),
)


@pytest.mark.parametrize(("step", "when", "nth"), PLACES)
def test_killed_anywhere_the_same_call_again_completes_it(beleg: Installation, step: str, when: str, nth: int) -> None:
    before = money(beleg)
    command = [sys.executable, "-c", DRIVER, str(beleg.settings.home), step, when, str(nth), "tenant", MARKS["tenant"]]
    done = subprocess.run([*command, AS_OF.isoformat()], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert money(beleg) == before
    do(beleg, "tenant")
    text = everything(beleg.settings.home)
    assert [mark for mark in (MARKS["tenant"], *OTHERS) if mark in text] == []
    assert money(beleg) == before


def test_an_ingest_at_the_same_time_takes_its_turn_and_brings_nothing_back(beleg: Installation) -> None:
    file = beleg.write(*history("meanwhile", NOON + DAY))
    code = "from beleg.cli.main import main; main()"
    env = os.environ | {"BELEG_HOME": str(beleg.settings.home)}
    both = [
        subprocess.Popen([sys.executable, "-c", code, *words], env=env, cwd=ROOT, stdout=subprocess.DEVNULL)
        for words in (["ingest", str(file), "--json"], ["forget", "--tenant", MARKS["tenant"], "--json"])
    ]
    assert [process.wait() for process in both] == [0, 0]
    do(beleg, "tenant")  # an ingest between its two turns may have left a replaced file
    assert MARKS["tenant"] not in everything(beleg.settings.home)
    assert beleg.ask("SELECT count(*) FROM runs WHERE run_id = 'meanwhile'") == [(1,)]


def test_a_refused_line_that_is_mended_later_does_not_bring_it_back(beleg: Installation) -> None:
    assert quarantine.load(beleg.settings)
    do(beleg, "tenant")
    start, *_ = history("mended", NOON)
    beleg.take(start)
    assert MARKS["tenant"] not in everything(beleg.settings.home)
