"""An agent as the audit and the account look at it: its toolset, and a context for each role."""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beleg.agent.toolsets.toolset import Toolset
from beleg.agent.verbs.authority import Authority
from beleg.agent.verbs.reviews import Review
from beleg.contract.tools import Tool
from beleg.core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What `beleg agent audit MODULE:NAME` is pointed at."""

    toolset: Toolset[Any]
    contexts: Mapping[str, Any]
    """One context for each role, by its name."""
    family: str = "other"
    """The family of models it runs on."""
    reviews: tuple[Review, ...] = ()
    authorities: tuple[Authority, ...] = ()
    beside: tuple[Tool, ...] | None = None
    """Tools of other servers in the same host; None where the host is not known."""

    def __post_init__(self) -> None:
        """Raises UsageError for a role whose name can be no file's."""
        if odd := [name for name in self.contexts if not re.fullmatch(r"\w[\w-]{0,63}", name)]:
            raise UsageError(f"{odd[0][:80]!r} is no name of a role: letters, digits, `_` and `-`")


def load_roles(target: str) -> Roles:
    """The Roles that `module:name` holds. Imports the module, thereby running it; raises UsageError."""
    module, _, name = target.partition(":")
    try:
        found = getattr(importlib.import_module(module), name or "ROLES", None)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{module!r} cannot be imported ({error}): give module:name of a beleg.agent Roles") from error
    if not isinstance(found, Roles):
        raise UsageError(f"{target} is a {type(found).__name__}: give module:name of a beleg.agent.verbs.Roles")
    return found
