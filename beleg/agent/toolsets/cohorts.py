"""How many different tool lists there are, and how much of the prompt their users share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from beleg.agent.toolsets.account import tools_tokens
from beleg.agent.toolsets.offer import Cohort
from beleg.agent.toolsets.tool import AgentTool
from beleg.agent.toolsets.toolset import Toolset
from beleg.contract.tokens import Counter, Estimate, estimate


@dataclass(frozen=True)
class Shared:
    """What two cohorts have in common at the start of their tool lists."""

    first: str
    second: str
    tools: int
    tokens: Estimate
    share: float
    """Of the larger of the two lists, in tokens."""
    share_by_name: float
    """The same if tools were sorted by name alone."""


@dataclass(frozen=True)
class CohortReport:
    """The cohorts of some contexts."""

    cohorts: Mapping[str, Cohort]
    members: Mapping[str, tuple[str, ...]]
    """Names of contexts by cohort."""
    shared: tuple[Shared, ...]
    warnings: tuple[str, ...]


def cohorts(
    toolset: Toolset[Any],
    contexts: Mapping[str, Any],
    family: str,
    *,
    users: Mapping[str, int] | None = None,
    by: Counter = estimate,
) -> CohortReport:
    """What the named contexts are offered, how much each two share, and what stands in the way of more.

    `users` says how many users each context stands for: with it, groups in the wrong order are named.
    """
    found: dict[str, Cohort] = {}
    members: dict[str, tuple[str, ...]] = {}
    for name, context in contexts.items():
        cohort = toolset.for_context(context).cohort
        found[cohort.name] = cohort
        members[cohort.name] = (*members.get(cohort.name, ()), name)
    shared = tuple(_shared(a, b, family, by) for a, b in combinations(found.values(), 2))
    return CohortReport(found, members, shared, tuple(_warnings(toolset, found, members, users or {})))


def common(first: tuple[AgentTool, ...], second: tuple[AgentTool, ...]) -> tuple[AgentTool, ...]:
    """The tools at the start that are the same bytes in both."""
    count = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a.data != b.data), None)
    return first[: min(len(first), len(second)) if count is None else count]


def _shared(a: Cohort, b: Cohort, family: str, by: Counter) -> Shared:
    most = max(tools_tokens(each.tools, family, by).tokens for each in (a, b)) or 1
    same = common(a.tools, b.tools)
    tokens = tools_tokens(same, family, by)
    named = tools_tokens(common(_sorted(a), _sorted(b)), family, by)
    return Shared(a.name, b.name, len(same), tokens, tokens.tokens / most, named.tokens / most)


def _sorted(cohort: Cohort) -> tuple[AgentTool, ...]:
    return tuple(sorted(cohort.tools, key=lambda tool: tool.name))


def _warnings(
    toolset: Toolset[Any], found: Mapping[str, Cohort], members: Mapping[str, tuple[str, ...]], users: Mapping[str, int]
) -> Iterator[str]:
    if len(found) > toolset.max_cohorts:
        yield f"{len(found)} cohorts are more than {toolset.max_cohorts}: too few users share each prompt"
    width = {group.name: 0 for group in toolset.groups if group.when is not None}
    for name, cohort in found.items():
        for group in width.keys() - {group.name for group in cohort.left_out}:
            width[group] += sum(users.get(context, 0) for context in members[name])
    seen = [(name, count) for name, count in width.items() if count]
    for (narrow, least), (wide, most) in pairwise(seen):
        if most > least:
            yield f"group `{wide}` has {most} users and stands after `{narrow}` with {least}: rank it earlier"
