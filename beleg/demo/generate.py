"""Makes the files of a demo: deterministic by seed, in memory for what arrives later, no more."""

import contextvars
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random

import orjson

from beleg.core.paths import shipped
from beleg.core.progress import OnProgress, silent
from beleg.demo.broken import bad_lines
from beleg.demo.company import DAY_US, FIRST_DAY, HOUR_US, START_US, VAT_RETURN, WORKFLOWS, Workflow
from beleg.demo.events import envelope
from beleg.demo.people import react, score
from beleg.demo.recorder import Recorder
from beleg.demo.run import Run
from beleg.demo.spool import Spool
from beleg.demo.stories import STORIES
from beleg.demo.tally import DemoSummary, Tally
from beleg.trace.shapes import register_shape

_WEEKDAY_LOAD = (100, 104, 98, 102, 90, 24, 14)
_DAILY_GROWTH = 1
"""Points of load per day: the company wins customers."""
_GOOD_PER_BAD = 100
"""A small demo plants fewer bad lines: past a share, ingest rightly calls the input broken."""
_OPENING = (7 * HOUR_US, 19 * HOUR_US)


def as_of(weeks: int) -> datetime:
    """The instant at which the demo ends, and at which its marts are computed."""
    return datetime(FIRST_DAY.year, FIRST_DAY.month, FIRST_DAY.day, tzinfo=UTC) + timedelta(weeks=weeks)


def write_demo(
    folder: Path, *, runs: int, seed: int = 1, weeks: int = 5, on_progress: OnProgress = silent
) -> DemoSummary:
    """Write the spool files of `runs` runs over some weeks and return what a pipeline must find in them.

    Raises ValueError for less than one run or week.
    """
    if runs < 1 or weeks < 1:
        raise ValueError(f"runs={runs} and weeks={weeks} must both be at least 1")
    rng = Random(seed)  # noqa: S311 - reproducible on purpose
    days, tally = weeks * 7, Tally()
    spool = Spool(folder, days)
    recorder = Recorder(rng, spool, tally, runs=runs, end_us=START_US + days * DAY_US)
    _register_shapes()
    with recorder.traced():
        for day, quota in enumerate(_quotas(runs, days)):
            with spool.day(day):
                _play_day(recorder, day, quota)
            on_progress("making runs", tally.runs, runs)
    _break_something(spool, tally, days)
    return tally.summary(seed, weeks)


def _quotas(runs: int, days: int) -> list[int]:
    """Runs started up to the end of each day."""
    loads = [_WEEKDAY_LOAD[day % 7] * (100 + day * _DAILY_GROWTH) for day in range(days)]
    return [runs * load // sum(loads) for load in accumulate(loads)]


def _play_day(recorder: Recorder, day: int, quota: int) -> None:
    left = quota - recorder.tally.runs
    times = sorted(_time_of_day(recorder) for _ in range(left))
    for time in times:
        if recorder.tally.runs >= quota:  # runs that others started took the rest of the day
            break
        recorder.now_us = START_US + day * DAY_US + time
        # As if in a process of its own: what a run that is never finished leaves behind ends with it.
        contextvars.Context().run(_play_run, recorder, _workflow(recorder, day))


def _time_of_day(recorder: Recorder) -> int:
    if recorder.chance(0.1):
        return recorder.between(0, DAY_US - 1)
    return _OPENING[0] + (recorder.between(0, _OPENING[1] - _OPENING[0]) + recorder.between(0, HOUR_US)) % (
        12 * HOUR_US
    )


def _workflow(recorder: Recorder, day: int) -> Workflow:
    """Mostly as usual; before the tenth of a month, VAT returns are due."""
    due = 7 <= (FIRST_DAY + timedelta(days=day)).day <= 10
    if due and recorder.chance(0.04):
        return VAT_RETURN
    drawn = recorder.between(1, 100)
    for workflow, upto in zip(WORKFLOWS, accumulate(w.share for w in WORKFLOWS), strict=True):
        if drawn <= upto:
            return workflow
    raise AssertionError("the workflows' shares must add up to 100")


def _play_run(recorder: Recorder, workflow: Workflow) -> None:
    subject = recorder.tally.workflows[workflow.name] + 1
    again = recorder.chance(0.03)  # the same thing is looked at once more, its content changed or not
    run = Run(
        recorder,
        workflow,
        subject=max(1, subject - recorder.between(1, 20)) if again else subject,
        revision=int(again and recorder.chance(0.2)),
        purpose=_purpose(recorder),
    )
    if recorder.chance(0.004):  # its process died: nothing more is heard of it
        return
    STORIES[workflow.name](run)
    if run.purpose == "eval":
        score(run)
    elif run.purpose == "production":
        react(run)


def _purpose(recorder: Recorder) -> str:
    drawn = recorder.rng.random()
    for purpose, below in (("eval", 0.025), ("test", 0.032), ("demo", 0.034)):
        if drawn < below:
            return purpose
    return "production"


def _register_shapes() -> None:
    for path in sorted(shipped("contracts", "events", "artifact", "shapes").glob("*.schema.json")):
        register_shape(path.name.removesuffix(".schema.json"), orjson.loads(path.read_bytes()))


def _break_something(spool: Spool, tally: Tally, days: int) -> None:
    """A file of bad lines, a file that ends in the middle of a line, and one whose writer is at it right now."""
    broken = list(bad_lines())[: 1 + tally.events.total() // _GOOD_PER_BAD]
    spool.path(min(11, days - 1), "broken.jsonl").write_bytes(b"".join(bad.line + b"\n" for bad in broken))
    tally.quarantined.update(bad.reason for bad in broken)
    half = orjson.dumps(envelope("run_status", "demo-torn", START_US))[:-40]
    spool.path(min(16, days - 1), "torn.jsonl").write_bytes(half)
    tally.quarantined["torn_line"] += 1
    with spool.path(days - 1, "worker-2.open.jsonl").open("ab") as growing:
        growing.write(half)
    tally.pending += 1
