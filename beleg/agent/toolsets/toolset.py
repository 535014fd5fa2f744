"""Which tools a user is offered: a pure function of the user's context, core first."""

import logging
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Generic

from beleg.agent.toolsets.conditions import Condition
from beleg.agent.toolsets.declare import Group
from beleg.agent.toolsets.offer import C, Cohort, Offer
from beleg.agent.toolsets.tool import AgentTool
from beleg.core.errors import UsageError

MOST_TOOLS = 50
"""Past about so many tools, models get measurably worse at choosing among them."""
log = logging.getLogger("beleg.agent")


class Toolset(Generic[C]):
    """Groups of tools, frozen when it is built; `for_context` gives what one user is offered.

    Order is (core or not, rank, group, tool): what everybody has comes first, so that users with different
    tools still share a prefix. At most `max_cohorts` cohorts are kept and expected; more are served and logged.
    """

    def __init__(self, groups: Iterable[Group], *, max_cohorts: int = 32) -> None:
        self.groups = tuple(sorted(groups, key=lambda group: (group.when is not None, group.rank, group.name)))
        self.max_cohorts = max_cohorts
        self.tools: Mapping[str, AgentTool] = MappingProxyType(_by_name(self.groups))
        self.conditions = _conditions(self.groups)
        self._cohorts: dict[tuple[bool, ...], Cohort] = {}
        for group in self.groups:
            group.close()

    def for_context(self, context: C) -> Offer[C]:
        """What a user is offered. The same context gives the same bytes, in every process.

        Raises UsageError for a condition that cannot be decided.
        """
        return Offer(context, self.cohort_of(context))

    def cohort_of(self, context: C) -> Cohort:
        """Everybody who is offered the same; raises UsageError as `for_context`."""
        key = tuple([condition.check(context) for condition in self.conditions])
        return self._cohorts.get(key) or self._cohort(key)

    def _cohort(self, key: tuple[bool, ...]) -> Cohort:
        held = {condition.name for condition, holds in zip(self.conditions, key, strict=True) if holds}
        offered = tuple(group for group in self.groups if group.when is None or group.when.name in held)
        cohort = Cohort.of(offered, tuple(group for group in self.groups if group not in offered))
        if len(cohort.by_name) > MOST_TOOLS:
            log.warning("cohort %s is offered %d tools, past %d", cohort.name, len(cohort.by_name), MOST_TOOLS)
        if len(self._cohorts) < self.max_cohorts:
            self._cohorts[key] = cohort
        else:
            log.warning("more than %d cohorts: %s shares its prompt with few", self.max_cohorts, cohort.name)
        return cohort


def _by_name(groups: tuple[Group, ...]) -> dict[str, AgentTool]:
    found: dict[str, AgentTool] = {}
    folded: dict[str, AgentTool] = {}
    for group in groups:
        for tool in group.tools:
            same = folded.setdefault(tool.name.casefold(), tool)
            if same is not tool:
                named = f"`{same.name}` and `{tool.name}`"
                raise UsageError(
                    f"groups `{same.group}` and `{group.name}` both have a tool {named}: case tells none apart"
                )
            found[tool.name] = tool
    return found


def _conditions(groups: tuple[Group, ...]) -> tuple[Condition, ...]:
    """Each once, in the order of the groups; known by name, since a predicate need not be hashable."""
    found: dict[str, Condition] = {}
    for condition in (group.when for group in groups if group.when is not None):
        if found.setdefault(condition.name, condition) != condition:
            raise UsageError(f"two conditions have one name: {condition.name}")
    names = [each.name for each in groups]
    if len(set(names)) < len(names):
        raise UsageError(f"two groups have one name: {', '.join(sorted(names))}")
    return tuple(found.values())
