"""What a contract holds: the six parts of an AI feature, as values that cannot change.

A contract is also a JSON document (`Contract.document()`); `contract.document` reads one and says what is
wrong with it. Its digest is taken over the document's own bytes, property order of schemas included: what
reaches the model is what was judged.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from beleg.contract.encoding import encode
from beleg.contract.tools import Tool

Schema = Mapping[str, Any] | bool
Tier = Literal[1, 2, 3]
FALLBACK_REASONS = ("timeout", "connection", "rate_limit", "server_error")
"""What lets a fallback step in. A refusal and a bad request never do: an outage rule is no way around a no."""


@dataclass(frozen=True)
class Variable:
    """An input of the prompt: what the calling code hands over."""

    name: str
    schema: Schema
    required: bool = True
    untrusted: bool = False
    """Text of strangers: it is delimited when rendered and may not stand in the system part."""
    description: str = ""


@dataclass(frozen=True)
class Prompt:
    """The instruction to the model: templates with `{{ variable }}`, and inputs to try them with."""

    system: str
    user: str
    variables: tuple[Variable, ...] = ()
    samples: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Provider:
    """A model at a provider, and how to ask it."""

    provider: str
    model: str
    api: Literal["chat", "responses", "messages"]
    base_url: str | None = None
    api_key_env: str | None = None
    """Name of the environment variable with the key; the key itself never stands in a contract."""
    region: str | None = None
    timeout_s: float | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None


@dataclass(frozen=True)
class Providers:
    """The primary choice and what steps in for it."""

    primary: Provider
    fallbacks: tuple[Provider, ...] = ()
    fallback_on: tuple[str, ...] = FALLBACK_REASONS
    attempts: int = 2
    """Tries per provider before the next one is asked."""
    repair_attempts: int = 0
    """0 or 1: whether an answer that breaks the schema is sent back once with what is wrong."""
    output: Literal["strict", "validated"] = "validated"
    """`strict` asks the provider to enforce the schema; the SDK validates in any case."""


@dataclass(frozen=True)
class Criterion:
    """What quality means: a scorer, the least it must reach, and how much worse than the baseline is allowed."""

    name: str
    scorer: str
    kind: Literal["binary", "score", "cost", "latency"]
    threshold: float
    margin: float | None = None
    critical: bool = False


@dataclass(frozen=True)
class Evals:
    """By which cases and criteria a version is judged."""

    dataset: str
    criteria: tuple[Criterion, ...]


@dataclass(frozen=True)
class Governance:
    """Who answers for the feature, as far as its risk tier asks."""

    oversight: str = ""
    incident_contact: str = ""
    log_retention_days: int | None = None
    discloses_ai: bool | None = None
    ai_act: Mapping[str, Any] = field(default_factory=dict)
    """The assessment under the AI Act (role, annex III area, art. 6(3), art. 50): not the same as the tier."""


@dataclass(frozen=True)
class Migration:
    """What readers of the last major must do, and until when they may stay on it."""

    note: str
    deadline: date


@dataclass(frozen=True)
class Budget:
    """The most that a model may have to hold in its head, in tokens as `beleg.contract.tokens` estimates them."""

    held_tokens: int | None = None
    """Of the largest cohort: instructions, tools, index of playbooks and the largest body."""
    cohorts: Mapping[str, int] = field(default_factory=dict)
    """Cohort → a limit of its own, beside that of all."""


@dataclass(frozen=True)
class Contract:
    """One state of a feature's definition, draft or published."""

    feature: str
    risk_tier: Tier
    prompt: Prompt
    output_schema: Schema
    providers: Providers
    evals: Evals
    workflow: str = ""
    """The workflow it serves: `beleg.prompt` of that workflow takes its prompt from here."""
    risk_owner: str = ""
    """Whose approval tier 3 asks for by name."""
    tools: tuple[Tool, ...] = ()
    examples: tuple[Any, ...] = ()
    """Answers as they should look; each must be valid under the output schema."""
    governance: Governance = field(default_factory=Governance)
    author: str = ""
    """Who made this draft; approvers must be others."""
    change_note: str = ""
    migration: Migration | None = None
    budget: Budget | None = None

    def document(self) -> dict[str, Any]:
        """The contract as JSON-ready values, in a fixed order of parts; None and empty parts are left out."""
        from beleg.contract.document import document  # noqa: PLC0415 - the two describe each other

        return document(self)

    @property
    def digest(self) -> str:
        """64 hex digits over the document's bytes; approvals, evidence and traces name it."""
        return hashlib.sha256(encode(self.document())).hexdigest()
