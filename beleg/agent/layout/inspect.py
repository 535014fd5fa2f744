"""What can be said of one layout by looking at it: the order of its scopes, clocks in it, and its provider's limits."""

import re
from collections.abc import Iterator

from beleg.agent.finding import Finding, Severity
from beleg.agent.layout.layout import Layout, tokens_of
from beleg.agent.layout.segment import RANK, Piece, Scope

_PATTERNS: tuple[tuple[str, Scope, Severity, re.Pattern[str]], ...] = (
    ("a time of day", "turn", "error", re.compile(r"\b(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d\b")),
    ("an id", "conversation", "warning", re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)),
    ("a date", "day", "warning", re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b|\b[0-3]?\d\.[01]?\d\.20\d\d\b")),
)
"""What it looks like, the widest scope in which it may stand, how bad it is elsewhere."""


def inspect(layout: Layout, family: str = "o200k") -> list[Finding]:
    """Everything about one layout that loses a shared prefix."""
    return [*_of_order(layout, family), *_of_patterns(layout), *_of_limits(layout, family)]


def _of_order(layout: Layout, family: str) -> Iterator[Finding]:
    """A piece of wider scope behind one of narrower scope is shared no wider than that one."""
    narrowest: Piece | None = None
    told: set[tuple[str, str]] = set()
    for index, each in enumerate(layout.pieces):
        if narrowest is None or RANK[each.scope] >= RANK[narrowest.scope]:
            narrowest = each
        elif (narrowest.name, each.name.partition("[")[0]) not in told:
            told.add((narrowest.name, each.name.partition("[")[0]))
            yield _out_of_order(layout, narrowest, index, family)


def _out_of_order(layout: Layout, narrow: Piece, index: int, family: str) -> Finding:
    wide = layout.pieces[index]
    behind = [each for each in layout.pieces[index:] if RANK[each.scope] < RANK[narrow.scope]]
    tokens = tokens_of(behind, family).tokens
    sentence = (
        f"{narrow.scope} text {narrow.name!r} ({narrow.maker}) stands before: {tokens} tokens are shared no wider"
    )
    if narrow.part != wide.part:  # the provider's order of parts
        fix = f"{narrow.part} come before {wide.part} here: keep them the same for all, or defer what only some need"
        bounded = RANK[narrow.scope] <= RANK["day"]  # a few groups of users, each of which shares it
        return Finding("scope-order", "warning" if bounded else "error", wide.name, sentence, fix)
    return Finding("scope-order", "error", wide.name, sentence, f"move {narrow.name!r} behind it")


def _of_patterns(layout: Layout) -> Iterator[Finding]:
    for each in layout.pieces:
        for what, allowed, severity, pattern in _PATTERNS:
            found = pattern.search(each.text) if RANK[each.scope] < RANK[allowed] else None
            if found:
                sentence = f"{what} ({found[0]}) in a segment of scope {each.scope}, made by {each.maker}"
                fix = f"put it into a segment of scope {allowed}, or leave it out"
                yield Finding("changes-by-itself", severity, each.name, sentence, fix)
                break


def _of_limits(layout: Layout, family: str) -> Iterator[Finding]:
    rules, place = layout.rules, f"{layout.rules.provider} {layout.model}"
    asked = sum(each.breakpoint for each in layout.pieces)
    if rules.most_breakpoints and asked > rules.most_breakpoints:
        sentence = f"{asked} breakpoints are asked for; {rules.provider} takes {rules.most_breakpoints}"
        yield Finding("breakpoints", "error", place, sentence, "mark fewer segments")
    minimum = rules.minimum(layout.model)
    if layout.model is None:
        return
    if minimum is None:
        sentence = f"the shortest prefix that is kept is unknown (rules of {rules.as_of})"
        yield Finding("minimum-unknown", "info", place, sentence, "add a row with its source to a rules file")
        return
    tokens = _shared_tokens(layout, family)
    if tokens < minimum.tokens:
        sentence = f"{tokens} tokens before the first difference between users; nothing below {minimum} is kept"
        unsure = f"; sources differ, {minimum.lowest} is the lowest" if minimum.lowest < minimum.tokens else ""
        yield Finding(
            "below-minimum", "warning", place, sentence + unsure, "no error will say so: both counters stay 0"
        )


def _shared_tokens(layout: Layout, family: str) -> int:
    """Tokens that all users of a cohort begin with, up to the last breakpoint where the provider has any."""
    narrow = (i for i, each in enumerate(layout.pieces) if RANK[each.scope] > RANK["day"])
    end = next(narrow, len(layout.pieces))
    if layout.rules.most_breakpoints:
        end = max((at + 1 for at in layout.breakpoints if at < end), default=0)
    return tokens_of(layout.pieces[:end], family).tokens
