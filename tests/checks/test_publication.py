"""What fails its checks is not published, not now and not later, until it has changed."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beleg import flow
from beleg.cli.main import main
from beleg.core.errors import CheckFailed
from beleg.lake import publication
from beleg.lake.snapshot import Snapshot
from tests.checks.support import damage
from tests.events import event
from tests.flow.support import AS_OF, Installation, run_events

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)


@pytest.fixture
def beleg(tmp_path: Path) -> Installation:
    there = Installation(tmp_path)
    there.take(*run_events("a", NOON), *run_events("b", NOON))
    return there


def evidence_lines(beleg: Installation) -> int:
    return len((beleg.settings.ledger / "checks.jsonl").read_text().splitlines())


def test_a_required_value_that_is_null_stops_the_publication_with_a_message(beleg: Installation) -> None:
    before = beleg.marts()
    damage(beleg.settings, "steps", "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS status) FROM rows")
    with pytest.raises(CheckFailed, match=r"required_status of steps failed, 2 violations: .*event_id a-step") as told:
        flow.publish(beleg.settings, as_of=AS_OF)
    assert told.value.exit_code == 1
    assert beleg.marts() == before


def test_it_goes_on_stopping_without_being_asked_again_until_the_data_changes(beleg: Installation) -> None:
    damage(beleg.settings, "steps", "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS status) FROM rows")
    with pytest.raises(CheckFailed):
        flow.publish(beleg.settings, as_of=AS_OF)
    asked = evidence_lines(beleg)
    versions = Snapshot.latest(beleg.settings).versions
    for stage in (flow.publish, lambda s: flow.build(s, "run_costs"), lambda s: flow.run(s, as_of=AS_OF)):
        with pytest.raises(CheckFailed, match="required_status"):
            stage(beleg.settings)
    assert evidence_lines(beleg) == asked
    assert Snapshot.latest(beleg.settings).versions == versions
    damage(beleg.settings, "steps", "SELECT * REPLACE ('succeeded' AS status) FROM rows")
    assert flow.publish(beleg.settings, as_of=AS_OF).number == 2


@pytest.mark.parametrize(
    ("table", "query", "rule"),
    [
        ("unit_costs", "SELECT * REPLACE (cost_pico_usd + 1 AS cost_pico_usd) FROM rows", "cost_by_day"),
        ("unit_costs", "SELECT * REPLACE (runs + 1 AS runs) FROM rows", "runs_and_results_carry_no_model"),
        ("unit_costs", "FROM rows UNION ALL FROM rows", "unique_key"),
        ("run_costs", "SELECT * REPLACE (cost_pico_usd + 1 AS cost_pico_usd) FROM rows", "cost_of_runs"),
        ("run_costs", "SELECT * REPLACE ('lost' AS status) FROM rows", "known_status"),
        ("steps", "FROM rows UNION ALL FROM rows WHERE event_id = 'a-step'", "unique_key"),
    ],
)
def test_what_does_not_add_up_is_found(beleg: Installation, table: str, query: str, rule: str) -> None:
    flow.ingest(beleg.settings, [beleg.write(*run_events("c", NOON))])
    flow.build(beleg.settings, "unit_costs", as_of=AS_OF)
    damage(beleg.settings, table, query)
    assert rule in {failed for entry in flow.check(beleg.settings) for failed in entry.failed}


def test_rows_that_ingest_did_not_count_are_found(beleg: Installation) -> None:
    taken = flow.ingest(beleg.settings, [beleg.write(*run_events("c", NOON))])
    damage(beleg.settings, "steps", "FROM rows WHERE run_id <> 'a'", note=taken.ingest_id)
    (entry,) = flow.check(beleg.settings, ["rows_by_ingest"])
    assert entry.findings[0].detail == "the lake gained 2 rows, ingest counted 3"
    assert entry.failed == ("rows_by_ingest",)


def test_an_interrupted_ingest_has_no_count_to_hold_rows_against_and_stops_nothing(beleg: Installation) -> None:
    file = beleg.write(*run_events("c", NOON))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("beleg.ingest.run.append_fact", _killed)
        with pytest.raises(KeyboardInterrupt):
            flow.ingest(beleg.settings, [file])
    flow.ingest(beleg.settings, [file])
    (entry,) = flow.check(beleg.settings, ["rows_by_ingest"])
    assert entry.findings[0].violations is None
    assert entry.failed == ()
    flow.publish(beleg.settings, as_of=AS_OF)


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_warning_is_kept_and_stops_nothing(beleg: Installation) -> None:
    unknown = event("step", "u", "2030-01-10T12:00:01Z", run_id="a", model="nobody-knows", buckets={"output": 1})
    beleg.take(unknown)
    facts = publication.facts(beleg.settings.ledger / "checks.jsonl")
    (entry,) = (e for e in facts[-1]["evidence"] if e["subject"] == "step_costs")
    assert [(f["rule"], f["violations"]) for f in entry["findings"]] == [("every_step_is_priced", 1)]
    assert entry["failed"] == []


def test_only_partitions_that_changed_are_looked_at(beleg: Installation) -> None:
    beleg.take(*run_events("z", datetime(2030, 3, 1, 12, tzinfo=UTC)))
    entries = publication.facts(beleg.settings.ledger / "checks.jsonl")[-1]["evidence"]
    looked_at = {e["subject"]: (e["partitions"], e["rows"]) for e in entries}
    assert looked_at["steps"] == looked_at["step_costs"] == (1, 1)
    assert "feedback" not in looked_at


def test_no_evidence_holds_what_events_carry_beside_their_keys(beleg: Installation) -> None:
    damage(
        beleg.settings, "steps", "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS status, 'secret-model' AS model) FROM rows"
    )
    with pytest.raises(CheckFailed):
        flow.publish(beleg.settings, as_of=AS_OF)
    assert "secret-model" not in json.dumps(publication.facts(beleg.settings.ledger / "checks.jsonl"))


def test_the_command_ends_with_a_message_and_leaves_a_page(
    beleg: Installation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(beleg.settings, "steps", "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS status) FROM rows")
    monkeypatch.setenv("BELEG_HOME", str(beleg.settings.home))
    monkeypatch.setattr("sys.argv", ["beleg", "run"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "check required_status of steps failed" in capsys.readouterr().err
    page = (beleg.settings.home / "reports" / "checks.html").read_text()
    assert "<strong>Not published:</strong> steps (required_status)" in page
