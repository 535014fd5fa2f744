"""The example agent: `beleg agent audit beleg.agent.example.agent:ROLES`."""

import threading
from pathlib import Path
from typing import Any

from beleg.agent.example import groups
from beleg.agent.example.context import Company, Context, User
from beleg.agent.example.flows import corporate_tax, founding, questionnaire, trade
from beleg.agent.example.tools import (
    accounts,
    banking,
    customers,
    guidance,
    invoices,
    payroll,
    receipts,
    review,
    taxes,
    transactions,
)
from beleg.agent.flows import Store, Stored
from beleg.agent.toolsets import Group, Toolset
from beleg.agent.verbs import Authority, Roles, read_reviews

MODULES = (accounts, banking, customers, guidance, invoices, payroll, receipts, review, taxes, transactions)
"""The ten modules that declare their tools when they are imported."""
FLOWS: tuple[tuple[Group, Any], ...] = (
    (groups.questionnaire, questionnaire),
    (groups.corporate_tax, corporate_tax),
    (groups.founding, founding),
    (groups.trade, trade),
)
"""The four whose tools stand on a store, with the group that each toolset makes anew on its own."""


class MemoryStore:
    """Records of flows that last as long as the process: enough for a recipe."""

    def __init__(self) -> None:
        self._rows: dict[str, Stored] = {}
        self._lock = threading.Lock()

    def read(self, record_id: str) -> Stored | None:
        """The record as it is now; None where there is none."""
        return self._rows.get(record_id)

    def replace(self, record_id: str, old: Stored | None, new: Stored) -> bool:
        """Write `new` if the record is still `old`."""
        with self._lock:
            if self._rows.get(record_id) != old:
                return False
            self._rows[record_id] = new
            return True


def toolset(store: Store, *more: Group) -> Toolset[Context]:
    """The 102 tools, those of the flows on a store, and the tools of `more` groups."""
    return Toolset((*groups.STANDING, *(_on(store, group, module) for group, module in FLOWS), *more))


def _on(store: Store, like: Group, module: Any) -> Group:
    group = Group(like.name, rank=like.rank, when=like.when)
    for tool in module.tools(store):
        group.tool(binding=False, effect="read" if tool.__name__.startswith("get_") else "draft")(tool)
    return group


TOOLSET = toolset(MemoryStore())
CONTEXTS = {
    "freelancer": Context(),
    "company": Context(company=Company(is_incorporated=True, is_new=False, has_employees=True)),
    "tax_adviser": Context(User("tax_adviser"), Company(is_incorporated=True, is_new=False)),
}
"""The three of the account: a freelancer in the first year, a company with employees, and its tax adviser."""
BEGINNERS = {
    "founder": Context(company=Company(is_founding=True)),
    "new_company": Context(company=Company(is_incorporated=True)),
}
"""Those for whom the long flows are: beside the three, so that every group is looked at for somebody."""
ROLES = Roles(
    toolset=TOOLSET,
    contexts={**CONTEXTS, **BEGINNERS},
    family="o200k",
    reviews=read_reviews(Path(__file__).with_name("reviews.yaml")),
    authorities=(
        Authority("database role of the agent", "UPDATE on the columns submitted_at, paid_on and sent_on"),
        Authority("client of the tax office's interface", "any credential: it runs in the app alone"),
    ),
    beside=(),
)
