"""Tools that are offered often and called seldom: what a call costs, and that this alone is no reason to drop one.

Correcting a wrong entry is rare, and the reason to have the tool. So the answer is never "remove": whoever knows why a
tool is there says so once, `group.tool(…, keep="why")`, and it is no longer listed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from beleg.agent.toolsets.tool import AgentTool

SELDOM = 1_000
"""Requests that offer a tool for each that calls it, from which on it is called seldom."""


@dataclass(frozen=True)
class Use:
    """What traces tell of one tool, in any unit of time."""

    tool: str
    requests: int
    """Requests that offered it."""
    calls: int
    tokens: int
    """Of its definition in all these requests together."""

    @property
    def is_seldom(self) -> bool:
        """Whether requests offered it, and hardly any called it."""
        return self.requests > self.calls * SELDOM

    @property
    def tokens_per_call(self) -> int | None:
        """Definition tokens that were sent for each call; None where there was no call."""
        return self.tokens // self.calls if self.calls else None

    @property
    def sentence(self) -> str:
        """What it costs, and what can be done about it."""
        each = f"{self.tokens // max(1, self.requests)} tokens × {self.requests} requests = {self.tokens} tokens"
        cost = (
            f"{each} and no call" if self.tokens_per_call is None else f"{each}, {self.tokens_per_call} for each call"
        )
        return f"{cost}: keep (say why), defer or merge"


def seldom(uses: Iterable[Use], tools: Mapping[str, AgentTool]) -> list[Use]:
    """Those of the declared tools that are called seldom and not marked as kept, the dearest first."""
    open_to_question = (each for each in uses if each.tool in tools and tools[each.tool].keep is None)
    return sorted((each for each in open_to_question if each.is_seldom), key=lambda each: (-each.tokens, each.tool))
