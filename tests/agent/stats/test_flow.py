"""The marts of an agent's surroundings, computed by touched days alone: as if everything were computed anew."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from beleg import flow
from tests.deep import examples
from tests.events import event
from tests.flow.support import AS_OF, Installation

NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)
MIDNIGHT = datetime(2030, 1, 11, tzinfo=UTC)
CLAUDE = {"provider": "anthropic", "model": "claude-sonnet-4-5"}
T, U, L, M = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)


@pytest.fixture
def beleg(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def toolset(digest: str = T, at: datetime = NOON, tokens: int = 900) -> dict[str, Any]:
    tools = [{"name": name, "tokens": tokens, "binding": False} for name in ("search", "post")]
    fields = {"toolset_hash": digest, "cohort": "core", "tools": tools}
    return event("toolset", f"toolset-{digest}", text(at), **fields)


def layout(digest: str = L, at: datetime = NOON, tokens: int = 500) -> dict[str, Any]:
    segments = [{"name": "instructions", "scope": "static", "hash": digest, "tokens": tokens}]
    return event("layout", f"layout-{digest}", text(at), layout_hash=digest, segments=segments)


def start(run: str, at: datetime) -> dict[str, Any]:
    return event("run_started", f"{run}-start", text(at), run_id=run, workflow="chat", conversation_id=run)


def request(run: str, at: datetime, /, *, read: int = 0, write: int = 2000, **fields: Any) -> dict[str, Any]:
    buckets = {"input_uncached": 10, "cache_read": read, "cache_write_5m": write, "output": 1}
    given = {"toolset_hash": T, "layout_hash": L, "buckets": buckets, **CLAUDE, **fields}
    return event("step", f"{run}-{text(at)}", text(at), run_id=run, latency_ms=100, **given)


def call(run: str, at: datetime, name: str) -> dict[str, Any]:
    return event("step", f"{run}-{name}-{text(at)}", text(at), run_id=run, kind="tool", tool_name=name)


HELD = "SELECT business_day::VARCHAR, held_requests, held_tokens::INT FROM held_tokens ORDER BY ALL"


def test_a_definition_that_arrives_after_its_calls_is_looked_up_on_their_day(beleg: Installation) -> None:
    beleg.take(start("a", NOON), request("a", NOON), call("a", NOON, "post"))
    assert beleg.ask(HELD) == [("2030-01-10", 0, 0)]
    late = beleg.take(toolset(at=NOON + timedelta(days=20)), layout(at=NOON + timedelta(days=20)))
    assert late.touched_days == ("2030-01-10",)
    assert beleg.ask(HELD) == [("2030-01-10", 1, 2300)]
    assert beleg.ask("SELECT sum(calls), sum(offering_requests) FROM tool_usage") == [(1, 2)]
    assert beleg.ask("SELECT max_tools_offered FROM workflow_traffic") == [(2,)]
    assert beleg.marts() == beleg.rebuilt()


def test_a_definition_that_the_next_process_writes_again_touches_no_day(beleg: Installation) -> None:
    beleg.take(toolset(), layout(), start("a", NOON), request("a", NOON))
    again = beleg.take(toolset(at=NOON + timedelta(days=1)), layout(at=NOON + timedelta(days=1)))
    assert again.touched_days == ()
    assert beleg.ask(HELD) == [("2030-01-10", 1, 2300)]
    assert beleg.marts() == beleg.rebuilt()


def test_a_definition_with_other_content_changes_the_days_that_name_it(beleg: Installation) -> None:
    beleg.take(toolset(), layout(), start("a", NOON), request("a", NOON))
    counted = beleg.take(toolset(at=NOON + timedelta(days=1), tokens=1000))
    assert counted.touched_days == ("2030-01-10",)
    assert beleg.ask(HELD) == [("2030-01-10", 1, 2500)]


def test_a_conversation_over_midnight_is_one(beleg: Installation) -> None:
    """Its second request is not the first of its day: the layout changed."""
    before, after = MIDNIGHT - timedelta(minutes=1), MIDNIGHT + timedelta(minutes=1)
    beleg.take(start("a", before), request("a", after, layout_hash=M))
    causes = "SELECT business_day::VARCHAR, cause FROM cache_misses ORDER BY ALL"
    assert beleg.ask(causes) == [("2030-01-11", "first_use")]
    beleg.take(request("a", before))
    assert beleg.ask(causes) == [("2030-01-10", "first_use"), ("2030-01-11", "layout_changed")]
    assert beleg.marts() == beleg.rebuilt()


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    events = [toolset(), toolset(U, tokens=950), layout(), layout(M, tokens=600)]
    for run in "abc":
        first = NOON + timedelta(hours=draw(st.integers(0, 40)))
        events.append(start(run, first))
        for number in range(draw(st.integers(0, 4))):
            at = first + timedelta(minutes=draw(st.integers(0, 3_000)), seconds=number)
            fields: dict[str, Any] = {
                "toolset_hash": draw(st.sampled_from((None, T, U))),
                "layout_hash": draw(st.sampled_from((None, L, M))),
                "playbook": draw(st.sampled_from((None, "vat"))),
            }
            events.append(request(run, at, read=draw(st.sampled_from((0, 1500, 2000))), **fields))
            events.append(call(run, at + timedelta(milliseconds=1), draw(st.sampled_from(("search", "invented")))))
    return events


@hypothesis_settings(max_examples=examples(3, soak=25), deadline=None)
@given(histories(), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from(("UTC", "Europe/Berlin", "Asia/Tokyo")))
def test_any_order_and_split_of_the_events_gives_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]], pieces: int, seed: int, zone: str
) -> None:
    beleg = Installation(tmp_path_factory.mktemp("stats"), timezone=zone)
    random.Random(seed).shuffle(events)
    for n in range(pieces):
        beleg.take(*events[n::pieces], as_of=AS_OF)
    assert beleg.marts() == beleg.rebuilt()


def test_every_stage_by_itself_gives_the_rows_of_one_run(beleg: Installation, tmp_path: Path) -> None:
    given = [toolset(), layout(), start("a", NOON), request("a", NOON), call("a", NOON, "post")]
    flow.ingest(beleg.settings, [beleg.write(*given)])
    for mart in ("cache_misses", "tool_usage", "held_tokens", "playbook_hits", "workflow_traffic"):
        flow.build(beleg.settings, mart, as_of=AS_OF)
    flow.publish(beleg.settings, as_of=AS_OF)
    whole = Installation(tmp_path / "whole")
    whole.take(*given)
    assert beleg.marts() == whole.marts()
