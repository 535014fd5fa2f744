"""Two loops in pure Python that frames are held against; both start from values that are Python's already."""

from collections.abc import Callable
from typing import Any

from beleg.evals.scorers.model import Score
from benchmarks.scoring.cases import EXACT, SCORERS, Cases

Said = tuple[float, str | None]


def by_row(made: Cases) -> dict[str, list[Score]]:
    """Every scorer on every pair of records."""
    scores: dict[str, list[Score]] = {name: [] for name in SCORERS}
    for expected, actual in zip(made.expected, made.actual, strict=True):
        for name, scorer in SCORERS.items():
            scores[name].append(scorer.score(expected[name], actual[name]))
    return scores


def by_hand(made: Cases) -> dict[str, list[Said]]:
    """The same values and notes, as one would write it for just these fields: no nulls, no exact decimals."""
    said: dict[str, list[Said]] = {name: [] for name in SCORERS}
    for expected, actual in zip(made.expected, made.actual, strict=True):
        for name, compare in _BY_HAND.items():
            said[name].append(compare(expected[name], actual[name]))
    return said


def _exact(expected: Any, actual: Any) -> Said:
    return (1.0, None) if expected == actual else (0.0, "different")


def _number(expected: float, actual: float) -> Said:
    if abs(expected - actual) <= 0.01:
        return 1.0, None
    for size in (100, 1000, 10**6):
        if round(expected * size, 2) == actual or round(actual * size, 2) == expected:
            return 0.0, f"unit_error_{size}"
    return 0.0, "different"


def _set(expected: list[str], actual: list[str]) -> Said:
    wanted, given = set(expected), set(actual)
    if wanted == given:
        return 1.0, None
    common = len(wanted & given)
    lost, extra = common < len(wanted), common < len(given)
    word = "items_missing_and_extra" if lost and extra else "items_missing" if lost else "items_extra"
    return 2 * common / (len(wanted) + len(given)), word


_BY_HAND: dict[str, Callable[[Any, Any], Said]] = {**dict.fromkeys(EXACT, _exact), "gross": _number, "tags": _set}
