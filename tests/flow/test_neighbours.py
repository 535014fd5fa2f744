"""Marts that look beyond a day: whatever arrives in whatever order, they are what a computation from scratch gives."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.deep import examples
from tests.events import event
from tests.flow.support import AS_OF, Installation, run_events

START = datetime(2030, 1, 28, 22, tzinfo=UTC)
HASHES = ["a" * 64, "b" * 64]


def text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def keyed_run(run: str, start: datetime, **fields: Any) -> list[dict[str, Any]]:
    """A run with an input and an output."""
    output = fields.pop("output_hash", HASHES[0])
    given = {"input_key": "invoice-7", "input_hash": HASHES[0], "prompt_version": "v1", **fields}
    start_event, step, finish = run_events(run, start, **given)
    return [start_event, step, finish | {"output_hash": output}]


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Runs that share keys, inputs and outputs over some days, and what people said of them; some of it revised."""
    hashes, moments = st.sampled_from(HASHES), st.integers(0, 6).map(lambda n: START + timedelta(hours=13 * n))
    events: list[dict[str, Any]] = []
    for n in range(draw(st.integers(2, 5))):
        more = {"input_hash": draw(hashes), "output_hash": draw(hashes), "tenant": draw(st.sampled_from([None, "t"]))}
        events += keyed_run(f"r{n}", draw(moments), **more)
    for n in range(draw(st.integers(0, 4))):
        by_hash = {"workflow": "ocr", "output_hash": draw(hashes)}
        of = draw(st.sampled_from([{"run_id": "r0"}, {"run_id": "r1"}, by_hash, {"input_hash": draw(hashes)}]))
        moment = text(draw(moments) + timedelta(hours=3))
        if draw(st.booleans()):
            events.append(event("feedback", f"f{n}", moment, rating=draw(st.sampled_from(["like", "dislike"])), **of))
        elif draw(st.booleans()):
            decision = draw(st.sampled_from(["accept", "reject", "retire"]))
            events.append(event("review", f"v{n}", moment, subject=f"c{draw(st.integers(0, 3))}", decision=decision))
        else:
            replaced = draw(st.sampled_from([None, f"c{n - 1}"]))
            events.append(event("correction", f"c{n}", moment, supersedes=replaced, **of))
    changed = draw(st.sampled_from(events))
    return [*events, changed | {"event_time": text(draw(moments)), "revision": "2030-05-01T00:00:00Z"}]


@pytest.mark.deep
@hypothesis_settings(max_examples=examples(3, soak=10), deadline=None)
@given(histories(), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from(["UTC", "Asia/Tokyo"]))
def test_computing_only_touched_days_gives_what_computing_all_gives(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]], pieces: int, seed: int, zone: str
) -> None:
    beleg = Installation(tmp_path_factory.mktemp("flow"), timezone=zone)
    random.Random(seed).shuffle(events)
    for n in range(pieces):
        beleg.take(*events[n::pieces], as_of=AS_OF)
    assert beleg.marts() == beleg.rebuilt()
