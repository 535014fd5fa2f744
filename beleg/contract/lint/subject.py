"""What the rules look at: a contract, the facts around it, and what is worked out of both once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from beleg.contract.lint.facts import Facts
from beleg.contract.lint.finding import Severity
from beleg.contract.lint.judge import schema_faults
from beleg.contract.lint.profiles import Profile, profile
from beleg.contract.lint.schemas import MAX_DEPTH, Node, TooLarge, walk
from beleg.contract.lint.template import Template, read
from beleg.contract.model import Contract, Provider, Schema
from beleg.contract.tiers import TierPolicy, tier_policy

TIME_LIMIT_S = 1.0
"""For a comparison of schemas within lint; what is not decided by then counts as the worse."""


@dataclass(frozen=True)
class Hit:
    """One place where a rule does not hold."""

    place: str
    sentence: str
    severity: Severity | None = None
    """None: as the rule has it for the contract's tier."""
    fix: str | None = None
    """None: the rule's own."""


@dataclass(frozen=True)
class Subject:
    """A contract under lint."""

    contract: Contract
    facts: Facts

    @cached_property
    def templates(self) -> Mapping[str, Template]:
        """The prompt's two templates by role."""
        return {role: read(getattr(self.contract.prompt, role)) for role in ("system", "user")}

    @cached_property
    def renders(self) -> bool:
        """Whether both templates are ones that the SDK renders."""
        return not any(each.faults for each in self.templates.values())

    @cached_property
    def schema_faults(self) -> list[tuple[str, str]]:
        """What is wrong with the output schema by the metaschema; the other schema rules wait until this is empty."""
        try:
            walk(self.contract.output_schema)
        except TooLarge:
            return [("", "it is larger or nested more deeply than lint looks at")]
        return schema_faults(self.contract.output_schema)

    @property
    def output_schema(self) -> dict[str, Any] | bool:
        """The output schema as the comparison takes it."""
        return plain(self.contract.output_schema)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every subschema of the output schema; none where it is no schema."""
        return () if self.schema_faults else walk(self.contract.output_schema)

    @cached_property
    def policy(self) -> TierPolicy:
        """What the contract's tier demands."""
        return self.policy_of(self.contract.risk_tier)

    def policy_of(self, tier: int) -> TierPolicy:
        """What a tier demands."""
        return tier_policy(tier, self._own("tiers.yaml"))

    def profile(self, provider: Provider) -> Profile | None:
        """The profile of a provider, None where nothing is known about it."""
        return profile(provider.provider, self._own("provider_profiles.yaml"))

    def _own(self, name: str) -> Path | None:
        folder = self.facts.policies
        return folder / name if folder is not None and (folder / name).exists() else None

    @cached_property
    def values(self) -> tuple[tuple[str, Any, int], ...]:
        """(part, value, depth) of every value and name that a person typed in, depth counted from its part."""
        contract = self.contract
        parts: dict[str, Any] = {
            "prompt.system": contract.prompt.system,
            "prompt.user": contract.prompt.user,
            "prompt.variables": [(each.name, each.description, each.schema) for each in contract.prompt.variables],
            "prompt.samples": contract.prompt.samples,
            "output_schema": contract.output_schema,
            "examples": contract.examples,
            "tools": [(each.name, each.description, each.input_schema) for each in contract.tools],
            "providers": [tuple(vars(each).values()) for _, each in self.providers],
            "evals": [tuple(vars(each).values()) for each in contract.evals.criteria],
            "governance.ai_act": contract.governance.ai_act,
            "change_note": contract.change_note,
        }
        return tuple(each for place, part in parts.items() for each in _inside(place, part))

    @cached_property
    def sample_values(self) -> int:
        """How many values all samples hold."""
        return sum(place == "prompt.samples" for place, _, _ in self.values)

    @property
    def providers(self) -> tuple[tuple[str, Provider], ...]:
        """Every provider with its place, the primary first."""
        fallbacks = enumerate(self.contract.providers.fallbacks)
        return (
            ("providers.primary", self.contract.providers.primary),
            *((f"providers.fallbacks.{n}", each) for n, each in fallbacks),
        )

    @property
    def strict(self) -> bool:
        """Whether the providers are asked to enforce the schema."""
        return self.contract.providers.output == "strict"


def _inside(place: str, part: Any) -> Iterator[tuple[str, Any, int]]:
    waiting = [(part, 0)]
    while waiting:
        value, depth = waiting.pop()
        yield place, value, depth
        if depth > MAX_DEPTH:
            return
        below = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        if isinstance(below, list | tuple):
            waiting += [(each, depth + 1) for each in below]


def plain(schema: Schema) -> dict[str, Any] | bool:
    """A schema as the comparison takes it."""
    return schema if isinstance(schema, bool) else dict(schema)


def text(value: Any, limit: int = 60) -> str:
    """A value as it may stand in a sentence: short, on one line, without characters that steer a terminal."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value))
    return shown if len(shown) <= limit else f"{shown[:limit]}…"
