"""From events to the table `findings` and what the command shows, through a real lake."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import typer

from beleg import flow
from beleg.ask.explain import explain
from beleg.checks.evidence import known
from beleg.cli import findings as command
from beleg.core.errors import CheckFailed, UsageError
from beleg.core.settings import Settings
from beleg.evals import findings
from beleg.lake.snapshot import Snapshot
from beleg.report.render import render
from tests.events import event
from tests.flow.support import AS_OF, Installation, run_events
from tests.invoke import run

START = datetime(2030, 1, 10, 12, tzinfo=UTC)
ANNA, BO = "d" * 64, "e" * 64


def text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


SAID = text(START + timedelta(days=9))


def story() -> list[dict[str, Any]]:
    """Forty runs of each of two versions. The second gets the tax of lines wrong; the rest is slips and taste."""
    events: list[dict[str, Any]] = []
    for n in range(80):
        version = "v1" if n < 40 else "v2"
        events += run_events(f"r{n}", START + timedelta(hours=n), input_hash=f"{n:064x}", prompt_version=version)
        if n >= 60:
            more: dict[str, Any] = {"field": f"/lines/{n % 4}/tax", "author_hash": (ANNA, BO)[n % 2], "run_id": f"r{n}"}
            events.append(event("correction", f"tax{n}", SAID, reason="extraction_error", **more))
        if n % 30 == 0:
            named = {"input_hash": f"{n:064x}", "field": f"/f{n}"}
            events.append(event("correction", f"slip{n}", SAID, reason="mapping_bug", **named))
        if n % 4 == 0:
            events.append(event("correction", f"t{n}", SAID, reason="user_preference", field="/name", run_id=f"r{n}"))
    events += run_events("eval", START, purpose="eval", prompt_version="v2", input_hash="f" * 64)
    events.append(event("correction", "of an eval", SAID, field="/lines/0/tax", run_id="eval"))
    return events


@pytest.fixture
def there(tmp_path: Path) -> Installation:
    return Installation.begun(tmp_path, *story())


@pytest.fixture
def app(there: Installation, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    monkeypatch.setenv("BELEG_HOME", str(there.settings.home))
    made = typer.Typer()
    command.register(made)
    return made


def the_finding(there: Installation) -> dict[str, Any]:
    (found,) = findings.findings(there.settings)
    return found


def test_errors_slips_and_taste_are_told_apart(there: Installation) -> None:
    rows = findings.findings(there.settings, everything=True)
    assert [(r["kind"], r["field"], r["prompt_version"], r["inputs"], r["people"]) for r in rows] == [
        ("finding", "/lines/*/tax", "v2", 20, 2),
        ("slip", "/f0", "v1", 1, 0),
        ("slip", "/f30", "v1", 1, 0),
        ("slip", "/f60", "v2", 1, 0),
        ("preference", "/name", "v1", 10, 0),
        ("preference", "/name", "v2", 10, 0),
    ]
    found = the_finding(there)
    assert (found["of_runs"], found["trend"], found["previous_version"], found["previous_inputs"]) == (
        40,
        "rising",
        "v1",
        0,
    )


def test_what_stands_behind_a_finding_is_shown(there: Installation) -> None:
    shown = findings.show(there.settings, the_finding(there)["finding_id"][:8])
    assert [(person["author_hash"], person["inputs"]) for person in shown.people] == [(ANNA, 10), (BO, 10)]
    assert {c["run_id"] for c in shown.corrections} == {f"r{n}" for n in range(60, 80)}
    assert findings.members(there.settings, shown.finding["finding_id"]) == sorted(f"tax{n}" for n in range(60, 80))
    assert findings.members(there.settings, "nobody") == []
    with pytest.raises(CheckFailed, match="beleg findings --all"):
        findings.show(there.settings, "nobody")


def test_a_persons_decision_is_its_status_and_a_later_one_another(there: Installation) -> None:
    subject = the_finding(there)["finding_id"]
    there.take(event("review", "v1", SAID, subject=subject, decision="accept"))
    assert the_finding(there)["status"] == "accepted"
    there.take(event("review", "v2", text(START + timedelta(days=10)), subject=subject, decision="reject"))
    assert findings.findings(there.settings) == []
    assert findings.findings(there.settings, everything=True)[0]["status"] == "rejected"


def test_corrections_that_a_person_rejects_take_the_finding_with_them(there: Installation) -> None:
    there.take(*(event("review", f"v{n}", SAID, subject=f"tax{n}", decision="reject") for n in range(60, 80)))
    assert findings.findings(there.settings) == []
    row = next(r for r in findings.findings(there.settings, everything=True) if r["field"] == "/lines/*/tax")
    assert (row["kind"], row["inputs"], row["corrections"], row["rejected_corrections"]) == ("slip", 0, 20, 20)


def test_one_document_corrected_often_is_one_input(tmp_path: Path) -> None:
    there = Installation(tmp_path)
    runs = [e for n in range(30) for e in run_events(f"r{n}", START + timedelta(hours=n), input_hash="a" * 64)]
    said = [event("correction", f"c{n}", SAID, run_id=f"r{n}", field="/x") for n in range(30)]
    there.take(*runs, *said, event("correction", "d", SAID, run_id="r1", field="/y"))
    (first, _) = findings.findings(there.settings, everything=True)
    assert (first["kind"], first["inputs"], first["runs"]) == ("slip", 1, 30)


def test_nothing_is_written_where_nobody_said_anything(tmp_path: Path) -> None:
    there = Installation(tmp_path)
    there.take(*run_events("r", START))
    assert not {"bindings", "findings"} & Snapshot.latest(there.settings).versions.keys()
    assert findings.findings(there.settings, everything=True) == []
    assert findings.spoken(there.settings) == []


def test_before_the_first_publication_the_way_to_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="beleg run"):
        findings.findings(Settings(tmp_path, tmp_path / "spool"))


def test_the_same_figures_are_not_written_twice(there: Installation) -> None:
    before = Snapshot.latest(there.settings).versions["findings"]
    there.take(event("feedback", "f", SAID, run_id="r1", rating="like"))
    assert Snapshot.latest(there.settings).versions["findings"] == before
    there.take(*run_events("more", START, prompt_version="v2"))
    assert Snapshot.latest(there.settings).versions["findings"] == before + 1


def test_rows_are_in_the_order_of_their_contract_and_were_checked(there: Installation) -> None:
    rows = there.ask("SELECT workflow, field, reason, version_place FROM findings")
    assert rows == sorted(rows)
    assert known(there.settings)["findings"][0].failed == ()


def test_a_late_run_takes_a_word_from_another_and_its_version(there: Installation) -> None:
    there.take(*run_events("late", START + timedelta(days=8), input_hash=f"{60:064x}", prompt_version="v3"))
    rows = findings.findings(there.settings, everything=True)
    assert [row["prompt_version"] for row in rows if row["field"] == "/f60"] == ["v3"]
    (slip,) = explain(there.settings, "late").corrections
    assert (slip["counts_for"], slip["candidates"]) == ("late", 2)
    shown = {c["correction_id"]: c["counts_for"] for c in explain(there.settings, "r60").corrections}
    assert shown["slip60"] == "late"


def test_words_bound_to_nothing_are_listed_and_counted(there: Installation) -> None:
    there.take(
        event("feedback", "f", SAID, run_id="nobody", rating="like"),
        event("correction", "c", SAID, input_hash="9" * 64, workflow="ocr"),
    )
    assert [(w.event_id, w.reason) for w in findings.unbound(there.settings)] == [
        ("c", "no_such_fingerprint"),
        ("f", "unknown_run"),
    ]
    assert [w.event_id for w in findings.unbound(there.settings, workflow="ocr")] == ["c"]
    counts = {count.kind: count for count in findings.spoken(there.settings)}
    assert (counts["correction"].words, counts["correction"].bound) == (45, 44)
    assert counts["correction"].unbound == {"no_such_fingerprint": 1}
    there.take(*run_events("nobody", START))
    assert [w.event_id for w in findings.unbound(there.settings)] == ["c"]


def test_the_command_lists_findings_for_people_and_machines(there: Installation, app: typer.Typer) -> None:
    assert "20/40 = 50.0 %" in run(app, "findings").stdout
    told = json.loads(run(app, "findings", "--all", "--json").stdout)
    assert (told["schema_version"], len(told["findings"])) == (1, 6)
    rows = list(csv.DictReader(io.StringIO(run(app, "findings", "--csv", "--workflow", "ocr").stdout)))
    assert [row["field"] for row in rows] == ["/lines/*/tax"]
    shown = json.loads(run(app, "findings", "show", rows[0]["finding_id"], "--json").stdout)
    assert (len(shown["corrections"]), len(shown["people"])) == (20, 2)
    assert "the other fields were corrected" in run(app, "findings", "show", rows[0]["finding_id"]).stdout
    assert json.loads(run(app, "findings", "unbound", "--json").stdout)["words"] == []


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_report_shows_findings_and_counts_the_rest(there: Installation, tmp_path: Path, language: str) -> None:
    html = render(there.settings, tmp_path / "r.html", lang=language).read_text(encoding="utf-8")
    assert "/lines/*/tax" in html
    assert "/f30" not in html
    assert (
        "3 single slips, 2 matters of taste" if language == "en" else "3 einzelne Ausrutscher, 2 Geschmacksfragen"
    ) in html


def test_a_field_that_looks_like_markup_stays_text(tmp_path: Path) -> None:
    there = Installation(tmp_path)
    for n in range(4):
        there.take(
            *run_events(f"r{n}", START, input_hash=f"{n:064x}"),
            event("correction", f"c{n}", SAID, run_id=f"r{n}", field="/<script>"),
        )
    html = render(there.settings, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "/&lt;script&gt;" in html
    assert "<script" not in html


def test_a_stage_of_its_own_makes_the_bindings(there: Installation) -> None:
    there_before = there.ask("SELECT count(*) FROM bindings")
    flow.ingest(there.settings, [there.write(event("correction", "new", SAID, run_id="r1", field="/f0"))])
    built = flow.build(there.settings, "bindings", as_of=AS_OF)
    assert (built.days, built.rows) == (("2030-01-19",), there_before[0][0] + 1)
    flow.publish(there.settings, as_of=AS_OF)
    assert there.ask("SELECT count(*) FROM bindings WHERE correction_id = 'new'") == [(1,)]
