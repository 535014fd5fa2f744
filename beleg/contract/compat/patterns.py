"""Patterns of JSON Schema: what they match, and texts that match.

Readers are written in languages that read patterns differently. One comparison is made under one grammar, `grammar`.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Final

from beleg.contract.compat.charsets import BEGIN, END, example
from beleg.contract.compat.regexes import Unsupported, searching
from beleg.contract.compat.spelling import Grammar, Unspeakable, spelled
from beleg.contract.compat.terms import ANYTHING, NOTHING, Term, after, all_of, alphabet, any_of, cat, none_of, nullable
from beleg.contract.compat.verdict import Unprovable

_MAX_STATES: Final = 3_000
_MAX_TEXT: Final = 10_000


_GRAMMAR: Final[ContextVar[Grammar]] = ContextVar("grammar", default="python")


@contextmanager
def read_as(grammar: Grammar) -> Iterator[None]:
    """Read patterns under that grammar."""
    before = _GRAMMAR.set(grammar)
    try:
        yield
    finally:
        _GRAMMAR.reset(before)


def grammar() -> Grammar:
    """How patterns are read."""
    return _GRAMMAR.get()


def as_read(pattern: str) -> str:
    """The pattern as `re` must be given it; raises Unprovable where the grammar does not know it."""
    try:
        return spelled(pattern, grammar())
    except Unspeakable as error:
        msg = f"ECMAScript has no pattern {pattern[:80]!r}"
        raise Unprovable(msg, "R23") from error


def matches(pattern: str, text: str) -> bool:
    """As `found_in`, of a pattern that is already as it is read."""
    return _found_in(pattern, text)


def found_in(pattern: str, text: str) -> bool:
    """What a search would find, without exponential time; raises Unprovable where only `re` could tell."""
    return _found_in(as_read(pattern), text)


@lru_cache(maxsize=10_000)
def _found_in(pattern: str, text: str) -> bool:
    try:
        state = after(searching(pattern), BEGIN)
    except Unsupported:
        return _searched(pattern, text)
    for char in text:
        state = after(state, ord(char))
    return nullable(after(state, END))


def is_tame(pattern: str) -> bool:
    """Whether `re` takes no exponential time for it: no repetition within a repetition, no choice within one."""
    return len(pattern) < 1_000 and not re.search(r"[*+}?|].*\)[*+{]|\)[*+{].*\)[*+{]", pattern)


def _searched(pattern: str, text: str) -> bool:
    try:
        if is_tame(pattern):
            return re.search(pattern, text) is not None
    except (re.error, OverflowError, RecursionError):
        pass
    msg = f"the pattern {pattern[:80]!r} cannot be reasoned about"
    raise Unprovable(msg, "R23")


def shortest(
    matching: Iterable[str],
    missing: Iterable[str],
    *,
    least: int = 0,
    most: int | None = None,
    without: Collection[str] = (),
    tick: Callable[[], None] = lambda: None,
) -> str | None:
    """The shortest text that some patterns match and others do not; None where there is none.

    Raises Unprovable where a pattern cannot be reasoned about or the search grows too large.
    """
    wanted = [_term(pattern) for pattern in matching]
    unwanted = [none_of(_term(pattern)) for pattern in missing]
    excluded = [none_of(any_of([_exactly(text) for text in without]))] if without else []
    marked = cat(("chars", ((BEGIN, BEGIN),)), cat(ANYTHING, ("chars", ((END, END),))))
    return _search(after(all_of([marked, *wanted, *unwanted, *excluded]), BEGIN), least, most, tick)


def _search(start: Term, least: int, most: int | None, tick: Callable[[], None]) -> str | None:
    if least > _MAX_TEXT:
        msg = f"a text of {least} characters is too long to build"
        raise Unprovable(msg, "R23")
    waiting = deque([(start, "")])
    seen = {(start, 0)}
    while waiting:
        tick()
        state, text = waiting.popleft()
        if len(text) >= least and nullable(after(state, END)):
            return text
        if most is not None and len(text) >= most:
            continue
        for chars in alphabet(state):
            code = example(chars)
            then = after(state, code)
            at = (then, min(len(text) + 1, least))
            if then != NOTHING and at not in seen:
                seen.add(at)
                waiting.append((then, text + chr(code)))
        if len(seen) > _MAX_STATES + least * 4:
            msg = "the patterns are too intricate to compare"
            raise Unprovable(msg, "R23")
    return None


def _term(pattern: str) -> Term:
    try:
        return searching(as_read(pattern))
    except Unsupported as error:
        msg = f"the pattern {pattern[:80]!r} cannot be reasoned about"
        raise Unprovable(msg, "R23") from error


def _exactly(text: str) -> Term:
    term: Term = ("chars", ((END, END),))
    for char in reversed(text):
        term = cat(("chars", ((ord(char), ord(char)),)), term)
    return cat(("chars", ((BEGIN, BEGIN),)), term)
