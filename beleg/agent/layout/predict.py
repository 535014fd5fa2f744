"""What two requests share of their start, and how much of that a provider will find again."""

from dataclasses import dataclass

from beleg.agent.layout.layout import Layout, tokens_of
from beleg.agent.layout.segment import Piece
from beleg.contract.tokens import Estimate, estimate


@dataclass(frozen=True)
class Difference:
    """Where two renderings begin to differ."""

    piece: str
    scope: str
    maker: str
    at_byte: int
    """Within the piece, from 0."""
    first: str
    second: str
    """What stands there in the one and in the other; empty where it has ended."""


@dataclass(frozen=True)
class Shared:
    """The common start of two layouts."""

    pieces: int
    """Pieces that are wholly common."""
    data_bytes: int
    tokens: Estimate
    differs: Difference | None
    """None where one is all of the other's start."""


@dataclass(frozen=True)
class Prediction:
    """How much of the second request a provider reads from its cache when the first came shortly before."""

    total_tokens: int
    shared_tokens: int
    cached_tokens: int | None
    """None where it cannot be known."""
    why: str

    @property
    def share(self) -> float | None:
        """Cached of all input tokens, 0 to 1."""
        return self.cached_tokens / self.total_tokens if self.cached_tokens is not None and self.total_tokens else None


def shared(first: Layout, second: Layout, family: str) -> Shared:
    """The common start of two layouts, to the byte."""
    same = 0
    for a, b in zip(first.pieces, second.pieces, strict=False):
        if a.text != b.text or a.part != b.part:
            return _until(first.pieces[:same], a, b, family)
        same += 1
    return _until(first.pieces[:same], None, None, family)


def predict(first: Layout, second: Layout, family: str) -> Prediction:
    """What the second request reads from the cache, in estimated tokens, by the rules of its provider."""
    common = shared(first, second, family)
    total = second.tokens(family).tokens
    rules, minimum = second.rules, second.rules.minimum(second.model)

    def told(cached: int | None, why: str) -> Prediction:
        return Prediction(total, common.tokens.tokens, cached, why)

    if first.model != second.model or first.rules.provider != rules.provider:
        return told(0, "another model or provider shares nothing")
    if rules.matching == "units":
        return told(None, f"{rules.provider} keeps whole units: whether a common start is one cannot be known")
    usable = _usable(first, second, common, family)
    if minimum is None:
        return told(None, f"the shortest prefix for {second.model} is unknown to the rules of {rules.as_of}")
    if usable < minimum.tokens:
        return told(0, f"{usable} tokens are below the shortest prefix that is kept: {minimum}")
    return told(
        usable, "as far as the last breakpoint before the difference" if second.breakpoints else "the common start"
    )


def _usable(first: Layout, second: Layout, common: Shared, family: str) -> int:
    if second.rules.matching == "breakpoints":
        kept = [at for at in second.breakpoints if at in first.breakpoints and at < common.pieces]
        return tokens_of(second.pieces[: kept[-1] + 1], family).tokens if kept else 0
    step = second.rules.increment_tokens or 1
    return common.tokens.tokens // step * step


def _until(same: tuple[Piece, ...], a: Piece | None, b: Piece | None, family: str) -> Shared:
    data_bytes = sum(len(_bytes(each.text)) for each in same)
    tokens = tokens_of(same, family)
    if a is None or b is None:
        return Shared(len(same), data_bytes, tokens, None)
    difference = differing(a, b)
    begun = _bytes(a.text)[: difference.at_byte] if a.part == b.part else b""
    tokens += estimate(begun.decode("utf-8", "ignore"), family)
    return Shared(len(same), data_bytes + len(begun), tokens, difference)


def differing(a: Piece, b: Piece) -> Difference:
    """The first byte in which two pieces differ, with what stands around it."""
    first, second = _bytes(a.text), _bytes(b.text)
    pairs = zip(first, second, strict=False)
    at = next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(first), len(second)))
    shown = (each[at : at + 40].decode("utf-8", "replace") for each in (first, second))
    return Difference(a.name, a.scope, a.maker, at, *shown)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
