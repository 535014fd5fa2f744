"""The serialisers behind the canonical encoding, each of which must give the same bytes.

They write values that the walk in `canon` has already made harmless, plus raw fragments for the few
numbers and objects that ordinary serialisers write differently from RFC 8785.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple


class Codec(NamedTuple):
    """One serialiser; `fragment` wraps finished bytes, None where it cannot take them."""

    dumps: Callable[[Any], bytes]
    fragment: Callable[[bytes], Any] | None


class NotCanonicalError(TypeError):
    """The value has no canonical form; `reason` is a short word fit for counting and storing."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class RawNeededError(Exception):
    """The value needs a raw fragment, which this codec cannot take: use `EXACT`."""


class _Raw:
    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


_text = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
).encode


def _stdlib_dumps(value: Any) -> bytes:
    return _text(value).encode()


def _exact_dumps(value: Any) -> bytes:
    """The standard library's writer, wrapped so that it can hold raw fragments."""
    kind = type(value)
    if kind is _Raw:
        return bytes(value.data)
    if kind is dict:
        members = (_stdlib_dumps(key) + b":" + _exact_dumps(value[key]) for key in sorted(value))
        return b"{" + b",".join(members) + b"}"
    if kind is list or kind is tuple:
        return b"[" + b",".join(map(_exact_dumps, value)) + b"]"
    return _stdlib_dumps(value)


def _orjson_codec() -> Codec | None:
    try:
        import orjson  # noqa: PLC0415 - optional
    except ImportError:
        return None
    # Anything that is not a plain JSON type must reach the walk, never orjson's own idea of it.
    options = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS
    return Codec(partial(orjson.dumps, option=options), orjson.Fragment)


STDLIB = Codec(_stdlib_dumps, None)
EXACT = Codec(_exact_dumps, _Raw)
ORJSON = _orjson_codec()
DEFAULT = ORJSON or STDLIB
