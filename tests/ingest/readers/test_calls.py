"""Rows in any wrapping, also of documents too large to be read whole; runs that only their calls tell of."""

import json
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.ingest.readers import files
from beleg.ingest.readers.calls import run_of_calls
from beleg.ingest.readers.events import Maker, instant
from beleg.ingest.readers.naming import Named
from tests.ingest.readers.samples import helicone, inspect, litellm, opik, tau_bench
from tests.ingest.readers.support import assert_adds_up, events, refusals, stage, write

FIRST, LAST = 946_684_800, 4_102_444_799
"""Seconds since 1970 of the first and last moment that events may have: 2000 to 2099."""
TIMES = st.integers(FIRST, LAST).map(lambda seconds: instant(seconds, "s"))


@given(st.lists(TIMES, min_size=2, max_size=6))
def test_of_many_calls_the_first_start_and_the_last_end_win(times: list[str]) -> None:
    made = [list(run_of_calls(Maker("t"), Named("w"), "r", start=at, end=at, status="succeeded")) for at in times]
    starts, ends = zip(*made, strict=True)
    assert max(starts, key=itemgetter("revision"))["event_time"] == min(times)
    assert max(ends, key=itemgetter("revision"))["event_time"] == max(times)
    assert all("2000-01-01" <= event["revision"] < "2001" for event in (*starts, *ends))
    assert all("duration_ms" not in event for event in ends)


@pytest.mark.parametrize(
    ("content", "steps"),
    [
        ([litellm.row(), litellm.row(request_id="chatcmpl-0f1e2d3c4b5a69788796")], 2),
        ({"data": [helicone.row(), helicone.row(request_id="another-request")], "error": None}, 2),
        ({"data": [opik.trace(), opik.span()]}, 1),
        (inspect.log(), 3),
        ([tau_bench.trial(), tau_bench.trial(trial=1)], 8),
    ],
)
def test_a_document_too_large_to_be_read_whole_tells_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: object, steps: int
) -> None:
    path = write(tmp_path, "file.json", json.dumps(content, indent=1))
    whole = events(stage(tmp_path / "whole", path))
    monkeypatch.setattr(files, "WHOLE_BYTES", 100)
    staged = stage(tmp_path / "large", path)
    assert_adds_up(staged)
    assert (refusals(staged), events(staged)) == ([], whole)
    assert staged.accepted_by_event["step"] == steps
