"""Whatever arrives in whatever order, bindings and findings are what a computation from scratch gives."""

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
HASHES, PEOPLE = ["a" * 64, "b" * 64, "c" * 64], ["d" * 64, "e" * 64, None]
RUNS, WORDS = 5, 5


def text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Runs that share fingerprints over some days, people who speak of them and think again; some of it revised."""
    hashes, moments = st.sampled_from(HASHES), st.integers(0, 8).map(lambda n: START + timedelta(hours=17 * n))
    tenants, keys = st.sampled_from([None, "s", "t"]), st.sampled_from([None, "k"])
    events: list[dict[str, Any]] = []
    for n in range(RUNS):
        more: dict[str, Any] = {
            "input_hash": draw(hashes),
            "tenant": draw(tenants),
            "hash_key_id": draw(keys),
            "prompt_version": "v1",
        }
        start, step, finish = run_events(f"r{n}", draw(moments), **more)
        events += [start, step, finish | {"output_hash": draw(hashes)}]
    for n in range(WORDS):
        of = draw(
            st.one_of(
                st.integers(0, RUNS).map(lambda r: {"run_id": f"r{r}"}),
                st.fixed_dictionaries({"input_hash": hashes, "output_hash": hashes}),
                st.fixed_dictionaries(
                    {"output_hash": hashes}, optional={"workflow": st.just("ocr"), "tenant": tenants}
                ),
                st.fixed_dictionaries({"input_hash": hashes}),
            )
        )
        said = text(draw(moments) + timedelta(hours=3))
        by = {"author_hash": draw(st.sampled_from(PEOPLE)), **of}
        match draw(st.sampled_from(["feedback", "correction", "correction", "review"])):
            case "feedback":
                events.append(event("feedback", f"f{n}", said, rating=draw(st.sampled_from(["like", "dislike"])), **by))
            case "correction":
                before = draw(st.sampled_from([None, *(f"c{m}" for m in range(WORDS))]))
                events.append(event("correction", f"c{n}", said, supersedes=before, field=f"/{n % 2}/x", **by))
            case _:
                decision = draw(st.sampled_from(["accept", "reject"]))
                events.append(
                    event("review", f"v{n}", said, subject=f"c{draw(st.integers(0, WORDS))}", decision=decision)
                )
    changed = draw(st.sampled_from(events))
    return [*events, changed | {"event_time": text(draw(moments)), "revision": "2030-05-01T00:00:00Z"}]


@pytest.mark.deep
@hypothesis_settings(max_examples=examples(4, soak=40), deadline=None)
@given(histories(), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from(["UTC", "Asia/Tokyo"]))
def test_what_arrives_in_pieces_is_bound_as_what_arrives_at_once(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]], pieces: int, seed: int, zone: str
) -> None:
    beleg = Installation(tmp_path_factory.mktemp("flow"), timezone=zone)
    random.Random(seed).shuffle(events)
    for n in range(pieces):
        beleg.take(*events[n::pieces], as_of=AS_OF)
    found = "SELECT * FROM findings ORDER BY ALL"
    by_pieces = beleg.ask(found)
    assert beleg.marts() == beleg.rebuilt()
    assert by_pieces == beleg.ask(found)
