"""Tools as an agent contract holds them: pinned, and never binding."""

from collections.abc import Iterable, Mapping

from beleg.agent.playbooks.account import account
from beleg.agent.playbooks.index import Playbooks
from beleg.agent.toolsets.offer import Cohort
from beleg.agent.toolsets.tool import AgentTool
from beleg.agent.verbs.reviews import Review
from beleg.contract.surroundings import Offered, Surroundings
from beleg.contract.tools import Tool
from beleg.core.errors import CheckFailed


def contract_tools(tools: Iterable[AgentTool], reviews: Iterable[Review] = ()) -> tuple[Tool, ...]:
    """The tools of a toolset or an offer as a contract pins them, with who reviewed those that sound binding."""
    by_pin = {(each.tool, each.digest): each for each in reviews}
    return tuple(_tool(tool, by_pin) for tool in tools)


def check_pins(tools: Mapping[str, AgentTool], pinned: Iterable[Tool]) -> None:
    """Raises CheckFailed that names every pinned tool which is gone or is no longer what was pinned."""
    wrong = []
    for pin in pinned:
        tool = tools.get(pin.name)
        if tool is None:
            wrong.append(f"`{pin.name}` {pin.version} is gone")
        elif tool.digest != pin.digest:
            wrong.append(
                f"`{pin.name}` is {tool.version} ({tool.digest[:12]}), pinned is {pin.version} ({pin.digest[:12]})"
            )
    if wrong:
        raise CheckFailed(f"the toolset is not what the contract pins: {'; '.join(wrong)}")


def surroundings(cohorts: Iterable[Cohort], family: str, playbooks: Playbooks | None = None) -> Surroundings:
    """What each cohort is offered, for the budget of a contract: pins, and tokens of what playbooks take.

    Raises UsageError for an unknown family of models.
    """
    return Surroundings(family, {each.name: _offered(each, family, playbooks or Playbooks(())) for each in cohorts})


def _offered(cohort: Cohort, family: str, playbooks: Playbooks) -> Offered:
    counted = account(playbooks.for_groups({tool.group for tool in cohort.tools}), family)
    return Offered(tuple(tool.digest for tool in cohort.tools), counted.index, counted.largest)


def _tool(tool: AgentTool, reviews: Mapping[tuple[str, str], Review]) -> Tool:
    review = reviews.get((tool.name, tool.digest))
    return Tool(
        name=tool.name,
        version=tool.version,
        description=tool.description,
        input_schema=tool.input_schema,
        binding=False,
        digest=tool.digest,
        reviewed_by=review.by if review else None,
        reviewed_why=review.why if review else None,
    )
