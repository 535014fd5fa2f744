"""Every earlier version of an event is read for ever: judged by its own schema, stored as one of the newest."""

import copy
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg import flow
from beleg.core.settings import Settings
from beleg.ingest import judge, schemas, upcast
from beleg.ingest.limits import Limits
from beleg.ingest.schemas import Rule
from beleg.ingest.upcast import Upcasts
from tests.events import event, lines
from tests.flow.support import Installation


def test_every_version_but_the_newest_has_an_upcaster() -> None:
    Upcasts(schemas.event_rules(), upcast.UPCASTERS)


def _waiting(value: dict[str, Any]) -> dict[str, Any]:
    """Version 2 calls it waiting."""
    return value | {"status": value["status"].replace("needs_input", "waiting")}


@pytest.fixture
def three_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release in which `run_status` has a second version with another word and a third with one field more."""
    rules = schemas.event_rules()
    first = rules["run_status", 1].schema
    second = copy.deepcopy(first)
    second["properties"]["schema_version"] = {"const": 2}
    second["properties"]["status"] = second["properties"]["status"] | {"enum": ["running", "waiting"]}
    third = copy.deepcopy(second)
    third["properties"]["schema_version"] = {"const": 3}
    third["properties"]["because"] = {"type": "string", "maxLength": 100}
    rules |= {("run_status", 2): _rule(second), ("run_status", 3): _rule(third)}
    monkeypatch.setattr(judge, "event_rules", lambda: rules)
    ways = {("run_status", 1): _waiting, ("run_status", 2): upcast.additive}
    monkeypatch.setattr(judge, "UPCASTERS", ways)


def _rule(schema: dict[str, Any]) -> Rule:
    return schemas._rule(schema)


@pytest.mark.usefixtures("three_versions")
@pytest.mark.parametrize("spaced", [False, True], ids=["fast", "exact"])
@pytest.mark.parametrize("ended", [True, False], ids=["line", "tail"])
def test_lines_of_every_version_are_judged_by_their_own_and_stored_as_the_newest(
    settings: Settings, spaced: bool, ended: bool
) -> None:
    home = Installation(settings.home)
    events = [
        event("run_status", "a", status="needs_input"),
        event("run_status", "b", schema_version=2, status="waiting"),
        event("run_status", "c", schema_version=3, status="running", because="the customer is asked"),
        event("run_status", "no", schema_version=2, status="needs_input"),
        event("run_status", "nor", status="waiting"),
        event("run_status", "d", status="needs_input"),
    ]
    data = lines(*events).replace(b'":', b'" :' if spaced else b'":')
    path = home.inbox / "events.jsonl"
    path.write_bytes(data if ended else data[:-1])
    taken = flow.run(home.settings, [path]).ingest
    assert (taken.accepted, dict(taken.quarantined_by_reason)) == (4, {"schema": 2})
    stored = home.ask("SELECT event_id, status FROM run_statuses ORDER BY 1")
    assert stored == [("a", "waiting"), ("b", "waiting"), ("c", "running"), ("d", "waiting")]
    assert flow.run(home.settings, [path]).ingest.duplicates == 4


@pytest.mark.usefixtures("three_versions")
def test_a_newest_line_is_kept_byte_for_byte() -> None:
    ways = judge.Judge(Limits(), ()).upcasts
    (line,) = lines(event("run_status", "c", schema_version=3, status="running")).splitlines()
    assert ways.line("run_status", line) is line
    assert ways.line("step", b"{}") == b"{}"


@given(st.integers(1, 6), st.integers(1, 6))
def test_all_versions_between_are_passed_in_order(start: int, newest: int) -> None:
    def named(version: int) -> upcast.Upcaster:
        return lambda value: value | {"passed": [*value.get("passed", []), version]}

    versions = [("e", n) for n in range(1, max(start, newest) + 1)]
    ways = Upcasts(versions, {("e", n): named(n) for n in range(1, 7)})
    found = orjson.loads(ways.dumps({"event": "e", "schema_version": start}))
    assert found.get("passed", []) == list(range(start, max(start, newest)))
    assert found["schema_version"] == max(start, newest)


def test_a_version_without_a_way_to_the_next_is_a_fault_of_the_release() -> None:
    with pytest.raises(KeyError):
        Upcasts([("e", 1), ("e", 2)], {})
