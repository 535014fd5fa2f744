"""The copilot of the demo: every user's own tools, playbooks by index, a prompt that keeps what is shared first.

It is the example agent (`beleg.agent.example`), traced as an application would trace it. Until the new prompt version
its prompt holds a mistake that many make: it begins with the time of day.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from beleg.agent.adapters.answer import answer
from beleg.agent.example.agent import MemoryStore, toolset
from beleg.agent.example.context import Context
from beleg.agent.example.prompt import INSTRUCTIONS, PLAYBOOKS, WORKFLOWS
from beleg.agent.layout import Layout, Prompt, Segment, rules
from beleg.agent.playbooks import keep_one_body
from beleg.agent.toolsets import Cohort, Offer
from beleg.demo.company import NEW_PROMPT_US, SECOND_US, SONNET
from beleg.demo.errands import ERRANDS, Errand, context_of
from beleg.demo.vendor import PrefixCache

FAMILY = "claude"
OPENS = "get_workflow_details"
"""The tool that opens a playbook; the library traces its call."""


@dataclass(frozen=True)
class Turn:
    """What one request is made of."""

    offer: Offer[Context]
    tenant: str
    messages: list[Any]
    at_us: int


@cache
def _core_tools(cohort: Cohort) -> str:
    return "".join(tool.data.decode() for tool in cohort.tools[: cohort.core])


@cache
def _cohort_tools(cohort: Cohort) -> str:
    return "".join(tool.data.decode() for tool in cohort.tools[cohort.core :])


@cache
def _cohort_workflows(cohort: Cohort) -> str:
    theirs = PLAYBOOKS.for_groups({tool.group for tool in cohort.tools}).all
    return "".join(f"{each.entry}\n" for each in theirs if each.when)


def _time_of_day(turn: Turn) -> str:
    return f"It is {datetime.fromtimestamp(turn.at_us // SECOND_US, UTC):%Y-%m-%d %H:%M:%S}.\n"


_SEGMENTS: tuple[Segment[Turn], ...] = (
    Segment(name="core_tools", scope="static", part="tools", make=lambda turn: _core_tools(turn.offer.cohort)),
    Segment(name="cohort_tools", scope="cohort", part="tools", make=lambda turn: _cohort_tools(turn.offer.cohort)),
    Segment(name="instructions", scope="static", make=INSTRUCTIONS),
    Segment(name="workflows", scope="static", make=PLAYBOOKS.for_groups(()).index()),
    Segment(name="cohort_workflows", scope="cohort", make=lambda turn: _cohort_workflows(turn.offer.cohort)),
    Segment(name="company", scope="tenant", make=lambda turn: f"\nThe company: {turn.tenant}.\n"),
    Segment(name="conversation", scope="conversation", part="messages", make=lambda turn: turn.messages),
)
_CLOCK: Segment[Turn] = Segment(name="time_of_day", scope="turn", make=_time_of_day)
PROMPTS: tuple[Prompt[Turn], Prompt[Turn]] = (
    Prompt((*_SEGMENTS[:2], _CLOCK, *_SEGMENTS[2:]), in_order=True),
    Prompt(_SEGMENTS),
)
"""Before and from NEW_PROMPT_US on."""


class Copilot:
    """What all chats of a demo share: the toolset, the records of flows, and the provider's cache."""

    def __init__(self) -> None:
        self.toolset = toolset(MemoryStore(), WORKFLOWS)
        self.rules = rules(SONNET.provider)
        self.cache = PrefixCache(self.rules, SONNET.name)
        self._recorded: dict[tuple[str, bool], Mapping[str, str]] = {}

    def chat(self, tenant: str) -> "Chat":
        """A conversation with whoever asks at a tenant."""
        return Chat(self, tenant, self.toolset.for_context(context_of(tenant)))

    def surroundings(self, chat: "Chat", layout: Layout, *, is_new: bool) -> Mapping[str, str]:
        """The hashes for a step; toolset and layout are written into the trace where they were not before."""
        key = (chat.offer.cohort.digest, is_new)
        if key not in self._recorded:
            written = chat.offer.cohort.record(FAMILY), layout.record(FAMILY)
            self._recorded[key] = dict(zip(("toolset_hash", "layout_hash"), written, strict=True))
        return self._recorded[key]


class Chat:
    """One conversation: its messages, its open playbook, and what the model is sent."""

    def __init__(self, copilot: Copilot, tenant: str, offer: Offer[Context]) -> None:
        self.offer = offer
        self.tenant = tenant
        self.messages: list[Any] = []
        self.playbook: str | None = None
        """The one that is open."""
        self.revision: Any = None
        """What the last answer of a flow gave."""
        self._copilot = copilot

    @property
    def errands(self) -> list[Errand]:
        """What this user's tools allow."""
        return [each for each in ERRANDS if each.needs <= self.offer.cohort.by_name.keys()]

    def say(self, role: str, content: Any) -> None:
        """Add a message."""
        self.messages.append({"role": role, "content": content})

    def request(self, at_us: int) -> tuple[Mapping[str, int], Mapping[str, Any]]:
        """What the provider counts of a request now, and what its step says of the surroundings."""
        is_new = at_us >= NEW_PROMPT_US
        turn = Turn(self.offer, self.tenant, self.messages, at_us)
        layout = PROMPTS[is_new].render(turn, rules=self._copilot.rules, model=SONNET.name)
        named = self._copilot.surroundings(self, layout, is_new=is_new)
        opened = {"playbook": self.playbook} if self.playbook else {}
        return self._copilot.cache.take(layout, at_us), {**named, **opened}

    def call(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Call an offered tool and add its answer; of opened playbooks only the last one keeps its body."""
        said = answer(self.offer, name, arguments)
        if isinstance(said.data, dict):
            self.revision = said.data.get("revision", self.revision)
        self.say("user", [{"type": "tool_result", "content": said.text}])
        if name == OPENS:
            self.playbook = arguments["name"]
            self.messages = keep_one_body(self.messages)
