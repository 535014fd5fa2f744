"""A calibration from a real lake: events go in as the tracer writes them, the account comes out corrected."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from beleg.agent.example.agent import ROLES
from beleg.agent.toolsets.account import tools_tokens
from beleg.cli.agent import register
from beleg.contract.tokens import estimate
from beleg.core.errors import UsageError
from tests.events import event
from tests.flow.support import Installation
from tests.invoke import run

EXAMPLE = ["agent", "account", "beleg.agent.example.agent:ROLES", "--family", "claude", "--calibrate"]
COHORTS = [ROLES.toolset.for_context(context).cohort for context in ROLES.contexts.values()]
LAYOUT = "d" * 64
app = typer.Typer()
register(app)


def surroundings(family: str = "claude") -> Iterator[dict[str, Any]]:
    for cohort in COHORTS:
        fields = cohort.event(family)
        yield event("toolset", f"toolset-{cohort.digest}", **fields)
    segments = [
        {"name": "core_tools[0]", "scope": "static", "tokens": 4_000},  # counted with the toolset
        {"name": "instructions", "scope": "static", "tokens": 300},
        {"name": "question", "scope": "turn"},
    ]
    yield event("layout", f"layout-{LAYOUT}", layout_hash=LAYOUT, segments=segments)


def requests(number: int, factor: float, **fields: Any) -> Iterator[dict[str, Any]]:
    """Runs of two requests each: the second holds a conversation that nobody counted."""
    rng = random.Random(7)
    for n in range(number):
        cohort = COHORTS[n % len(COHORTS)]
        counted = tools_tokens(cohort.tools, "claude").tokens + 300
        whole = round(counted * factor) + rng.randint(150, 450)
        yield event("run_started", f"r{n}", run_id=f"r{n}", workflow="copilot")
        for second, more in ((1, 0), (2, rng.randint(500, 20_000))):
            yield event(
                "step",
                f"r{n}-{second}",
                f"2030-01-01T12:00:0{second}Z",
                run_id=f"r{n}",
                toolset_hash=cohort.digest,
                layout_hash=LAYOUT,
                **{"provider": "anthropic", "model": "claude-sonnet-4-6", **fields},
                buckets={"input_uncached": whole - 1_000 + more, "cache_read": 1_000, "output": 9},
            )


def account(there: Installation, monkeypatch: pytest.MonkeyPatch, *words: str) -> Any:
    monkeypatch.setenv("BELEG_HOME", str(there.settings.home))
    return run(app, *EXAMPLE, *words)


def test_the_account_is_what_providers_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Installation(tmp_path)
    there.take(*surroundings(), *requests(200, 1.4))
    told = json.loads(account(there, monkeypatch, "--json").stdout)
    for role, context in ROLES.contexts.items():
        plain = tools_tokens(ROLES.toolset.for_context(context).tools, "claude")
        offered = told["roles"][role]["offered"]
        assert offered["tokens"] == pytest.approx(plain.tokens * 1.4, rel=0.03)
        assert offered["low"] < plain.tokens * 1.4 < offered["high"]
        assert offered["high"] - offered["low"] < plain.high - plain.low
        assert offered["tokenizer"] == "estimate:claude, calibrated by 200"


@pytest.mark.parametrize(
    ("traced", "said"),
    [
        ([*surroundings(), *requests(19, 1.4)], "19 requests are too few to calibrate by; 20 are needed"),
        ([*surroundings(), *requests(60, 1.4, model="gpt-4o", provider="openai")], "0 requests are too few"),
        ([*surroundings("o200k"), *requests(60, 1.4)], "0 requests are too few"),
    ],
    ids=["few", "another model", "traced with other estimates"],
)
def test_where_the_traces_do_not_tell_it_says_so_and_estimates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traced: list[dict[str, Any]], said: str
) -> None:
    there = Installation(tmp_path)
    there.take(*traced)
    result = account(there, monkeypatch, "--json")
    assert f"not calibrated: {said}" in result.stderr
    offered = json.loads(result.stdout)["roles"]["freelancer"]["offered"]
    assert offered["tokenizer"] == "estimate:claude"
    plain = [estimate(tool.data.decode(), "claude").tokens for tool in COHORTS[0].tools]
    assert offered["tokens"] == sum(plain)


def test_without_a_store_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="beleg ingest PATH"):
        run(app, *EXAMPLE)


def test_a_count_and_a_corrected_estimate_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="give one of them"):
        run(app, *EXAMPLE, "--exact")
