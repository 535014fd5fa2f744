"""One playbook: when it applies, and what the model reads when it does."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

DIGEST_CHARS = 16
OPENING = re.compile(r'<workflow name="([^"\n]{1,64})" digest="([0-9a-f]{16})">\n')


@dataclass(frozen=True, kw_only=True)
class Playbook:
    """A workflow in the form of Agent Skills, `SKILL.md` in a folder of its name.

    What Beleg adds stands under `metadata`, so that the file stays valid everywhere: `beleg.when` (groups of
    tools without which the playbook is not listed), `beleg.tools` (tools it needs), `beleg.flow` (the flow it
    walks through) and `beleg.rank` (place in the index, 0 first).
    """

    name: str
    trigger: str
    """When it applies: the `description` in one line."""
    body: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def when(self) -> frozenset[str]:
        """Groups of tools that must all be offered; empty: everybody's."""
        return frozenset(self.metadata.get("beleg.when", "").split())

    @property
    def tools(self) -> frozenset[str]:
        """Tools that it says it needs."""
        return frozenset(self.metadata.get("beleg.tools", "").split())

    @property
    def flow(self) -> str | None:
        """The flow that it walks through."""
        return self.metadata.get("beleg.flow") or None

    @property
    def rank(self) -> int:
        """Place in the index; 0 where nothing sensible is said."""
        rank = self.metadata.get("beleg.rank", "")
        return int(rank) if re.fullmatch(r"-?[0-9]{1,9}", rank) else 0

    @cached_property
    def digest(self) -> str:
        """16 hex digits over the body."""
        return digest(self.body)

    @property
    def entry(self) -> str:
        """Its line of the index."""
        return f"- {self.name}: {self.trigger}"

    @property
    def opened(self) -> str:
        """What `get_workflow_details` answers: the body between marks by which it can be found again."""
        mark = f'<workflow name="{self.name}" digest="{self.digest}">'
        return f"{mark}\n{self.body}\n{closing(self.digest)}"


def digest(body: str) -> str:
    """16 hex digits over a body."""
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]


def closing(digest: str) -> str:
    """The mark behind a body. It holds the body's digest, which no body can contain."""
    return f"</workflow:{digest}>"
