"""What is said between a feature and a model, in no provider's words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from beleg.contract.model import Provider
from beleg.contract.tools import Tool

Mode = Literal["native", "tool", "prompted"]
"""How the schema is told: enforced by the provider, as a tool's arguments, or in the prompt."""
Stop = Literal["end", "length", "refusal"]


@dataclass(frozen=True)
class ToolCall:
    """The model wants a tool; `arguments` is a string where they are no JSON."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True)
class Said:
    """Our words."""

    text: str


@dataclass(frozen=True)
class Reply:
    """The model's words."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = "end"


@dataclass(frozen=True)
class ToolResults:
    """What the tools gave back, one text per call."""

    results: tuple[tuple[ToolCall, str], ...]


Turn = Said | Reply | ToolResults


@dataclass(frozen=True)
class Form:
    """The form the answer is asked for in."""

    mode: Mode
    name: str
    schema: Mapping[str, Any] | bool
    """As the provider gets it."""


@dataclass(frozen=True)
class Ask:
    """One question to one provider."""

    provider: Provider
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...]
    form: Form


class Malformed(Exception):
    """The provider's answer is not of its own wire format."""
