"""The HTML report over a year of runs, all days of it, from the marts alone."""

import statistics
from collections.abc import Callable
from pathlib import Path

from beleg.report import render
from benchmarks.timing import seconds
from benchmarks.year import Shape, build

ROUNDS = 5


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about the report."""
    shape = Shape(365, 2_740 if quick else 27_400)
    runs = f"{shape.days * shape.runs_per_day:,} runs"
    say(f"report: a year of {runs}")
    settings = build(work / f"year-{shape.runs_per_day}", shape, say)
    out = work / "report.html"
    # The first round reads the marts from disk; it counts like the others.
    taken = [seconds(lambda: render(settings, out)) for _ in range(ROUNDS)]
    spread = f"[{min(taken):.2f}, {max(taken):.2f}] over {ROUNDS} rounds"
    megabytes = out.stat().st_size / 1e6
    return [
        (f"report over {runs}", "time", 5, 2, "s", round(statistics.median(taken), 2), spread),
        (f"report over {runs}", "size", 2, 0.5, "MB", round(megabytes, 3), "one file, nothing beside it"),
    ]
