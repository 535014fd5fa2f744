"""A small toolset for three kinds of user."""

from dataclasses import dataclass
from typing import Any

from beleg.agent.toolsets import Group, Toolset, fact


@dataclass(frozen=True)
class Person:
    name: str = "Ada"
    is_incorporated: bool = False
    role: str = "owner"


FREELANCER, COMPANY, ADVISER = Person(), Person("Bob", True), Person("Eve", True, "tax_adviser")


def numbered(group: Group, *names: str, schema: dict[str, Any] | None = None) -> Group:
    """The group with a reading tool for each name, which answers with its name and arguments."""
    for name in names:
        text = schema or {"type": "object", "properties": {"text": {"type": "string"}}}
        group.tool(binding=False, effect="read", name=name, description=f"Looks at {name}.", input_schema=text)(
            lambda name=name, **given: {"tool": name, **given}
        )
    return group


def groups() -> list[Group]:
    core, accounts, review = (
        Group("core", rank=1),
        Group("accounts", rank=2, when=fact("is_incorporated")),
        Group("review", rank=3, when=fact("role", "tax_adviser")),
    )

    @core.tool(binding=False, effect="read")
    def whoami(context: Person) -> dict[str, str]:
        """Says who asks."""
        return {"name": context.name}

    @core.tool(binding=False, effect="draft")
    def draft_note(context: Person, text: str, times: int = 1) -> dict[str, Any]:
        """Prepares a note."""
        return {"by": context.name, "text": text * times}

    numbered(accounts, "aaa_list_accounts", "get_balance")
    numbered(review, "list_clients", "compare_clients")
    return [core, accounts, review]


def toolset() -> Toolset[Person]:
    return Toolset(groups())
