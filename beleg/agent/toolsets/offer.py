"""What one user is offered: the list a model sees and the only way to call what is on it are one object."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic

from typing_extensions import TypeVar

from beleg.agent.errors import ArgumentsRefused, ToolUnknown
from beleg.agent.record import record_once
from beleg.agent.toolsets.declare import Group
from beleg.agent.toolsets.tool import AgentTool
from beleg.contract.tokens import Counter, Estimate, estimate
from beleg.trace.fingerprint import fingerprint

C = TypeVar("C", default=Any)


@dataclass(frozen=True, eq=False)
class Cohort:
    """Everybody who is offered the same tools."""

    name: str
    """Its conditional groups, joined by `+`; `core` where there are none."""
    by_name: Mapping[str, AgentTool] = field(repr=False)
    """The dispatch table, in the order of the prompt."""
    core: int
    """How many tools at the start everybody has: where a cache breakpoint belongs."""
    left_out: tuple[Group, ...]
    data: bytes = field(repr=False)
    """The list as a model sees it, in canonical JSON: the same in every process."""
    digest: str
    """`toolset_hash`: 64 hex digits over the list."""

    @classmethod
    def of(cls, offered: tuple[Group, ...], left_out: tuple[Group, ...]) -> "Cohort":
        """The cohort of groups that are in order already."""
        tools = {tool.name: tool for group in offered for tool in group.tools}
        names = [group.name for group in offered if group.when is not None]
        name = "+".join(names) or "core"
        digest = fingerprint([tool.definition for tool in tools.values()])
        return cls(
            name=name if len(name) <= 200 else f"{name[:180]}…{digest[:12]}",
            by_name=MappingProxyType(tools),
            core=sum(len(group.tools) for group in offered if group.when is None),
            left_out=left_out,
            data=b"[" + b",".join(tool.data for tool in tools.values()) + b"]",
            digest=digest,
        )

    @property
    def tools(self) -> tuple[AgentTool, ...]:
        """The tools in the order of the prompt."""
        return tuple(self.by_name.values())

    def event(self, family: str, *, by: Counter = estimate) -> dict[str, Any]:
        """The fields of a `toolset` event: digest, cohort, and tools with their tokens."""
        tools = [
            {"name": tool.name, "tokens": tool_tokens(tool, family, by).tokens, "binding": False} for tool in self.tools
        ]
        return {"toolset_hash": self.digest, "cohort": self.name, "tools": tools}

    def record(self, family: str, *, by: Counter = estimate) -> str:
        """Write the `toolset` event once, and give the `toolset_hash` for `step(…)`."""
        return record_once("toolset", self.event(family, by=by))


@dataclass(frozen=True)
class Offer(Generic[C]):
    """A cohort's tools bound to one user's context."""

    context: C
    cohort: Cohort

    @property
    def tools(self) -> tuple[AgentTool, ...]:
        """The tools in the order of the prompt."""
        return self.cohort.tools

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call an offered tool; gives what its function gives, a coroutine for an async one.

        Raises ToolUnknown, in the same words, for a tool that does not exist and for one that others are
        offered; ArgumentsRefused for arguments outside of its schema, unless the tool answers those itself (a
        flow's does, with the whole state). Whatever the function raises passes.
        """
        asked: object = name  # as a model wrote it
        tool = self.cohort.by_name.get(asked) if isinstance(asked, str) else None
        if tool is None:
            raise ToolUnknown(f"there is no tool {str(name)[:80]!r}: call one of those that were offered")
        written: object = arguments
        try:
            given = _checked(tool, written)
        except ArgumentsRefused as refused:
            if tool.refuse is None:
                raise
            return tool.refuse(written if isinstance(written, Mapping) else {}, str(refused))
        return tool.function(context=self.context, **given) if tool.takes_context else tool.function(**given)


def _checked(tool: AgentTool, arguments: object) -> dict[str, Any]:
    if not isinstance(arguments, Mapping):
        raise ArgumentsRefused("arguments do not meet the schema: they are no object")
    return tool.check(arguments)


def tool_tokens(tool: AgentTool, family: str, by: Counter = estimate) -> Estimate:
    """Tokens of one definition."""
    return by(tool.data.decode(), family)
