"""Finds playbooks that name tools: such as nobody has, as this user is not offered, or as no agent may have."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol

from beleg.agent.finding import Finding
from beleg.agent.playbooks.index import Playbooks
from beleg.agent.playbooks.playbook import Playbook
from beleg.contract.binding import signs
from beleg.contract.tools import Tool

_CODE = re.compile(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(\([^`\n]*\))?`")


class OfferedTool(Protocol):
    """What lint looks at of a tool; `beleg.agent.toolsets.AgentTool` is one."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def group(self) -> str:
        """The group it is offered with."""

    @property
    def input_schema(self) -> Mapping[str, Any]:
        """The schema of its arguments."""


def of_tools(
    playbooks: Playbooks, offered: Mapping[str, tuple[OfferedTool, ...]], declared: Iterable[OfferedTool]
) -> Iterator[Finding]:
    """What is wrong with the tools that playbooks name, for each cohort."""
    everything = {tool.name: tool for tools in (*offered.values(), declared) for tool in tools}
    yield from _unknown(playbooks, everything)
    yield from _unlisted(playbooks, offered)
    for name, tools in offered.items():
        yield from _absent(playbooks, name, tools, everything)


def mentioned(playbook: Playbook, names: Collection[str]) -> set[str]:
    """The tools among `names` that a playbook needs or names."""
    return (set(re.findall(r"\w+", playbook.body)) & set(names)) | playbook.tools


def _unknown(playbooks: Playbooks, everything: Mapping[str, OfferedTool]) -> Iterator[Finding]:
    names = set(everything)
    known = names | {name for tool in everything.values() for name in _properties(tool)}
    verbs = {name.partition("_")[0] for name in names}
    for each in playbooks.all:
        for name in sorted(each.tools - names):
            yield _missing(each.name, name, "`beleg.tools` names")
        written = {found[1]: bool(found[2]) for found in _CODE.finditer(each.body) if found[1] not in known}
        for name, is_called in sorted(written.items()):
            if is_called or name.partition("_")[0] in verbs or _is_act(name):  # else a field or a status
                yield _missing(each.name, name, "the body names")


def _missing(playbook: str, name: str, who: str) -> Finding:
    if _is_act(name):
        fix = "hand over a link: a person submits, pays and sends"
        return Finding("binding-act", "error", playbook, f"{who} `{name}`, a verb that no agent has", fix)
    fix = "name a tool that exists; the model searches for this one, and invents a way"
    return Finding("tool-unknown", "error", playbook, f"{who} `{name}`, which nobody is offered", fix)


def _is_act(name: str) -> bool:
    tool = Tool(name=name, version="", description="", input_schema={}, binding=False, digest="")
    return any(sign.kind == "act" for sign in signs(tool))


def _properties(tool: OfferedTool) -> set[str]:
    properties = tool.input_schema.get("properties")
    return set(properties) if isinstance(properties, Mapping) else set()


def _unlisted(playbooks: Playbooks, offered: Mapping[str, tuple[OfferedTool, ...]]) -> Iterator[Finding]:
    groups = [{tool.group for tool in tools} for tools in offered.values()]
    for each in playbooks.all:
        if not any(each.when <= held for held in groups):
            sentence = f"no cohort that was looked at is offered {', '.join(sorted(each.when))}"
            yield Finding("unlisted", "info", each.name, sentence, "add a context that is, or correct `beleg.when`")


def _absent(
    playbooks: Playbooks, cohort: str, tools: tuple[OfferedTool, ...], everything: Mapping[str, OfferedTool]
) -> Iterator[Finding]:
    here = {tool.name for tool in tools}
    for each in playbooks.for_groups({tool.group for tool in tools}).all:
        for name in sorted((mentioned(each, everything) & set(everything)) - here):
            sentence = f"it names `{name}`, which cohort {cohort} is not offered"
            fix = f"add `beleg.when: {everything[name].group}` under `metadata`, or do without the tool"
            yield Finding("tool-absent", "error", f"{each.name} for {cohort}", sentence, fix)
