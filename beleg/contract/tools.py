"""A tool as a contract, a toolset and the audit see it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool that a feature may call, pinned to one version of its description.

    `binding` has no default: whoever writes a tool down says whether calling it binds someone (submits,
    pays, sends). A binding tool can be part of no contract and no toolset.
    """

    name: str
    version: str
    description: str
    input_schema: Mapping[str, Any]
    binding: bool
    digest: str
    """The pin: 64 hex digits over name, version, description and input schema (`pin`)."""
    reviewed_by: str | None = None
    """Who looked at a tool that sounds binding but says it is not."""
    reviewed_why: str | None = None

    def pin(self) -> str:
        """What `digest` must be for the tool as it stands here."""
        return pin(self.name, self.version, self.description, self.input_schema)


def pin(name: str, version: str, description: str, input_schema: Mapping[str, Any]) -> str:
    """64 hex digits over what the model gets to see of a tool; order of properties counts."""
    seen = [name, version, description, input_schema]
    return hashlib.sha256(json.dumps(seen, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
