"""A part of a prompt, with who shares it: the widest scope comes first, so that most requests begin alike."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, get_args

from beleg.core.errors import UsageError
from beleg.trace.canon import PLAIN, canonical
from beleg.trace.canon_types import NotCanonicalError

C = TypeVar("C")
Scope = Literal["static", "cohort", "day", "tenant", "user", "conversation", "turn"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""Widest first. A segment may depend on what its own scope and every wider one are: a company's on the day too.

`static`: all requests; `cohort`: users with the same tools; `day`: a calendar day; `tenant`: one company;
`user`; `conversation`: it only grows; `turn`: the newest message.
"""
MOST_NAME_CHARS = 200
RANK = {scope: rank for rank, scope in enumerate(SCOPES)}
Part = Literal["tools", "system", "messages"]
"""Where in a request it stands; the provider decides which of these comes first."""


@dataclass(frozen=True, kw_only=True)
class Segment(Generic[C]):
    """One part of a prompt, declared.

    `make` is its text, or a function of the context that gives it. What is no text (tool definitions, messages)
    is written as canonical JSON, a list piece by piece, so that the order in which a map was filled never shows.
    """

    name: str
    scope: Scope
    make: str | Callable[[C], Any]
    part: Part = "system"
    breakpoint: bool = False
    """Whether a cache breakpoint stands behind it; where no segment says so, they are placed."""

    def __post_init__(self) -> None:
        if not 0 < len(self.name) <= MOST_NAME_CHARS or not self.name.isprintable():
            raise UsageError(
                f"segment {self.name[:80]!r}: its name must be 1 to {MOST_NAME_CHARS} printable characters"
            )
        if not isinstance(self.make, str) and not callable(self.make):
            raise UsageError(f"segment {self.name!r} made by a {type(self.make).__name__}: give a text or a function")
        if self.scope not in SCOPES or self.part not in get_args(Part):
            allowed = f"scopes are {', '.join(SCOPES)}, parts {', '.join(get_args(Part))}"
            raise UsageError(f"segment {self.name!r}: scope {self.scope!r}, part {self.part!r}; {allowed}")

    @cached_property
    def maker(self) -> str:
        """Who makes it: module, function and line, or `a constant`."""
        code = getattr(self.make, "__code__", None)
        where = f", line {code.co_firstlineno}" if code is not None else ""
        named = getattr(self.make, "__qualname__", type(self.make).__name__)
        return "a constant" if isinstance(self.make, str) else f"{self.make.__module__}.{named}{where}"

    def render(self, context: C) -> Iterator["Piece"]:
        """Its pieces for a context: one, or one for each item of a list."""
        made = self.make if isinstance(self.make, str) else self.make(context)
        try:
            yield from self._pieces(made)
        except NotCanonicalError as error:
            raise UsageError(f"segment {self.name!r}: {self.maker} gives what is no JSON: {error}") from error

    def _pieces(self, made: Any) -> Iterator["Piece"]:
        if made is None or isinstance(made, bytes):
            raise UsageError(f"segment {self.name!r}: {self.maker} gives {type(made).__name__}; '' says nothing")
        if isinstance(made, str):
            yield Piece(self.name, self.scope, self.part, made, self.maker, self.breakpoint)
        elif isinstance(made, Sequence):
            last = len(made) - 1
            for number, item in enumerate(made):
                ends = self.breakpoint and number == last
                name = f"{self.name}[{number}]"
                yield Piece(name, self.scope, self.part, text_of(item), self.maker, ends, blocks_of(item))
        else:
            yield Piece(self.name, self.scope, self.part, text_of(made), self.maker, self.breakpoint, blocks_of(made))


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment as it was rendered for one request, or one item of it."""

    name: str
    scope: Scope
    part: Part
    text: str
    maker: str
    breakpoint: bool = False
    blocks: int = 1
    """Content blocks, by which some providers count how far back they look."""


def text_of(item: Any) -> str:
    """An item in canonical JSON; a text as it is. Raises NotCanonicalError for what is no JSON."""
    if isinstance(item, str):
        return item
    data, version = canonical(item)
    if version != PLAIN:
        raise NotCanonicalError("extended", "numbers beyond ±2**53, NaN, sets, dates and bytes are none")
    return data.decode()


def blocks_of(item: Any) -> int:
    """Content blocks of a message; 1 where it does not list any."""
    content = item.get("content") if isinstance(item, dict) else None
    return max(1, len(content)) if isinstance(content, list | tuple) else 1
