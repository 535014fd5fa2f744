"""Looks into answers of any SDK without importing it: dicts, models, dataclasses, protobuf wrappers.

Only numbers and short words are ever taken over; texts of an answer are not touched.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_MAX_DEPTH = 4
_MAX_ITEMS = 200
_MAX_WORD = 100
_NUMBERS = frozenset({int, float, bool})


def get(answer: Any, name: str) -> Any:
    """A member of a dict or object; None where there is none."""
    if type(answer) is dict or _is_mapping(type(answer)):  # type: ignore[arg-type]
        return answer.get(name)
    return getattr(answer, name, None)


@lru_cache(maxsize=256)
def _is_mapping(kind: type) -> bool:
    return issubclass(kind, Mapping)


def word(answer: Any, *names: str) -> str | None:
    """The first of the members that is a short non-empty string."""
    is_dict = type(answer) is dict
    for name in names:
        value = answer.get(name) if is_dict else get(answer, name)
        if value is not None and isinstance(value, str) and 0 < len(value) <= 256:
            return str.__str__(value)
    return None


def plain(usage: Any, depth: int = 0) -> Any:
    """The numbers and short words of a usage object, as dicts and lists; None for everything else."""
    kind = type(usage)
    if kind in _NUMBERS or usage is None:
        return usage
    if kind is str:
        return usage if len(usage) <= _MAX_WORD else None
    if depth >= _MAX_DEPTH:
        return None
    if kind is list or kind is tuple:
        return [plain(item, depth + 1) for item in usage[:_MAX_ITEMS]]
    members = usage if kind is dict and len(usage) <= _MAX_ITEMS else _members_or_value(usage)
    if type(members) is not dict:
        return plain(members, depth + 1)
    found = {}
    for name, value in members.items():
        # Most members are numbers: one call less for each of them.
        kept = value if type(value) in _NUMBERS else plain(value, depth + 1)
        if kept is not None and isinstance(name, str):
            found[name] = kept
    return found


def _members_or_value(usage: Any) -> Any:
    """Members of an object; the plain value of an enum or of a subclass of a plain type."""
    value = getattr(usage, "value", None)
    if type(value) is str:  # an enum of the SDK's own
        return value
    if isinstance(usage, str):
        return str.__str__(usage)
    if isinstance(usage, int | float):
        return float(usage) if isinstance(usage, float) else int(usage)
    return _members(usage)


def _members(usage: Any) -> dict[Any, Any]:
    if isinstance(usage, Mapping):
        return dict(list(usage.items())[:_MAX_ITEMS])
    members = dict(getattr(usage, "__dict__", None) or {})
    extra = getattr(usage, "__pydantic_extra__", None)
    if isinstance(extra, Mapping):
        members.update(extra)
    names = getattr(type(usage), "__struct_fields__", None) or getattr(type(usage), "__slots__", None) or ()
    for name in (names,) if isinstance(names, str) else names:
        members.setdefault(name, getattr(usage, name, None))
    if not members:
        members.update(_protobuf(usage))
    return {name: value for name, value in members.items() if not str(name).startswith("_")}


def _protobuf(usage: Any) -> dict[str, Any]:
    """Fields of a protobuf message or of a proto-plus wrapper around one."""
    message = getattr(usage, "_pb", usage)
    descriptor = getattr(message, "DESCRIPTOR", None)
    if descriptor is None:
        return {}
    return {field.name: getattr(message, field.name, None) for field in descriptor.fields}


def figures(usage: Any, prefix: str = "") -> dict[str, Any]:
    """All numbers of a plain usage, nested names joined by a dot: the raw figures of an event."""
    found: dict[str, Any] = {}
    pairs = usage.items() if isinstance(usage, dict) else enumerate(usage) if isinstance(usage, list) else ()
    for name, value in pairs:
        kind = type(value)
        if kind is int or kind is float:
            found[f"{prefix}{name}"] = value
        elif kind is dict or kind is list:
            found.update(figures(value, f"{prefix}{name}."))
    return found
