"""Easy values: those that every serialiser writes like RFC 8785, or all but the zeros of whole floats.

Nearly every payload is easy; to see that costs less than the walk in `canon` that changes what is not.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

_MAX_INT = (1 << 53) - 1
_WIDE = 32
"""Items from which on a container's members are looked at level by level: that costs no call for each of them."""
_ZERO = re.compile(rb"\.0(?=[,}\]])")
_TEXT = {str}
_CONSTANTS = {bool, type(None)}
_flat = chain.from_iterable


def easy_units(items: Any, units: int, levels: int, whole: list[float]) -> int:  # noqa: C901 - the hot loop of the tracer
    """Units left of those allowed where a dict or list is easy; negative where it is not, or cannot be told.

    `levels` is how much deeper it may be nested. Whole floats, which RFC 8785 writes without `.0`, are put
    into `whole`; whoever gets some has to take the zeros away.
    """
    if len(items) > _WIDE:
        return _easy_levels(items, units, levels, whole)
    if type(items) is dict:
        keys = "".join(items)  # TypeError for keys that are no strings
        if not (keys.isascii() or sorts_alike(keys)):
            return -1
        units -= len(keys)
        items = items.values()
    units -= len(items) + 1
    for item in items:
        kind = type(item)
        if kind is str:
            units -= len(item)
        elif kind is dict or kind is list:
            units = easy_units(item, units, levels - 1, whole) if levels > 0 else -1
            if units < 0:
                return units
        elif kind is float and (1e-4 <= item < 1e15 or -1e15 < item <= -1e-4):
            if not item % 1:
                whole.append(item)
        elif not ((kind is int and -_MAX_INT <= item <= _MAX_INT) or item is None or kind is bool):
            return -1
    return units


def _easy_levels(top: Any, units: int, levels: int, whole: list[float]) -> int:
    """As `easy_units`, all containers of one depth at once, and what is of one type by one call."""
    groups: list[Any] = [[top]]
    for _ in range(levels + 1):
        dicts: list[dict[str, Any]] = []
        lists: list[list[Any]] = []
        for group in groups:
            kinds = set(map(type, group))
            for kind in kinds:
                same: Any = group if len(kinds) == 1 else [item for item in group if type(item) is kind]
                if kind is str:
                    units -= sum(map(len, same))
                elif kind is dict:
                    dicts += same
                elif kind is list:
                    lists += same
                elif not _easy_numbers(kind, same, whole):
                    return -1
        if not (dicts or lists):
            return units
        units -= sum(map(len, lists)) + _names_units(dicts, units)
        if units < 0:  # before the next level, which may be large beyond measure
            return units
        groups = _columns(dicts)
        groups.append(list(_flat(lists)))
    return -1


def _easy_numbers(kind: type, same: Sequence[Any], whole: list[float]) -> bool:
    """Whether values of one type, neither texts nor containers, are easy."""
    if kind is int:
        return bool(min(same) >= -_MAX_INT and max(same) <= _MAX_INT)
    if kind is float:
        sizes = same if min(same) > 0 else list(map(abs, same))
        whole.extend(filter(float.is_integer, same))
        return bool(min(sizes) >= 1e-4 and sum(sizes) < 1e15)  # a NaN anywhere makes the sum one
    return kind in _CONSTANTS


def _names_units(dicts: list[dict[str, Any]], units: int) -> int:
    """What the names of members count, no less; more than there is where they are not easy."""
    try:
        names = set(_flat(dicts))
    except Exception:  # noqa: BLE001 - a name of a foreign class is compared, and may raise
        return units + 1
    if not set(map(type, names)) <= _TEXT or not sorts_alike("".join(names)):
        return units + 1
    # No name is longer than the longest: less exact than to count each, and quicker.
    return sum(map(len, dicts)) * (1 + max(map(len, names), default=0))


def _columns(dicts: list[dict[str, Any]]) -> list[Any]:
    """The values in groups: of records those that stand at the same place, which mostly have one type."""
    if len(set(map(len, dicts))) == 1:
        return list(zip(*map(dict.values, dicts), strict=True))
    return [list(_flat(map(dict.values, dicts)))]


def sorts_alike(keys: str) -> bool:
    """True where code points and UTF-16 units sort alike: nothing is beyond the basic plane."""
    return keys.isascii() or max(keys) <= "\uffff"


def without_zeros(data: bytes, count: int) -> bytes | None:
    """JSON without the `.0` of its `count` whole floats; None where that cannot be told from texts in it.

    Each whole float ends in `.0` before a comma or bracket. Where there are no more such places than whole
    floats, none of them is within a text.
    """
    exact, found = _ZERO.subn(b"", data)
    return exact if found == count else None
