"""What the model had to hold, and which playbooks were open meanwhile."""

from typing import Any

from tests.agent.stats.support import GPT, claude, minute
from tests.cost.support import Lake


def lake_with(**values: Any) -> Lake:
    lake = Lake()
    lake.start("run", workflow="chat", feature="bookkeeping", contract_version="1.0.0", **values)
    lake.toolset("T", ("a", 700), ("b", 300), cohort="core")
    lake.layout(
        "L",
        ("core_tools[0]", 700),
        ("tools", 300),
        ("instructions", 500),
        ("facts", None),
        ("workflows", 90),
        ("cohort_workflows", 10),
        ("toolsmith", 7),
    )
    return lake


PARTS = "cohort, requests, tool_tokens::INT, instruction_tokens::INT, index_tokens::INT, body_tokens::INT"


def test_tools_are_counted_once_and_segments_by_what_they_are_for() -> None:
    lake = lake_with()
    claude(lake, 0, toolset_hash="T", layout_hash="L")
    rows = lake.build().rows(f"SELECT {PARTS}, held_tokens::INT, max_held_tokens FROM held_tokens")
    assert rows == [("core", 1, 1000, 507, 100, 0, 1607, 1607)]


def test_a_mean_is_over_the_requests_it_is_known_for() -> None:
    lake = lake_with()
    lake.toolset("U", ("a", None), ("b", 300), cohort="core")
    claude(lake, 0, toolset_hash="T", layout_hash="L")
    claude(lake, 1, toolset_hash="U", layout_hash="L")
    claude(lake, 2, toolset_hash="T", layout_hash="unknown")
    columns = "requests, tool_requests, offered_tools::INT, counted_tool_requests, layout_requests, held_requests"
    rows = lake.build().rows(f"SELECT {columns}, held_tokens::INT FROM held_tokens")
    assert rows == [(3, 3, 6, 2, 2, 1, 1607)]


def test_runs_without_any_surroundings_are_in_no_row() -> None:
    lake = lake_with()
    lake.step(**GPT, input_uncached=5)
    lake.step(kind="tool", tool_name="a")
    assert lake.build().rows("SELECT * FROM held_tokens") == []


def test_versions_of_a_contract_are_a_trend() -> None:
    lake = lake_with()
    lake.start("next", workflow="chat", feature="bookkeeping", contract_version="1.1.0")
    lake.toolset("U", ("a", 700), cohort="core")
    claude(lake, 0, toolset_hash="T", layout_hash="L")
    claude(lake, 0, run="next", toolset_hash="U", layout_hash="L")
    rows = lake.build().rows("SELECT contract_version, held_tokens::INT FROM held_tokens")
    assert rows == [("1.0.0", 1607), ("1.1.0", 1307)]


def test_a_body_is_by_how_much_the_prompt_grew_when_it_was_opened() -> None:
    """The answer before is in the prompt as well, and no part of the body."""
    lake = lake_with()
    given: dict[str, Any] = {"toolset_hash": "T", "layout_hash": "L"}
    claude(lake, 0, input_uncached=2000, output=40, **given)
    claude(lake, 1, input_uncached=2640, output=5, playbook="vat-return", **given)
    claude(lake, 2, input_uncached=2700, output=5, playbook="vat-return", **given)
    claude(lake, 3, input_uncached=2750, output=5, **given)
    columns = "playbook_requests, measured_body_requests, body_tokens::INT, held_tokens::INT, max_held_tokens"
    rows = lake.build().rows(f"SELECT {columns} FROM held_tokens")
    assert rows == [(2, 2, 2 * 600, 4 * 1607 + 2 * 600, 2207)]


def test_a_body_that_was_there_from_the_start_is_not_measured() -> None:
    lake = lake_with()
    claude(lake, 0, playbook="vat-return", layout_hash="L")
    rows = lake.build().rows("SELECT playbook_requests, measured_body_requests, body_tokens::INT FROM held_tokens")
    assert rows == [(1, 0, 0)]


def test_opening_another_playbook_is_a_new_stretch_and_a_shrinking_prompt_is_no_negative_body() -> None:
    lake = lake_with()
    for at, tokens, playbook in ((0, 1000, None), (1, 1500, "one"), (2, 1200, "two"), (3, 1800, "one")):
        claude(lake, at, input_uncached=tokens, output=0, playbook=playbook, toolset_hash="T")
    lake.build()
    assert lake.one("SELECT body_tokens::INT FROM held_tokens") == 500 + 0 + 600
    rows = lake.rows("SELECT playbook, openings, requests FROM playbook_hits")
    assert rows == [("one", 2, 2), ("two", 1, 1)]


def test_playbooks_are_told_with_what_happened_while_they_were_open() -> None:
    lake = lake_with()
    claude(lake, 0)
    lake.step("run", kind="tool", tool_name="get_workflow_details", playbook="vat-return", at=minute(0.5))
    claude(lake, 1, playbook="vat-return")
    for at, status in ((1.1, "succeeded"), (1.2, "failed")):
        lake.step("run", kind="tool", tool_name="post", status=status, at=minute(at))
    claude(lake, 2, playbook="vat-return", status="failed")
    lake.step("run", provider="nobody", model="new", input_uncached=1, playbook="vat-return", at=minute(3))
    claude(lake, 4)
    lake.step("run", kind="tool", tool_name="post", status="failed", at=minute(5))
    columns = "playbook, runs, openings, requests, failed_requests, tool_calls, failed_tool_calls, unpriced_requests"
    rows = lake.build().rows(f"SELECT {columns} FROM playbook_hits")
    assert rows == [("vat-return", 1, 1, 3, 1, 3, 1, 1)]
    cost = "SELECT sum(cost_pico_usd)::BIGINT FROM"
    assert lake.one(f"{cost} playbook_hits") == lake.one(f"{cost} step_costs WHERE playbook IS NOT NULL")


def test_opening_and_closing_in_turn_counts_each_time() -> None:
    lake = lake_with()
    for at, playbook in enumerate(("p", None, "p", "p", None)):
        claude(lake, at, playbook=playbook)
    assert lake.build().rows("SELECT openings, requests, runs FROM playbook_hits") == [(2, 3, 1)]
