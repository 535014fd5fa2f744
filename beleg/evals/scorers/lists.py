"""Lists and sets: how much of what was expected was found, and how much of what was found was expected.

Items are the same where their canonical JSON is.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from beleg.evals.scorers.exact import without
from beleg.evals.scorers.model import RIGHT, CannotJudge, Kind, Score, Scorer, wrong
from beleg.trace.canon import canonical


def f1(common: float, expected: int, actual: int) -> float:
    """2 · common / (expected + actual); 1 where both are empty."""
    return 2 * common / (expected + actual) if expected + actual else 1.0


def items(value: Any) -> list[Any] | None:
    """The items of a list or a set; None for anything else."""
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else None


@dataclass(frozen=True, kw_only=True)
class Lists(Scorer):
    """What scorers of lists share: in records, only the members of `key` count, or else all but those of `ignore`."""

    key: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def compare(self, expected: Any, actual: Any) -> Score:
        """Compare the items of two lists."""
        wanted, given = items(expected), items(actual)
        if wanted is None:
            raise CannotJudge("expected_is_no_list")
        return wrong("wrong_type") if given is None else self.found(self._names(wanted), self._names(given))

    def found(self, expected: list[bytes], actual: list[bytes]) -> Score:
        """The score of two lists of items, each by its canonical bytes."""
        raise NotImplementedError

    def _names(self, listed: list[Any]) -> list[bytes]:
        return [canonical(self._counted(item)).data for item in listed]

    def _counted(self, item: Any) -> Any:
        if self.key and isinstance(item, Mapping):
            return [item.get(name) for name in self.key]
        return without(item, self.ignore)


def _share(value: float, *, extra: bool, lost: bool) -> Score:
    """A score with a word for what is wrong with the list."""
    return Score(value, "scored", _WORDS[extra, lost])


_WORDS = {
    (False, False): None,
    (False, True): "items_missing",
    (True, False): "items_extra",
    (True, True): "items_missing_and_extra",
}


@dataclass(frozen=True, kw_only=True)
class SetF1(Lists):
    """F1 of two sets: order and repetition do not count."""

    name: ClassVar[str] = "set_f1"
    version: ClassVar[str] = "1.0.0"

    def found(self, expected: list[bytes], actual: list[bytes]) -> Score:
        """F1 over distinct items."""
        wanted, given = set(expected), set(actual)
        value = f1(len(wanted & given), len(wanted), len(given))
        return _share(value, extra=bool(given - wanted), lost=bool(wanted - given))


@dataclass(frozen=True, kw_only=True)
class ListF1(Lists):
    """F1 of two lists, repetition counted; with `ordered`, over their longest common subsequence."""

    name: ClassVar[str] = "list_f1"
    version: ClassVar[str] = "1.0.0"

    ordered: bool = False

    def found(self, expected: list[bytes], actual: list[bytes]) -> Score:
        """F1 over items as often as they occur."""
        wanted, given = Counter(expected), Counter(actual)
        common = common_in_order(expected, actual) if self.ordered else (wanted & given).total()
        value = f1(common, len(expected), len(actual))
        if wanted == given and value < 1:
            return Score(value, "scored", "wrong_order")
        return _share(value, extra=bool(given - wanted), lost=bool(wanted - given))


def common_in_order(first: list[bytes], second: list[bytes]) -> int:
    """Length of the longest common subsequence, by the bit-parallel recurrence of Hyyrö (2004).

    Each item of `first` is a bit of a row; zeros mark where the subsequence grows.
    """
    places: dict[bytes, int] = {}
    for index, item in enumerate(first):
        places[item] = places.get(item, 0) | 1 << index
    full = (1 << len(first)) - 1
    row = full
    for item in second:
        both = row & places.get(item, 0)
        row = ((row + both) | (row - both)) & full
    return len(first) - row.bit_count()


@dataclass(frozen=True, kw_only=True)
class Recall(Lists):
    """The share of the expected items that were found; 1 where nothing was expected."""

    name: ClassVar[str] = "recall"
    version: ClassVar[str] = "1.0.0"

    def found(self, expected: list[bytes], actual: list[bytes]) -> Score:
        """Recall over distinct items."""
        wanted = set(expected)
        lost = wanted - set(actual)
        return _share(len(wanted - lost) / len(wanted) if wanted else 1.0, extra=False, lost=bool(lost))


@dataclass(frozen=True, kw_only=True)
class Precision(Lists):
    """The share of the found items that were expected; 1 where nothing was found."""

    name: ClassVar[str] = "precision"
    version: ClassVar[str] = "1.0.0"

    def found(self, expected: list[bytes], actual: list[bytes]) -> Score:
        """Precision over distinct items."""
        given = set(actual)
        extra = given - set(expected)
        return _share(len(given - extra) / len(given) if given else 1.0, extra=bool(extra), lost=False)


@dataclass(frozen=True, kw_only=True)
class NoFalseMatch(Lists):
    """1 where every item found was expected: leaving one out is no false match, inventing one is.

    Looks at `matches`, without their `reason`, unless told otherwise.
    """

    name: ClassVar[str] = "no_false_match"
    version: ClassVar[str] = "1.0.0"
    kind: ClassVar[Kind] = "binary"

    field: str = "matches"
    ignore: tuple[str, ...] = ("reason",)

    def found(self, expected: list[bytes], actual: list[bytes]) -> Score:
        """Whether all items of `actual`, as often as they occur, stand in `expected`."""
        return RIGHT if Counter(actual) <= Counter(expected) else wrong("items_extra")
