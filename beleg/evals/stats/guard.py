"""What may enter: checks that refuse before a figure could mislead."""

import operator
from collections.abc import Hashable, Sequence
from math import isfinite, isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from beleg.core.errors import UsageError

Floats = npt.NDArray[np.float64]
Values = Sequence[float] | npt.NDArray[Any]
"""One-dimensional numbers: a list, tuple, array or series."""
Families = Sequence[Hashable] | npt.NDArray[Any]
"""Which family each case belongs to: any labels."""


class StatisticsError(UsageError):
    """Input from which no honest figure follows; it never becomes a pass."""


def whole(name: str, value: object, *, least: int = 0) -> int:
    """A whole number of at least `least`; raises StatisticsError."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or number < least:
        msg = f"{name} is {value!r}: a whole number of at least {least} is needed"
        raise StatisticsError(msg)
    return number


def counts(b: int, c: int, n: int) -> tuple[int, int, int]:
    """Regressions, improvements and cases that fit together; raises StatisticsError, also for no cases."""
    checked = whole("b (regressions)", b), whole("c (improvements)", c), whole("n (cases)", n, least=1)
    if checked[0] + checked[1] > checked[2]:
        msg = f"{b} regressions and {c} improvements are more than n = {n} cases: n counts the agreeing cases too"
        raise StatisticsError(msg)
    return checked


def share(name: str, value: float, *, above: float = 0.0, below: float = 1.0) -> float:
    """A number strictly between two; raises StatisticsError."""
    if not _is_number(value) or not above < value < below:
        msg = f"{name} is {value!r}: a number above {above:g} and below {below:g} is needed"
        raise StatisticsError(msg)
    return float(value)


def margin_of(value: float) -> float:
    """A margin, 0 <= margin < 1; zero asks for superiority. Raises StatisticsError."""
    return 0.0 if _is_number(value) and value == 0 else share("margin", value)


def alpha_of(value: float) -> float:
    """A one-sided level, 0 < alpha < 0.5; raises StatisticsError."""
    return share("alpha (one-sided)", value, below=0.5)


def probability(name: str, value: float) -> float:
    """A number from 0 to 1; raises StatisticsError."""
    if not _is_number(value) or not 0 <= value <= 1:
        msg = f"{name} is {value!r}: a probability from 0 to 1 is needed"
        raise StatisticsError(msg)
    return float(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and isfinite(value)


def numbers(name: str, values: Values) -> Floats:
    """Finite numbers in one dimension, at least one; raises StatisticsError.

    Texts, None, masked and nested values are refused rather than converted.
    """
    if np.ma.isMaskedArray(values):
        msg = f"{name} is masked: say what a missing value counts as (beleg.evals.stats.missing) before comparing"
        raise StatisticsError(msg)
    try:
        found = np.asarray(values)
    except ValueError:
        found = np.asarray(None)
    if found.ndim != 1 or found.dtype.kind not in "iufb" or found.size == 0:
        msg = f"{name} must be a plain list of at least one number, not {type(values).__name__} of {found.dtype.name}"
        raise StatisticsError(f"{msg}, shape {found.shape}")
    if not np.isfinite(found).all():
        where = int(np.flatnonzero(~np.isfinite(found))[0])
        msg = f"{name}[{where}] is {found[where]}: only finite numbers compare; a missing result counts as a failure"
        raise StatisticsError(msg)
    return found.astype(np.float64)


def within(name: str, values: Values, low: float, high: float) -> Floats:
    """Finite numbers, every one from `low` to `high`; raises StatisticsError."""
    found = numbers(name, values)
    outside = np.flatnonzero((found < low) | (found > high))
    if outside.size:
        msg = f"{name}[{outside[0]}] is {found[outside[0]]:g}: allowed is {low:g} to {high:g}"
        raise StatisticsError(msg)
    return found


def same_length(**lists: Sequence[object] | npt.NDArray[Any]) -> None:
    """Raises StatisticsError where paired lists differ in length."""
    lengths = {name: len(each) for name, each in lists.items()}
    if len(set(lengths.values())) > 1:
        msg = f"paired lists differ in length: {lengths}"
        raise StatisticsError(msg)


def distinct(values: Floats, decimals: int = 9) -> tuple[Floats, Floats]:
    """Distinct values, ascending, and how often each occurs; grouped to nine places."""
    # Adding zero makes a negative zero the positive one.
    found, times = np.unique(np.round(values, decimals) + 0.0, return_counts=True)
    return found, times.astype(np.float64)


def labels(families: Families, cases: int) -> npt.NDArray[np.intp]:
    """Families as numbers from 0, one for each case; raises StatisticsError for a missing label or another length."""
    try:
        given, different = list(families), set(families)
    except TypeError:
        msg = "families are a list of texts, numbers or tuples, one for each case"
        raise StatisticsError(msg) from None
    if len(given) != cases:
        msg = f"{len(given)} families for {cases} cases: each case belongs to exactly one"
        raise StatisticsError(msg)
    if any(each is None or (isinstance(each, float) and isnan(each)) for each in given):
        msg = "a case has no family (None or NaN): give it one of its own if it is independent"
        raise StatisticsError(msg)
    number = {label: i for i, label in enumerate(sorted(different, key=repr))}
    return np.array([number[each] for each in given], dtype=np.intp)
