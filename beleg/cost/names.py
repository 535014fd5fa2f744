"""Under which names the price book may know a model: documented rules, asked in order, and never a guess.

A rule takes off what a gateway, a cloud or a date adds to a name: the provider's prefix, the path of a
resource, the version of Bedrock, the date of a snapshot, `-latest`. Where the book itself looks for a text
within a name, the rest of the name must be such an addition too, or else another model would get its price:
at Azure the book finds `o4-mini` within `o4-mini-deep-research`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from genai_prices.types import ClauseAnd, ClauseContains, ClauseEndsWith, ClauseOr, MatchLogic

GATEWAYS = frozenset({"litellm", "litellm_proxy"})
"""Providers that only pass calls on: the prefix of the model names the seller."""
_CLOUDS = {
    "azure": "azure",
    "azure_ai": "azure",
    "bedrock": "aws",
    "converse": "aws",
    "gemini": "google",
    "vertex_ai": "google",
    "vertex": "google",
    "xai": "x-ai",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
}
"""Prefix of a gateway → provider id of the book; another prefix is its own id."""
_PATH = re.compile(r"(?:.*/)?models/([^/]+)")
"""`models/NAME` and `projects/…/publishers/google/models/NAME`: resources of Google."""
_BEDROCK = re.compile(r"(?:[a-z-]+\.)?(?:amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen)\.[a-z].*")
"""`us.anthropic.claude-…`: a Bedrock id, also where no provider is named."""
_SUFFIXES = (
    re.compile(r"-v\d+:\d+(?::\d+k)?$"),  # Bedrock's version
    re.compile(r"[-@]20\d{2}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])$"),  # the date of a snapshot
    re.compile(r"@default$"),  # Vertex
    re.compile(r"-00\d$"),  # Google's stable versions
    re.compile(r"-latest$"),
)


class Name(NamedTuple):
    """A model as the book may know it."""

    provider: str | None
    model: str


def names(provider: str | None, model: str) -> Iterator[Name]:
    """The name as it is, then as each rule leaves it, the least changed first."""
    seen: set[Name] = set()
    for name in _shortened(list(_sold(provider or None, model))):
        if name.model and name not in seen:
            seen.add(name)
            yield name


def _sold(provider: str | None, model: str) -> Iterator[Name]:
    """The name without the prefixes that say who sells it."""
    yield Name(provider, model)
    if (path := _PATH.fullmatch(model)) is not None:
        yield Name(provider or ("google" if "publishers/google/" in model else None), path[1])
    seller = None if provider in GATEWAYS else provider
    while "/" in model:
        prefix, _, rest = model.partition("/")
        sells = _CLOUDS.get(prefix.lower(), prefix.lower())
        if seller is not None and sells != _CLOUDS.get(seller.lower(), seller.lower()):
            break
        seller, model = sells, rest
        yield Name(seller, model)
    if seller is None and _BEDROCK.fullmatch(model):
        yield Name("aws", model)


def _shortened(sold: list[Name]) -> Iterator[Name]:
    yield from sold
    for suffix in _SUFFIXES:
        for provider, model in list(sold):
            short = suffix.sub("", model)
            if short != model:
                sold.append(Name(provider, short))
                yield sold[-1]


_BEFORE = re.compile(r"(?:.*[/.:])?")
_AFTER = re.compile(r"(?:[-@:.](?:v?\d[\d.:-]*k?|latest|preview|exp|experimental|thinking|default))*")


def is_sure(match: MatchLogic, model: str) -> bool:
    """False where a clause of the book only finds its text somewhere within another name."""
    if isinstance(match, ClauseOr):
        return any(is_sure(clause, model) for clause in match.or_ if clause.is_match(model))
    if isinstance(match, ClauseAnd):
        return all(is_sure(clause, model) for clause in match.and_)
    if isinstance(match, ClauseContains | ClauseEndsWith):
        text = match.contains if isinstance(match, ClauseContains) else match.ends_with
        before, _, after = model.lower().rpartition(text.lower())
        return _BEFORE.fullmatch(before) is not None and _AFTER.fullmatch(after) is not None
    return True
