"""Statistics of the release gate: error rates against their level, and what they cost."""

from collections.abc import Callable
from pathlib import Path

from benchmarks.stats import cost, levels


def measure(_work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about statistics."""
    return [*levels.measure(quick=quick, say=say), *cost.measure(quick=quick, say=say)]
