"""The report's sections on agents."""

from pathlib import Path
from typing import Any

from beleg.core.settings import Settings
from beleg.report import render
from tests.report.support import DAY, make_database
from tests.report.test_render import HOSTILE, USD, costs, text_of

TOOL: dict[str, Any] = {"business_day": DAY, "purpose": "production", "workflow": "chat", "offering_requests": 10}
TRAFFIC: dict[str, Any] = {"business_day": DAY, "purpose": "production"}


def page(settings: Settings, tmp_path: Path, **rows: Any) -> str:
    make_database(settings, unit_costs=[costs()], **rows)
    return text_of(render(settings, tmp_path / "report.html").read_text(encoding="utf-8"))


def test_the_widest_surface_stands_beside_its_traffic(settings: Settings, tmp_path: Path) -> None:
    shown = page(
        settings,
        tmp_path,
        workflow_traffic=[
            {**TRAFFIC, "workflow": "ocr", "runs": 5000, "max_tools_called": 0},
            {**TRAFFIC, "workflow": "chat", "runs": 7, "offered_runs": 7, "offered_tools": 714, "max_tools_called": 4},
        ],
        tool_usage=[
            {**TOOL, "tool_name": "used", "calls": 2, "tax_pico_usd": 2 * USD},
            {**TOOL, "tool_name": "idle", "calls": 0, "tax_pico_usd": USD},
        ],
        held_tokens=[{**TRAFFIC, "workflow": "chat", "held_requests": 10, "held_tokens": 9_000}],
    )
    assert "ocr 5,000 — 0 — — — — chat 7 102.0 4 1 900.0 3.00 1.00" in shown


def test_a_tax_that_nothing_tells_is_unknown(settings: Settings, tmp_path: Path) -> None:
    shown = page(
        settings,
        tmp_path,
        workflow_traffic=[{**TRAFFIC, "workflow": "chat", "runs": 7}],
        tool_usage=[{**TOOL, "tool_name": "a", "calls": 1, "untaxed_requests": 10}],
    )
    assert "chat 7 — 0 0 — — —" in shown


def test_without_tools_the_section_says_so(settings: Settings, tmp_path: Path) -> None:
    shown = page(settings, tmp_path, workflow_traffic=[{**TRAFFIC, "workflow": "ocr", "runs": 5}])
    assert "No run was offered a tool or called one." in shown
    assert "No request missed the cache." in shown


def test_misses_are_told_with_cause_and_loss_and_hits_only_in_the_share(settings: Settings, tmp_path: Path) -> None:
    one = {**TRAFFIC, "workflow": "chat", "unknown_loss_requests": 0}
    shown = page(
        settings,
        tmp_path,
        cache_misses=[
            {**one, "cause": "hit", "requests": 90},
            {
                **one,
                "cause": "layout_changed",
                "detail": HOSTILE,
                "requests": 10,
                "missed_tokens": 500,
                "lost_pico_usd": USD,
                "example_run_id": "run-7",
            },
        ],
    )
    assert "10 10.0 % 500 1.00 run-7" in shown
    assert "chat prompt changed &lt;script&gt;" in shown
    assert "chat hit" not in shown
