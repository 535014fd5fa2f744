"""A contract pins what the toolset offers, and is told when it is no longer that."""

import pytest

from beleg.agent.adapters.contract import check_pins, contract_tools
from beleg.agent.example.agent import ROLES, TOOLSET
from beleg.agent.toolsets import Group, Toolset
from beleg.core.errors import CheckFailed
from tests.agent.offered import numbered


def test_every_tool_is_pinned_and_none_binds() -> None:
    tools = contract_tools(TOOLSET.tools.values(), ROLES.reviews)
    assert len(tools) == 102
    assert not any(tool.binding for tool in tools)
    assert all(tool.digest == tool.pin() for tool in tools)
    assert [tool.name for tool in tools if tool.reviewed_by] == ["draft_payment"]
    check_pins(TOOLSET.tools, tools)


def test_a_changed_and_a_lost_tool_are_named() -> None:
    pinned = contract_tools(Toolset([numbered(Group("core", rank=1), "look", "find")]).tools.values())
    group = Group("core", rank=1)
    group.tool(binding=False, effect="read", name="look", version="2.0.0", description="Looks twice.")(lambda: None)
    with pytest.raises(CheckFailed, match=r"`find` 1\.0\.0 is gone; `look` is 2\.0\.0 \(\w{12}\), pinned is 1\.0\.0"):
        check_pins(Toolset([group]).tools, pinned)
