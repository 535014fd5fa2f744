"""Tools declared once and offered by what a user can need: the same bytes for everybody in the same place."""

from beleg.agent.toolsets.account import Account, Month, account, month
from beleg.agent.toolsets.cohorts import CohortReport, cohorts
from beleg.agent.toolsets.conditions import Condition, fact
from beleg.agent.toolsets.declare import Group
from beleg.agent.toolsets.offer import Cohort, Offer
from beleg.agent.toolsets.tool import AgentTool, Effect
from beleg.agent.toolsets.toolset import Toolset

__all__ = [
    "Account",
    "AgentTool",
    "Cohort",
    "CohortReport",
    "Condition",
    "Effect",
    "Group",
    "Month",
    "Offer",
    "Toolset",
    "account",
    "cohorts",
    "fact",
    "month",
]
