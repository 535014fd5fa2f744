"""What can be said of two whole columns at once, as expressions over `e` (expected) and `a` (actual).

Both columns have the same type. Nulls are the caller's: nothing said about their rows counts.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np
import polars as pl

from beleg.evals.scorers.exact import ExactMatch
from beleg.evals.scorers.lists import SetF1
from beleg.evals.scorers.model import Scorer
from beleg.evals.scorers.number import EXACT, UNITS, Number

E: Final = pl.col("e")
A: Final = pl.col("a")
_YES: Final = pl.lit(value=True)
_NO_NOTE: Final = pl.lit(None, dtype=pl.String)
_DIFFERENT: Final = pl.lit("different")
_DIGITS: Final = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
"""Texts that mean the same number under every option of `number`."""
_DOUBT: Final = 1e-14
"""A difference of two floats is off by less than this share of their sizes: each is within 2⁻⁵³ of its decimal."""
_SMALLEST: Final = 1e-290
_SCALE: Final = 10**4
_MOST: Final = 10**15


@dataclass(frozen=True)
class Rule:
    """How a scorer's scores follow from two columns; rows where `sure` is not true are left to what comes after."""

    value: pl.Expr
    note: pl.Expr = _NO_NOTE
    sure: pl.Expr = _YES
    first: tuple[pl.Expr, ...] = ()
    """Columns that the others are made of."""


def rules(scorer: Scorer, pairs: pl.DataFrame) -> list[Rule]:
    """The rules of a scorer for two columns, each for the rows that those before leave open; empty where none holds."""
    kind = pairs["e"].dtype
    if scorer.field or pairs["a"].dtype != kind:
        return []
    if type(scorer) is ExactMatch and not scorer.ignore:
        return [_EXACT] if _is_plain(kind) else []
    if type(scorer) is Number and not set(scorer.strip) & set("-.0123456789"):
        return _number(scorer, kind)
    return [_set_f1()] if type(scorer) is SetF1 and _is_countable(pairs) else []


def _is_plain(kind: pl.DataType) -> bool:
    """Equal texts, integers and truths have equal canonical JSON; so have floats, where 0.0 is -0.0 and NaN is NaN."""
    return kind.is_integer() or kind.is_(pl.String) or kind.is_(pl.Boolean) or kind.is_(pl.Float64)


_EXACT: Final = Rule((E == A).cast(pl.Float64), pl.when(E != A).then(_DIFFERENT).otherwise(_NO_NOTE))


def _number(scorer: Number, kind: pl.DataType) -> list[Rule]:
    """Most answers are the very number; of the others, whole ten-thousandths below 10¹¹ are compared exactly, and what
    is left where rounding decides nothing."""
    x, y = _float(E, kind, scorer.decimal), _float(A, kind, scorer.decimal)
    if x is None or y is None:
        return []
    same = Rule(pl.lit(1.0), sure=(E == A) & x.is_finite())
    near = _near(scorer, (x.alias("x"), y.alias("y"), _scaled(x).alias("m"), _scaled(y).alias("n")))
    return [same, near]


def _near(scorer: Number, first: tuple[pl.Expr, ...]) -> Rule:
    x, y, m, n = (pl.col(name) for name in "xymn")
    gap, allowed = (x - y).abs(), pl.max_horizontal(pl.lit(float(scorer.abs)), x.abs() * float(scorer.rel))
    doubt = (x.abs() + y.abs() + allowed) * _DOUBT
    within, beyond = gap < allowed - doubt, gap > allowed + doubt
    whole = m.is_not_null() & n.is_not_null()
    if scorer.rel:
        near, known = (whole & (m == n)) | within, whole & ((m == n) | beyond)
    else:
        near, known = pl.when(whole).then((m - n).abs() <= _in_scale(scorer.abs)).otherwise(within), whole
    sure = _tellable(x) & _tellable(y) & doubt.is_finite() & (known | within | (beyond & ~_related(x, y)))
    return Rule(near.cast(pl.Float64), pl.when(~near).then(_miss(m, n)).otherwise(_NO_NOTE), sure, first)


def _tellable(number: pl.Expr) -> pl.Expr:
    """Whether the float is close to the decimal it means, which the smallest and the infinite are not."""
    return number.is_finite() & ((number == 0) | (number.abs() > _SMALLEST))


def _in_scale(allowed: Decimal) -> int:
    """The most ten-thousandths that two numbers may lie apart."""
    return int(EXACT.multiply(min(allowed, Decimal(_MOST)), Decimal(_SCALE)))


def _float(column: pl.Expr, kind: pl.DataType, decimal: str) -> pl.Expr | None:
    """The numbers of a column as floats, null where a text might not mean the float; None for other types."""
    if kind.is_(pl.String) and decimal == ".":
        plain = column.str.contains(_DIGITS) & (column.str.len_bytes() <= 16)
        return pl.when(plain).then(column.cast(pl.Float64, strict=False)).otherwise(None)
    return column.cast(pl.Float64) if kind.is_integer() or kind.is_(pl.Float64) else None


def _scaled(number: pl.Expr) -> pl.Expr:
    """The number in ten-thousandths, as a float that holds an integer exactly; null where it is none, or too large."""
    return number.map_batches(_ten_thousandths, return_dtype=pl.Float64)


def _ten_thousandths(numbers: pl.Series) -> pl.Series:
    """A float that equals the nearest one to n / 10 000 means exactly that decimal: both have at most 15 digits, and
    every decimal of 15 digits has a float of its own. NumPy divides; Polars would multiply by 0.0001, which rounds.
    """
    values = numbers.to_numpy()
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.rint(values * _SCALE)
        exact = (np.abs(scaled) < _MOST) & (scaled / _SCALE == values)
    return pl.Series(np.where(exact, scaled, np.nan)).fill_nan(None)


def _related(x: pl.Expr, y: pl.Expr) -> pl.Expr:
    """Whether one might be a power of ten away from the other, or its opposite: then the miss has another word."""
    power = (y / x).abs().log(10)
    return (power - power.round()).abs() < 1e-9


def _miss(m: pl.Expr, n: pl.Expr) -> pl.Expr:
    """The word for a miss, as `number.miss` has it. A product beyond 2⁵³ may be rounded, but equals no number here."""
    word = pl.when((m != 0) & (n == -m)).then(pl.lit("sign_error")).otherwise(_DIFFERENT)
    for power in UNITS:
        unit = (m != 0) & ((n * 10**power == m) | (m * 10**power == n))
        word = pl.when(unit).then(pl.lit(f"unit_error_{10**power}")).otherwise(word)
    return word


def _is_countable(pairs: pl.DataFrame) -> bool:
    """Whether both columns are lists of texts or integers, without a null among them."""
    kind = pairs["e"].dtype
    inner = kind.inner if isinstance(kind, pl.List) else None
    if not isinstance(inner, pl.DataType) or not (inner.is_integer() or inner.is_(pl.String)):
        return False
    return not any(column.explode(empty_as_null=False, keep_nulls=False).null_count() for column in pairs)


def _set_f1() -> Rule:
    sizes = {"w": E.list.n_unique(), "g": A.list.n_unique(), "c": E.list.set_intersection(A).list.len()}
    wanted, given, common = (pl.col(name) for name in sizes)
    value = pl.when(wanted + given == 0).then(1.0).otherwise(2 * common / (wanted + given))
    lost, extra = common < wanted, common < given
    note = pl.when(lost & extra).then(pl.lit("items_missing_and_extra")).when(lost).then(pl.lit("items_missing"))
    first = tuple(size.cast(pl.Int64).alias(name) for name, size in sizes.items())
    return Rule(value, note.when(extra).then(pl.lit("items_extra")).otherwise(_NO_NOTE), first=first)
