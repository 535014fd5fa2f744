"""What a reader yields: items, each kept whole or refused whole."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import orjson

from beleg.ingest.ranges import Place
from beleg.ingest.reasons import Refusal, Refused, refuse

Event = dict[str, Any]
"""An event in normal form, as contracts/events says."""

_T = TypeVar("_T")
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


class Origin(NamedTuple):
    """Where an item stands in its file; its digest is made only for one that is refused."""

    byte_offset: int
    """Of the line, or of the document that holds the item."""
    number: int
    """Of the line, or of the item within its document, from 1."""
    line: bytes | None = None
    """The bytes of the line where the item is a whole line."""
    value: Any = None

    def place(self) -> Place:
        """What the quarantine keeps of it."""
        if self.line is not None:
            return Place(self.byte_offset, self.number, len(self.line), hashlib.sha256(self.line).hexdigest())
        return Place(self.byte_offset, self.number, None, _digest(self.value))


class Value(NamedTuple):
    """A value of a file: a document, a line, a row, or a part of one."""

    origin: Origin
    content: Any
    prefix: str = ""
    """Where it stands in a document that was taken apart as it was read."""


@dataclass(slots=True)
class Item:
    """The smallest part of a file that is kept or refused whole: a span, a message, a row."""

    origin: Origin
    events: Sequence[Event] = ()
    """None for an item that tells nothing of a run: it is counted as ignored."""
    refusal: Refusal | None = None


def each(values: Iterable[Value], make: Callable[[Any], Iterable[Event]]) -> Iterator[Item]:
    """An item for each value. What `make` refuses, or what is not shaped as its format, is a refused item."""
    for value in values:
        yield item(value.origin, make, value.content)


def item(origin: Origin, make: Callable[..., Iterable[Event]], *given: Any) -> Item:
    """The item that `make(*given)` gives, refused where it raises; no fault of an item stops the others."""
    made = attempt(make, *given)
    return Item(origin, refusal=made) if isinstance(made, Refusal) else Item(origin, made)


def attempt(make: Callable[..., Iterable[_T]], *given: Any) -> list[_T] | Refusal:
    """What `make(*given)` gives, or why it cannot be taken."""
    try:
        return list(make(*given))
    except Refused as refused:
        return refused.refusal
    except _UNREADABLE as error:
        # The message of such an error may hold a value, its class cannot.
        return refuse("unreadable_item", f"not shaped as its format is ({type(error).__name__})")


def _digest(value: Any) -> str:
    options = orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS
    try:
        data = orjson.dumps(value, default=str, option=options)
    except (TypeError, ValueError, RecursionError):  # a lone surrogate, for example
        data = _shown(value)
    return hashlib.sha256(data).hexdigest()


def _shown(value: Any) -> bytes:
    try:
        return repr(value)[:1_000_000].encode("utf-8", "backslashreplace")
    except RecursionError:
        return b"nested too deep"
