"""Rows: how well two lists of records agree, each row held against the one it fits best."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from beleg.evals.scorers.exact import without
from beleg.evals.scorers.lists import f1, items
from beleg.evals.scorers.model import CannotJudge, Score, Scorer, wrong
from beleg.trace.canon import canonical

MAX_ROWS = 500
"""Rows of one key on either side; matching takes the third power of it at worst."""

Row = dict[str, bytes]
"""A record with the canonical bytes of each member."""


@dataclass(frozen=True, kw_only=True)
class RowsF1(Scorer):
    """F1 of two lists of records, in any order: 2 · credit / (expected rows + found rows).

    Each row is matched with at most one of the other side so that the sum of credits is greatest; the credit of a
    pair is the share of members that are equal, of all that either has. With `key`, only rows with an equal key
    match, and the credit is over their other members (1 where there are none). Members of `ignore` do not count.
    """

    name: ClassVar[str] = "rows_f1"
    version: ClassVar[str] = "1.0.0"

    key: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def compare(self, expected: Any, actual: Any) -> Score:
        """Match the rows and sum the credits."""
        wanted, given = _records(expected), _records(actual)
        if wanted is None:
            raise CannotJudge("expected_is_no_list_of_records")
        if given is None:
            return wrong("wrong_type")
        left, right = self._by_key(wanted), self._by_key(given)
        credit = sum(_credit(left[key], right[key]) for key in left if key in right)
        value = min(1.0, f1(credit, len(wanted), len(given)))
        return Score(value, "scored", None if value == 1 else self._word(len(wanted), len(given), credit))

    def _word(self, wanted: int, given: int, credit: float) -> str:
        if wanted != given:
            return "rows_missing" if wanted > given else "rows_extra"
        return "rows_differ" if credit else "different"

    def _by_key(self, records: Sequence[Mapping[str, Any]]) -> dict[bytes, list[Row]]:
        """The rows by their key, without it."""
        groups: dict[bytes, list[Row]] = defaultdict(list)
        for record in records:
            key = canonical([record.get(name) for name in self.key]).data
            rest = without(record, {*self.key, *self.ignore})
            groups[key].append({name: canonical(value).data for name, value in rest.items()})
        return groups


def _records(value: Any) -> list[Mapping[str, Any]] | None:
    listed = items(value)
    return None if listed is None or not all(isinstance(each, Mapping) for each in listed) else listed


def _credit(left: list[Row], right: list[Row]) -> float:
    """The greatest sum of credits over matchings of two groups of rows."""
    if len(left) == len(right) == 1:
        return _alike(left[0], right[0])
    if max(len(left), len(right)) > MAX_ROWS:
        raise CannotJudge("too_many_rows")
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - half a second to import, seldom needed

    shares = [[_alike(one, other) for other in right] for one in left]
    return sum(
        (shares[row][column] for row, column in zip(*linear_sum_assignment(shares, maximize=True), strict=True)), 0.0
    )


def _alike(one: Row, other: Row) -> float:
    names = one.keys() | other.keys()
    return sum(name in one and one[name] == other.get(name) for name in names) / len(names) if names else 1.0
