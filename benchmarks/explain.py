"""`beleg explain` over a year of runs: one run with its steps, prices and earlier runs, the day told by its id."""

import statistics
from collections.abc import Callable
from pathlib import Path

from beleg.ask.desk import desk
from beleg.ask.explain import explain
from beleg.core.settings import Settings
from benchmarks.timing import seconds
from benchmarks.year import Shape, build, day_of

ROUNDS = 15


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about explaining a run."""
    shape = Shape(365, 2_740 if quick else 27_400)
    say(f"explain: one of {shape.days * shape.runs_per_day:,} runs")
    settings = build(work / f"year-{shape.runs_per_day}", shape, say)
    days = [day_of(number) for number in range(shape.days // 2, shape.days, shape.days // 2 // ROUNDS)][:ROUNDS]
    runs = [_run_of(settings, day) for day in days]
    _adds_up([explain(settings, run).adds_up for run in runs[:3]])
    # Another run each time, so that no file was read before.
    taken = sorted(seconds(lambda run=run: explain(settings, run)) for run in runs)  # type: ignore[misc]
    return [
        (
            f"explain one of {shape.days * shape.runs_per_day:,} runs",
            "the id tells the day",
            300,
            200,
            "ms",
            round(statistics.median(taken) * 1000),
            f"[{taken[0] * 1000:.0f}, {taken[-1] * 1000:.0f}] over {len(taken)} runs of as many days",
        )
    ]


def _run_of(settings: Settings, day: str) -> str:
    with desk(settings) as at:
        return str(at.con.execute(f"SELECT min(run_id) FROM {at.lake.relation('run_costs', {day})}").fetchall()[0][0])


def _adds_up(sums: list[bool]) -> None:
    if not all(sums):
        msg = "the arithmetic of a run does not add up to its cost, so its time says nothing"
        raise AssertionError(msg)
