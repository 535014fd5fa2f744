"""What a user decides about models: alias rules and one dated row per model.

A price change is a new row, never a deploy. Within its dates a row with prices replaces the book's
price list of that model as a whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from beleg.cost.pricelist import PriceList

RISK_LEVELS = ("low", "medium", "high")
"""Ascending."""


@dataclass(frozen=True)
class Alias:
    """A model that is priced as another one: explicit data with a reason."""

    match: str
    """Pattern for `provider/model`; the text that its `*` stands for goes into that of `to`."""
    to: str
    why: str

    def apply(self, name: str) -> str | None:
        """The name that holds instead, None where the rule does not match."""
        if not fnmatchcase(name.lower(), self.match.lower()):
            return None
        head, star, _ = self.match.partition("*")
        return self.to.replace("*", name[len(head) :]) if star else self.to


@dataclass(frozen=True)
class ModelRow:
    """What holds for one model from one instant on."""

    provider: str
    model: str
    valid_from: datetime
    valid_to: datetime | None
    standard: PriceList | None
    """None where the row leaves prices to the book."""
    service_tiers: Mapping[str, PriceList]
    batch: PriceList | None
    latency_ceiling_ms: int | None
    risk_level: str | None
    run_budget_pico_usd: int | None

    @property
    def name(self) -> tuple[str, str]:
        """Provider and model in lower case: what rows of one model share."""
        return self.provider.lower(), self.model.lower()

    def covers(self, instant: datetime) -> bool:
        """True where the row holds at that instant."""
        return self.valid_from <= instant and (self.valid_to is None or instant < self.valid_to)

    def price_list(self, service_tier: str | None, *, batch: bool) -> PriceList | None:
        """The row's prices for a call, None where it has none for that tier or for batches."""
        if batch:
            return self.batch if service_tier is None else None
        return self.standard if service_tier is None else self.service_tiers.get(service_tier)


@dataclass(frozen=True)
class ModelPolicies:
    """The content of `models.yaml`."""

    aliases: tuple[Alias, ...] = ()
    rows: tuple[ModelRow, ...] = ()

    def alias(self, provider: str, model: str) -> tuple[str, str]:
        """Provider and model after the first alias rule that matches; rules are not chained."""
        for rule in self.aliases:
            found = rule.apply(f"{provider}/{model}")
            if found is not None:
                new_provider, _, new_model = found.partition("/")
                return new_provider, new_model
        return provider, model

    def rows_of(self, provider: str, model: str) -> tuple[ModelRow, ...]:
        """Rows of exactly that model, ascending in time."""
        name = (provider.lower(), model.lower())
        return tuple(row for row in self.rows if row.name == name)
