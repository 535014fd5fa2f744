"""What people type and the sheets they hand in become events, or are named with what is wrong."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer

import beleg
from beleg import flow
from beleg.cli import correct
from beleg.core.errors import UsageError
from beleg.evals.findings.saying import value_of
from beleg.trace.keys import key_ring
from tests.flow.support import AS_OF, Installation, run_events
from tests.invoke import run

START = datetime(2025, 1, 10, 12, tzinfo=UTC)
"""Before anybody speaks: what is typed is of now."""
IN, OTHER = "a" * 64, "b" * 64
KEYS = '{"active": "k2", "keys": {"k1": "' + "11" * 32 + '", "k2": "' + "22" * 32 + '"}}'
HEAD = "run_id,field,reason,expected,author\n"


@pytest.fixture
def there(tmp_path: Path) -> Installation:
    return Installation.begun(
        tmp_path,
        *run_events("r1", START, workflow="ocr", tenant="acme", input_ref="scan/1", input_hash=IN),
        *run_events("r2", START, workflow="ocr", tenant="acme", input_ref="scan/2", input_hash=OTHER, hash_key_id="k1"),
        *run_events("r3", START, workflow="ocr", tenant="acme", input_ref="scan/2", input_hash=IN),
        *run_events("r4", START, workflow="ocr", input_ref="scan/1", input_hash=IN, tenant="acme"),
    )


@pytest.fixture
def app(there: Installation, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    monkeypatch.setenv("BELEG_HOME", str(there.settings.home))
    made = typer.Typer()
    correct.register(made)
    return made


def written(there: Installation) -> list[dict[str, Any]]:
    files = sorted(there.settings.spool.glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_correction_is_written_with_what_is_known_of_the_run(there: Installation, app: typer.Typer) -> None:
    given = ["--field", "/gross", "--reason", "extraction_error", "--expected", "119.00", "--by", "anna"]
    told = json.loads(run(app, "r1", *given, "--json").stdout)
    (event,) = written(there)
    assert told == {"schema_version": 1, "id": event["correction_id"], "run_is_published": True}
    told_of_run = {name: event[name] for name in ("run_id", "workflow", "tenant", "input_ref", "field", "reason")}
    assert told_of_run == {
        "run_id": "r1",
        "workflow": "ocr",
        "tenant": "acme",
        "input_ref": "scan/1",
        "field": "/gross",
        "reason": "extraction_error",
    }
    assert (event["expected_hash"], event["author_hash"]) == (beleg.fingerprint(119.0), beleg.fingerprint("anna"))
    flow.run(there.settings, as_of=AS_OF)
    assert there.ask("SELECT how, run_id, holds FROM bindings") == [("run_id", "r1", True)]


def test_the_right_value_is_hashed_with_the_key_of_the_run(
    there: Installation, app: typer.Typer, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ["--field", "", "--reason", "mapping_bug", "--expected", '{"a": 1}']
    with pytest.raises(UsageError, match="key of the run's fingerprints is not in BELEG_HASH_KEYS"):
        run(app, "r2", *said)
    monkeypatch.setenv("BELEG_HASH_KEYS", KEYS)
    run(app, "r2", *said)
    run(app, "r1", *said)
    keyed = beleg.fingerprint({"a": 1}, key=key_ring().key("k1"))
    assert [event["expected_hash"] for event in written(there)] == [keyed, beleg.fingerprint({"a": 1})]


def test_a_workflow_that_stores_values_keeps_the_value(
    there: Installation, app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policies = tmp_path / "project" / "contracts" / "policies"
    policies.mkdir(parents=True)
    entry = "workflows: {ocr: {unit: document, result: {run_unit: documents}, values: stored}}"
    (policies / "workflows.yaml").write_text(entry, encoding="utf-8")
    monkeypatch.setenv("BELEG_PROJECT", str(tmp_path / "project"))
    run(app, "r1", "--field", "/a", "--reason", "mapping_bug", "--expected", "4400", "--text")
    run(app, "r1", "--field", "/b", "--reason", "mapping_bug", "--expected", "null")
    assert [event["expected"] for event in written(there)] == ["4400", None]
    with pytest.raises(UsageError, match="16384"):
        run(app, "r1", "--field", "/a", "--reason", "mapping_bug", "--expected", "x" * 20_000)


def test_likes_and_dislikes_are_feedback(there: Installation, app: typer.Typer) -> None:
    run(app, "r1", "--rating", "dislike", "--by", "anna")
    run(app, "--input-hash", IN, "--rating", "like")
    assert [(e["event"], e["rating"], e.get("run_id")) for e in written(there)] == [
        ("feedback", "dislike", "r1"),
        ("feedback", "like", None),
    ]
    flow.run(there.settings, as_of=AS_OF)
    assert there.ask("SELECT count(*) FROM bindings WHERE is_counted") == [(2,)]


def test_a_reference_stands_for_the_input_of_its_runs(there: Installation, app: typer.Typer) -> None:
    run(app, "--ref", "scan/1", "--field", "", "--reason", "mapping_bug")
    (event,) = written(there)
    assert (event["input_hash"], event["workflow"], event["tenant"]) == (IN, "ocr", "acme")
    with pytest.raises(UsageError, match="2 different inputs have that input_ref"):
        run(app, "--ref", "scan/2", "--field", "", "--reason", "mapping_bug")
    with pytest.raises(UsageError, match="no published run has that input_ref"):
        run(app, "--ref", "scan/9", "--field", "", "--reason", "mapping_bug")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "which run"),
        (["r1"], "JSON pointer"),
        (["r1", "--field", "gross", "--reason", "mapping_bug"], "JSON pointer"),
        (["r1", "--field", "/x", "--reason", "typo"], "extraction_error, mapping_bug"),
        (["r1", "--field", "/x"], "reason"),
        (["r 1", "--field", "/x", "--reason", "mapping_bug"], "run_id"),
        (["r1", "--rating", "liek"], "like, dislike"),
        (["r1", "--rating", "like", "--field", "/x"], "without field"),
        (["r1", "--field", "/x", "--reason", "mapping_bug", "--tenant", "umbrella"], "tenant is not that of the run"),
        (["--input-hash", "abc", "--field", "/x", "--reason", "mapping_bug"], "64 lower-case hex"),
        (["r1", "--sheet", "s.csv"], "leave the other options out"),
    ],
)
def test_what_cannot_be_said_is_refused_and_nothing_is_written(
    there: Installation, app: typer.Typer, arguments: list[str], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        run(app, *arguments)
    assert written(there) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("119.00", 119.0),
        ("007", "007"),
        ("true", True),
        ("null", None),
        ("NaN", "NaN"),
        ('"4400"', "4400"),
        ("a, b", "a, b"),
    ],
)
def test_a_value_is_json_where_it_is_json(text: str, value: Any) -> None:
    assert value_of(text) == value
    assert value_of(text, as_text=True) == text


def sheet(there: Installation, content: str | bytes) -> str:
    path = there.inbox / "review.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(path, (1_895_000_000, 1_895_000_000))
    return str(path)


def test_a_sheet_twice_gives_the_same_events(there: Installation, app: typer.Typer) -> None:
    path = sheet(there, HEAD + "r1,/a,mapping_bug,4400,bo\nr1,/b,mapping_bug,,bo\n")
    for _ in range(2):
        assert run(app, "--sheet", path).exit_code == 0
    assert len(written(there)) == 4
    flow.run(there.settings, as_of=AS_OF)
    assert there.ask("SELECT field, expected_hash IS NULL FROM corrections ORDER BY 1") == [("/a", False), ("/b", True)]


def test_the_order_of_rows_and_columns_changes_no_event(there: Installation, app: typer.Typer) -> None:
    rows = ["r1,/a,mapping_bug,1,bo", "r3,/b,user_preference,2,bo"]
    first = json.loads(run(app, "--sheet", sheet(there, HEAD + "\n".join(rows)), "--json").stdout)
    turned = "author;expected;reason;field;run_id\nbo;2;user_preference;/b;r3\n\n;;;;\nbo;1;mapping_bug;/a;r1\n"
    again = json.loads(run(app, "--sheet", sheet(there, "\ufeff" + turned), "--json").stdout)
    assert sorted(first["corrections"]) == sorted(again["corrections"])


def test_bad_rows_are_named_and_good_ones_taken(there: Installation, app: typer.Typer) -> None:
    rows = [
        "r1,/a,mapping_bug,4400,bo",
        "r1,bad pointer,mapping_bug,1,bo",
        ",/a,mapping_bug,1,bo",
        "later,/a,mapping_bug,=HYPERLINK(1),bo",
        "r1,/a,mapping_bug,4400,bo",
        "r1,/a,nonsense,1,bo",
        "r1,/a,mapping_bug,1,bo,extra",
        "r1,/a\x00b,mapping_bug,1,bo",
        '"r1",/a,mapping_bug,"two\nlines",bo',
        "r1,/a,mapping_bug," + "[" * 5_000 + ",bo",
        "r1,/a,mapping_bug," + "9" * 400 + ",bo",
        "r1,/a,mapping_bug," + "x" * 20_000 + ",bo",
        'r1,/a,mapping_bug,"never closed,bo',
    ]
    result = run(app, "--sheet", sheet(there, HEAD + "\n".join(rows)), "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [row["line"] for row in told["refused"]] == [3, 4, 7, 8, 9, 13, 14, 15]
    assert len(told["corrections"]) == len(written(there)) == 4
    assert told["runs_not_published"] == 1
    assert not any(word in result.stdout for word in ("HYPERLINK", "nonsense", "bad pointer"))


def test_a_row_has_the_time_it_names(there: Installation, app: typer.Typer) -> None:
    times = {"/a": "2030-01-11T01:00:00+02:00", "/b": "", "/c": "yesterday"}
    rows = [f"r1,{field},mapping_bug,{at}\n" for field, at in times.items()]
    content = "run_id,field,reason,at\n" + "".join(rows)
    assert run(app, "--sheet", sheet(there, content)).exit_code == 1
    assert [event["event_time"] for event in written(there)] == [
        "2030-01-10T23:00:00.000000Z",
        "2030-01-18T20:53:20.000000Z",
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("run_id,field,reason,expcted\n", "column 'expcted'"),
        ("run_id,field,field,reason\n", "column twice"),
        ("run_id,field\n", "no column 'reason'"),
        ("", "no column 'field'"),
        ("run_id,field,reason\nr1,/ä,mapping_bug".encode("latin-1"), "no UTF-8"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused(
    there: Installation, app: typer.Typer, content: str | bytes, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        run(app, "--sheet", sheet(there, content))
    assert written(there) == []
