"""The price book: genai-prices' data, overridden by dated policy rows.

Which model a name means is decided by genai-prices itself, asked under the names of `beleg.cost.names`.
Its own update mechanism is never used, so that the same installation gives the same prices.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import genai_prices.data
import genai_prices.data_units
from genai_prices.data_snapshot import DataSnapshot
from genai_prices.types import ModelInfo, Provider

from beleg.cost.names import Name, is_sure, names
from beleg.cost.policy import ModelPolicies, ModelRow
from beleg.cost.subject import PriceRow, Subject, expand, key_of, variant_gap

EXPANSION_VERSION = 2
"""Raise it when the same data would give other rows: it is part of the digest."""

STANDARD_TIERS = frozenset({"auto", "default", "on_demand", "on-demand", "standard", "unspecified"})
"""Names under which providers report that no special service tier applied."""


class Call(NamedTuple):
    """What decides the price of a step beside its time and usage."""

    provider: str | None
    model: str | None
    service_tier: str | None
    batch: bool | None


class Resolution(NamedTuple):
    """Under which key prices and policies of a call stand, and why it can have no price."""

    price_key: str | None
    """None where neither book nor policy knows the model."""
    unpriced_reason: str | None
    """None where there may be a price; whether there is one depends on time and usage."""


@dataclass
class PriceBook:
    """Resolves calls to price keys and price keys to rows."""

    policies: ModelPolicies
    _subjects: dict[str, Subject] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 over everything that can change a price."""
        rows = [
            repr((row.name, row.valid_from, row.valid_to, row.standard, row.service_tiers, row.batch))
            for row in self.policies.rows
            if row.standard is not None
        ]
        aliases = [[alias.match, alias.to] for alias in self.policies.aliases]
        parts = [EXPANSION_VERSION, version("genai-prices"), _data_digest(), aliases, rows]
        return _sha256(json.dumps(parts).encode())

    def resolve(self, call: Call) -> Resolution:
        """The price key of a call; where it can have no price, `unknown_model`, `no_price_for_batch` and the like."""
        if not call.model:
            return Resolution(None, "no_model")
        tier = (call.service_tier or "").lower()
        subject, unknown = self._subject(call, None if tier in STANDARD_TIERS else tier or None)
        if subject.model is None and not subject.rows:
            return Resolution(None, unknown)
        key = key_of(subject)
        self._subjects[key] = subject
        has_own_prices = any(row.standard is not None for row in subject.rows)
        return Resolution(key, variant_gap(subject) if unknown is None or has_own_prices else unknown)

    def rows(self, price_key: str) -> list[PriceRow]:
        """Rows of a key that was resolved before, ascending in time; times without a price have none."""
        return list(expand(price_key, self._subjects[price_key]))

    def policy_rows(self, price_key: str) -> tuple[ModelRow, ...]:
        """Policy rows that hold for a key."""
        return self._subjects[price_key].rows

    def _subject(self, call: Call, tier: str | None) -> tuple[Subject, str | None]:
        """What the call is priced as, and why the book does not know it, None where it does."""
        model = call.model or ""
        provider, aliased = self.policies.alias(call.provider or "", model)
        found = _find(provider or None, aliased)
        known = [Name(call.provider, model), *names(provider, aliased)]
        if not isinstance(found, str):
            known.append(Name(found[0].id, found[1].id))
        rows = next((r for name in known if (r := self.policies.rows_of(name.provider or "", name.model))), ())
        batch = bool(call.batch)
        if isinstance(found, str):
            return Subject(rows, None, None, tier, batch), found
        return Subject(rows, *found, tier, batch), None


@cache
def _snapshot() -> DataSnapshot:
    return DataSnapshot(providers=genai_prices.data.providers, from_auto_update=False)


@cache
def _data_digest() -> str:
    modules = (genai_prices.data, genai_prices.data_units)
    return _sha256(b"".join(Path(str(m.__file__)).read_bytes() for m in modules))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _find(provider: str | None, model: str) -> tuple[Provider, ModelInfo] | str:
    """Provider and model of the book under the first name it knows, or the reason why it knows none."""
    found = [_find_exactly(name) for name in names(provider, model)]
    return next((one for one in found if not isinstance(one, str)), found[0])


def _find_exactly(name: Name) -> tuple[Provider, ModelInfo] | str:
    try:
        seller = _snapshot().find_provider(name.model.lower(), name.provider, None)
    except LookupError:
        return "unknown_provider" if name.provider else "unknown_model"
    try:
        found = _snapshot().find_provider_model(name.model, None, name.provider, None)
    except LookupError:
        return "unknown_model" if seller.models else "unknown_provider"
    model = found[1]
    guessed = (
        model.is_match(name.model) and model.id.lower() != name.model.lower() and not is_sure(model.match, name.model)
    )
    return "unknown_model" if guessed else found


def book_rows() -> Iterator[PriceRow]:
    """Standard rows of every model of the book, under no policy."""
    for provider in _snapshot().providers:
        for model in provider.models:
            subject = Subject((), provider, model, None, batch=False)
            yield from expand(key_of(subject), subject)


def book_calls() -> list[Call]:
    """A call to each model of the book that its own id finds, without service tier or batch."""
    names = ((p.id, m.id) for p in _snapshot().providers for m in p.models)
    return [Call(*name, None, None) for name in names if not isinstance(_find(*name), str)]
