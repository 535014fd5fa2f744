"""A prompt put together for one request: shared first, in the order of the provider's parts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, Generic

from beleg.agent.layout.rules import ANY, Rules
from beleg.agent.layout.segment import RANK, SCOPES, C, Piece, Scope, Segment
from beleg.agent.record import record_once
from beleg.contract.tokens import Estimate, estimate
from beleg.core.errors import UsageError
from beleg.trace.fingerprint import fingerprint

VERSIONED: tuple[Scope, ...] = ("static", "cohort")
"""Scopes whose text belongs to a version of the layout; the others only with name and scope."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Pieces in the order sent, with what else decides whether a prefix is found again."""

    pieces: tuple[Piece, ...]
    rules: Rules = ANY
    model: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of the request: `tool_choice`, `thinking`, `effort` and the like."""

    @property
    def text(self) -> str:
        """All of it, one piece behind the other."""
        return "".join(each.text for each in self.pieces)

    @cached_property
    def breakpoints(self) -> tuple[int, ...]:
        """Indices of the pieces behind which a cache breakpoint stands; empty where the provider has none."""
        most = self.rules.most_breakpoints
        if not most or not self.pieces:
            return ()
        ends = [index for index, each in enumerate(self.pieces) if each.breakpoint] or self._ends()
        return tuple(ends if len(ends) <= most else ends[: most // 2] + ends[most // 2 - most :])

    def _ends(self) -> list[int]:
        """Where the scope gets narrower for good, and the end."""
        ranks, reached = [], 0
        for each in self.pieces:
            reached = max(reached, RANK[each.scope])
            ranks.append(reached)
        return [i for i, (a, b) in enumerate(zip(ranks, [*ranks[1:], None], strict=True)) if a != b]

    def tokens(self, family: str) -> Estimate:
        """Estimated tokens of all pieces."""
        return tokens_of(self.pieces, family)

    def hashes(self) -> tuple[tuple[str, Scope, str], ...]:
        """Name, scope and SHA-256 of every piece, to find the first one that differs later."""
        return tuple((each.name, each.scope, _hash(each.text)) for each in self.pieces)

    def event(self, family: str) -> dict[str, Any]:
        """The fields of a `layout` event: what is the same for many requests, with hash and tokens.

        Narrower scopes appear by name alone, once: their texts change with every company or message, and would
        make a new layout of each.
        """
        segments: dict[tuple[str, str], dict[str, Any]] = {}
        for each in self.pieces:
            shared = each.scope in VERSIONED
            name = each.name if shared else each.name.partition("[")[0]
            hashed, tokens = (_hash(each.text), _tokens(each.text, family).tokens) if shared else (None, None)
            segments.setdefault(
                (name, each.scope), {"name": name, "scope": each.scope, "hash": hashed, "tokens": tokens}
            )
        known = list(segments.values())
        return {"layout_hash": fingerprint([[s["name"], s["scope"], s["hash"]] for s in known]), "segments": known}

    def record(self, family: str = "other") -> str:
        """Write the `layout` event once, and give the `layout_hash` for `step(…)`."""
        return record_once("layout", self.event(family))


class Prompt(Generic[C]):
    """A prompt's segments. Raises UsageError where two share a name.

    `in_order` keeps them as given instead of putting them together shared-first: for a prompt that others
    assemble and that is only to be checked.
    """

    def __init__(self, segments: Iterable[Segment[C]], *, in_order: bool = False) -> None:
        self.segments = tuple(segments)
        self._in_order = in_order
        self._sorted: dict[tuple[str, ...], tuple[Segment[C], ...]] = {}
        names = [each.name for each in self.segments]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(f"segments share the names {twice}: give each its own")

    def render(
        self,
        context: C,
        *,
        rules: Rules = ANY,
        model: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Layout:
        """The layout for a context. Whatever a segment's function raises passes."""
        pieces = tuple([piece for each in self.order(rules.order) for piece in each.render(context)])
        return Layout(pieces=pieces, rules=rules, model=model, parameters=parameters or {})

    def order(self, parts: Sequence[str]) -> tuple[Segment[C], ...]:
        """The segments by part of the request, then widest scope first, then as declared."""
        if self._in_order:
            return self.segments
        key = tuple(parts)
        if key not in self._sorted:
            ordered = sorted(self.segments, key=lambda each: (key.index(each.part), SCOPES.index(each.scope)))
            self._sorted[key] = tuple(ordered)
        return self._sorted[key]


def tokens_of(pieces: Iterable[Piece], family: str) -> Estimate:
    """Estimated tokens of pieces together."""
    return sum((_tokens(each.text, family) for each in pieces), Estimate(0, 0, 0, f"estimate:{family}"))


@lru_cache(maxsize=4096)
def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=4096)
def _tokens(text: str, family: str) -> Estimate:
    return estimate(text, family)
