"""What the exact test and the bootstrap cost."""

import statistics
import time
from collections.abc import Callable
from itertools import product

import numpy as np

from beleg.evals import stats
from benchmarks.timing import in_turn

CASES, DRAWS, GATHERED = 100_000, 10_000, 100


def measure(*, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows about time."""
    say("stats: time")
    rounds = 2 if quick else 5
    return [_exact(), *(_bootstrap(name, grid, rounds) for name, grid in (("binary", 1), ("eighths", 8)))]


def _exact() -> tuple[object, ...]:
    tables = [(b, c, 500, m) for b, c, m in product((0, 5, 20, 45), (1, 8, 25, 50), (0.021, 0.051))]
    taken = sorted(1000 * _processor_s(table) for table in tables)
    note = f"[{taken[0]:.1f}, {taken[-1]:.1f}] over {len(taken)} tables, none seen before"
    return ("exact test of 500 cases", "time of the processor", 20, 15, "ms", round(statistics.median(taken), 1), note)


def _processor_s(table: tuple[int, int, int, float]) -> float:
    begun = time.process_time()
    stats.exact_ni(*table)
    return time.process_time() - begun


def _bootstrap(name: str, grid: int, rounds: int) -> tuple[object, ...]:
    rng = np.random.default_rng(1)
    weights = np.where(np.arange(-grid, grid + 1) == 0, 20.0, 1.0)
    d = rng.choice(np.arange(-grid, grid + 1) / grid, CASES, p=weights / weights.sum())

    def gather() -> None:
        for _ in range(GATHERED):
            d[rng.integers(0, CASES, CASES)].mean()

    found = in_turn(lambda: stats.paired_bootstrap(d, seed=1, draws=DRAWS), gather, rounds)
    scale = GATHERED / DRAWS
    low, middle, high = (round(each * scale, 5) for each in (found.low, found.median, found.high))
    times = f"{1000 * found.subject_s:.0f} ms against {found.limit_s / scale:.1f} s, from {GATHERED} draws"
    note = f"[{low:g}, {high:g}] {times}"
    return (
        f"paired bootstrap of {CASES:,} differences ({name}), {DRAWS:,} draws",
        "a loop that gathers",
        0.01,
        0.005,
        "×",
        middle,
        note,
    )
