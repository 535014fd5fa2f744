"""What `beleg agent layout check MODULE:NAME` is pointed at: a prompt, and users to render it for."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beleg.agent.layout.layout import Layout, Prompt
from beleg.agent.layout.rules import ANY, Rules, rules
from beleg.core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A context to render for, and whose it is. Two of different companies are the least that shows anything."""

    context: Any
    tenant: str
    user: str = ""
    conversation: str = ""
    cohort: str = ""
    """Users with the same tools: the name that the toolset gives."""

    @property
    def belongs(self) -> dict[str, str]:
        """What each scope is for it."""
        return {
            "cohort": self.cohort,
            "tenant": self.tenant,
            "user": self.user or self.tenant,
            "conversation": self.conversation or self.user or self.tenant,
        }


@dataclass(frozen=True, kw_only=True)
class Samples:
    """A prompt with samples by name, and the provider and model it is sent to."""

    prompt: Prompt[Any]
    samples: Mapping[str, Sample]
    provider: str | None = None
    model: str | None = None
    family: str = "o200k"
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rules(self) -> Rules:
        """The provider's rules; raises UsageError for an unknown one."""
        return ANY if self.provider is None else rules(self.provider)

    def render(self, name: str) -> Layout:
        """The layout of one sample."""
        context = self.samples[name].context
        return self.prompt.render(context, rules=self.rules, model=self.model, parameters=self.parameters)


def load_samples(target: str) -> Samples:
    """The Samples that `module:name` holds. Imports the module, thereby running it; raises UsageError."""
    module, _, name = target.partition(":")
    try:
        found = getattr(importlib.import_module(module), name or "SAMPLES", None)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{module!r} cannot be imported ({error}): give module:name") from error
    if not isinstance(found, Samples):
        raise UsageError(f"{target} is a {type(found).__name__}: give module:name of a beleg.agent.layout.Samples")
    return found
