"""A tool that is called seldom is put in question with what it costs, and never said to go."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from beleg.agent.toolsets import Group, Toolset
from beleg.agent.toolsets.seldom import Use, seldom
from beleg.agent.verbs import Roles
from beleg.cli.agent import register
from tests.events import event
from tests.flow.support import Installation
from tests.invoke import run

core = Group("core", rank=1)


@core.tool(binding=False, effect="read")
def look_up(words: str) -> str:
    """Looks something up."""
    return words


@core.tool(binding=False, effect="draft")
def rare_tool(words: str) -> str:
    """Does what is needed once in a quarter."""
    return words


@core.tool(binding=False, effect="draft", keep="without it a wrong entry stays wrong")
def correct_entry(words: str) -> str:
    """Puts right what was entered wrongly."""
    return words


ROLES = Roles(toolset=Toolset([core]), contexts={"owner": None}, family="o200k", beside=())
COHORT = ROLES.toolset.cohort_of(None)
app = typer.Typer()
register(app)


def test_case_38_a_rare_tool_is_told_by_its_cost_and_never_to_be_removed() -> None:
    uses = [
        Use("rare_tool", 9_000, 1, 700 * 9_000),
        Use("correct_entry", 9_000, 1, 700 * 9_000),
        Use("look_up", 9_000, 4_000, 60 * 9_000),
        Use("gone_since", 9_000, 0, 700 * 9_000),
    ]
    (found,) = seldom(uses, ROLES.toolset.tools)
    assert found.tool == "rare_tool"
    assert found.sentence == (
        "700 tokens × 9000 requests = 6300000 tokens, 6300000 for each call: keep (say why), defer or merge"
    )
    assert "remove" not in found.sentence


def test_a_tool_that_nobody_called_costs_all_of_its_tokens_for_nothing() -> None:
    never = Use("rare_tool", 10, 0, 7_000)
    assert never.tokens_per_call is None
    assert never.sentence.startswith("700 tokens × 10 requests = 7000 tokens and no call")


@pytest.mark.parametrize(("requests", "calls", "is_seldom"), [(0, 0, False), (1_000, 1, False), (1_001, 1, True)])
def test_seldom_is_less_than_one_in_a_thousand(requests: int, calls: int, is_seldom: bool) -> None:
    assert Use("x", requests, calls, 0).is_seldom is is_seldom


def traced() -> Iterator[dict[str, Any]]:
    yield event("toolset", f"toolset-{COHORT.digest}", **COHORT.event("o200k"))
    yield event("run_started", "r", run_id="r", workflow="copilot")
    for n in range(1_200):
        at = f"2030-01-01T12:{n // 60:02d}:{n % 60:02d}Z"
        usage = {"input_uncached": 900, "output": 9}
        yield event("step", f"m{n}", at, run_id="r", toolset_hash=COHORT.digest, buckets=usage)
        if n % 4 == 0:
            yield event("step", f"t{n}", at, run_id="r", kind="tool", tool_name="look_up")
    for name in ("rare_tool", "correct_entry"):
        yield event("step", name, "2030-01-01T12:30:00Z", run_id="r", kind="tool", tool_name=name)


def test_the_command_reads_offers_and_calls_from_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Installation(tmp_path)
    there.take(*traced())
    monkeypatch.setenv("BELEG_HOME", str(there.settings.home))
    words = ["agent", "seldom", f"{__name__}:ROLES"]
    told = json.loads(run(app, *words, "--json").stdout)
    tokens = {each["name"]: each["tokens"] for each in COHORT.event("o200k")["tools"]}["rare_tool"]
    (row,) = told["tools"]
    assert (row["tool"], row["requests"], row["calls"]) == ("rare_tool", 1_200, 1)
    assert row["tokens"] == row["tokens_per_call"] == 1_200 * tokens
    assert told["kept"] == {"correct_entry": "without it a wrong entry stays wrong"}
    assert "rare_tool" in run(app, *words).stdout
    assert "rare_tool" not in run(app, *words, "--to", "2029-12-31").stdout
