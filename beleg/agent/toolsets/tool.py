"""A tool as declared: what a model sees of it, what it may do, and the function behind it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from beleg.agent.toolsets.schema import Check
from beleg.contract.binding import Sign
from beleg.contract.tools import pin

Effect = Literal["read", "draft", "write"]
"""What a call does at most: nothing, prepare what a person decides on, or change what can be changed back."""
Refuse = Callable[[Mapping[str, Any], str], Any]
"""What a tool answers to arguments that its schema refused, from those and the refusal."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AgentTool:
    """A tool as declared. `function` is called by `Offer.call` and by nothing else."""

    name: str
    version: str
    description: str
    input_schema: Mapping[str, Any]
    effect: Effect
    group: str
    function: Callable[..., Any] = field(repr=False)
    check: Check = field(repr=False)
    takes_context: bool
    writable: frozenset[str]
    """The names that a free-form parameter may write; empty where there is no such parameter."""
    data: bytes = field(repr=False)
    """What a model sees of it: canonical JSON of name, description and input schema."""
    keep: str | None
    """Why it stays however seldom it is called; None where nobody has said."""
    refuse: Refuse | None = field(repr=False)
    """None: a refusal is raised. A function has one as its attribute `refuse`."""
    signs: tuple[Sign, ...] = field(repr=False)
    """Everything by which it sounds binding or universal, for the audit."""

    @property
    def digest(self) -> str:
        """The pin that a contract holds: 64 hex digits over name, version, description and input schema."""
        return pin(self.name, self.version, self.description, self.input_schema)

    @property
    def definition(self) -> dict[str, Any]:
        """What a model sees of it, without a provider's form; new each time, so that no change to it shows."""
        found: dict[str, Any] = json.loads(self.data)
        return found
