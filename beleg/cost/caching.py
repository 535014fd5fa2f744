"""The rules of providers' prompt caches as rows that SQL joins: how long an entry stays, how short a prefix may be."""

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beleg.agent.layout.rules import Rules

_NAMES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("anthropic",),
    "openai": ("openai-5.6", "openai"),
    "azure": ("openai-5.6", "openai"),
    "google": ("gemini",),
    "deepseek": ("deepseek",),
    "x-ai": ("xai",),
}
"""Provider as the price book calls it → its rules, the first that knows the model."""
_CLAUDE = ("anthropic",)
"""Whoever sells a Claude model passes its breakpoints on."""


def digest() -> str:
    """SHA-256 of the rules: marts made under others are out of date."""
    return hashlib.sha256(files("beleg").joinpath("agent", "layout", "providers.yaml").read_bytes()).hexdigest()


def cache_rule(provider: str | None, model: str | None) -> list[Any] | None:
    """A row of `cache_rules`; None where nothing is known of the provider.

    A shortest prefix is the smallest that a source states: what is shorter is surely not kept.
    """
    found = _rules(provider, model)
    if found is None:
        return None
    minimum = found.minimum(model)
    lifetimes = sorted(timedelta(seconds=each.seconds) for each in found.lifetimes)
    return [
        provider,
        model,
        lifetimes[0] if lifetimes else None,
        lifetimes[-1] if lifetimes else None,
        found.increment_tokens,
        None if minimum is None else minimum.lowest,
        found.matching == "breakpoints",
    ]


def _rules(provider: str | None, model: str | None) -> "Rules | None":
    from beleg.agent.layout.rules import rules  # noqa: PLC0415 - all of the package, for one mart

    names = _CLAUDE if "claude" in (model or "") else _NAMES.get(provider or "", ())
    known = [rules(name) for name in names]
    return next((each for each in known if each.minimum(model) is not None), known[-1] if known else None)
