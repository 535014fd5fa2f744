"""How Python values beyond JSON's own types are reduced to something the canonical encoding can hold.

Either to a plain value (a tuple is a list, an enum member its value, a dataclass or model its fields) or
to a tag with content (`docs/fingerprints.md`). Nothing here calls `repr`, `str` or `==` of a foreign
object, and iterators are never consumed: reading the payload must not change it.
"""

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import pathlib
import uuid
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, NamedTuple

from beleg.trace.canon_codec import NotCanonicalError

__all__ = ["NotCanonicalError", "Reduced", "reduce_value"]


class Reduced(NamedTuple):
    """A value in simpler terms: plain where `tag` is None, else the content of that tag."""

    tag: str | None
    content: Any


def reduce_value(value: Any) -> Reduced:
    """Reduce a value that is no exact JSON type; raises NotCanonicalError where there is no rule."""
    for kind, reduce in _RULES:
        if isinstance(value, kind):
            return reduce(value)
    duck = _duck(value)
    if duck is not None:
        return duck
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    msg = f"a value of type {name} has no canonical form; pass JSON types, dataclasses or models"
    raise NotCanonicalError("unsupported_type", msg)


def _plain(content: Any) -> Reduced:
    return Reduced(None, content)


def _duck(value: Any) -> Reduced | None:
    kind = type(value)
    if dataclasses.is_dataclass(kind):
        return _plain({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    dump = getattr(kind, "model_dump", None)  # pydantic
    if callable(dump):
        return _plain(dump(value))
    attributes = getattr(kind, "__attrs_attrs__", None)
    if attributes is not None:
        return _plain({a.name: getattr(value, a.name) for a in attributes})
    if kind.__module__.partition(".")[0] == "numpy" and hasattr(kind, "tolist"):
        return _plain(value.tolist())
    return None


def _moment(value: dt.datetime) -> Reduced:
    if value.tzinfo is None or value.utcoffset() is None:
        return Reduced("datetime", value.replace(tzinfo=None).isoformat(timespec="microseconds"))
    utc = value.astimezone(dt.UTC).replace(tzinfo=None)
    return Reduced("instant", utc.isoformat(timespec="microseconds") + "Z")


def _decimal(value: decimal.Decimal) -> Reduced:
    """Equal decimals have equal texts: 1.10 and 1.1 are `11e-1`."""
    sign, digits, exponent = value.as_tuple()
    minus = "-" if sign else ""
    if not isinstance(exponent, int):
        return Reduced("decimal", minus + {"F": "inf", "n": "nan", "N": "snan"}[exponent])
    text = "".join(map(str, digits)).lstrip("0")
    stripped = text.rstrip("0")
    if not stripped:
        return Reduced("decimal", "0")
    return Reduced("decimal", f"{minus}{stripped}e{exponent + len(text) - len(stripped)}")


def _duration(value: dt.timedelta) -> Reduced:
    return Reduced("duration_us", str(value // dt.timedelta(microseconds=1)))


def _bytes(value: Any) -> Reduced:
    return Reduced("bytes", base64.b64encode(value).decode("ascii"))


# The exact copy of a subclass: its own overrides are not asked. The order matters: an enum first, since
# members of IntEnum and StrEnum are numbers and strings too; datetime before date.
_RULES: tuple[tuple[type | tuple[type, ...], Callable[[Any], Reduced]], ...] = (
    (enum.Enum, lambda v: _plain(v.value)),
    (str, lambda v: _plain(str.__str__(v))),
    (int, lambda v: _plain(int.__pos__(v))),
    (float, lambda v: _plain(float.__pos__(v))),
    (dict, lambda v: _plain(dict(dict.items(v)))),
    (list, lambda v: _plain(list(list.__iter__(v)))),
    (tuple, lambda v: _plain(list(tuple.__iter__(v)))),
    ((bytes, bytearray, memoryview), _bytes),
    (dt.datetime, _moment),
    (dt.date, lambda v: Reduced("date", v.isoformat())),
    (dt.time, lambda v: Reduced("time", v.isoformat(timespec="microseconds"))),
    (dt.timedelta, _duration),
    (decimal.Decimal, _decimal),
    (uuid.UUID, lambda v: _plain(str(v))),
    (pathlib.PurePath, lambda v: _plain(v.as_posix())),
    (Set, lambda v: Reduced("set", list(v))),
    (Mapping, lambda v: _plain(dict(v.items()))),
    (Sequence, lambda v: _plain(list(v))),
)
