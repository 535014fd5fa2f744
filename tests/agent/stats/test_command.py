"""`beleg agent stats` on a published store."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from beleg.cli.main import app
from beleg.core.errors import CheckFailed, UsageError
from tests.agent.stats.test_flow import L, M, U, call, layout, request, start, toolset
from tests.flow.support import Installation
from tests.invoke import run

FIRST = datetime(2030, 1, 1, 12, tzinfo=UTC)
READ, WRITE = 300_000, 3_750_000


def days() -> Iterator[dict[str, Any]]:
    """Ten days: a copilot with two tools of 900 tokens, one of which nobody calls; a prompt that changes on day 5."""
    yield from (toolset(at=FIRST), toolset(U, at=FIRST, tokens=950), layout(at=FIRST), layout(M, at=FIRST, tokens=510))
    for day in range(10):
        at, run_id = FIRST + timedelta(days=day), f"r{day}"
        version = "1.1.0" if day >= 5 else "1.0.0"
        yield start(run_id, at) | {"feature": "copilot", "contract_version": version, "prompt_version": version}
        yield request(run_id, at, layout_hash=M if day >= 5 else L)
        yield call(run_id, at + timedelta(seconds=5), "search")
        read = 1800 if day == 4 else 2000
        then = at + timedelta(minutes=1)
        yield request(run_id, then, read=read, write=2000 - read, layout_hash=M if day >= 4 else L)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    made = Installation.begun(tmp_path, *days())
    monkeypatch.setenv("BELEG_HOME", str(made.settings.home))
    return made


def told(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(app, "agent", "stats", *words, "--json").stdout)
    return found


def test_every_figure_follows_from_the_requests(there: Installation) -> None:
    found = told()
    assert (found["from"], found["to"]) == ("2029-12-12", "2030-01-10")
    (surface,) = found["surface"]
    assert (surface["runs"], surface["offered_runs"], surface["max_tools_offered"]) == (10, 10, 2)
    written, read = 10 * 1800 * WRITE, 10 * 1800 * READ
    assert surface["tax_usd"] == f"{(written + read) / 10**12:.6f}"
    assert (surface["offering_requests"], surface["sent_tokens"], surface["untaxed_requests"]) == (20, 36_000, 0)
    by_name = {tool["tool_name"]: tool for tool in found["tools"]}
    assert by_name["search"]["tokens_per_call"] == 20 * 900 // 10
    idle = by_name["post"]
    assert (idle["is_idle"], idle["calls"], idle["days_offered"], idle["tokens_per_call"]) == (True, 0, 10, None)
    assert idle["month_usd"] == f"{(written + read) / 2 * 3 / 10**12:.6f}"  # half of it, ten days of thirty
    assert [(row["contract_version"], row["held_tokens"], row["held_requests"]) for row in found["held"]] == [
        ("1.0.0", 9 * 2300 + 2310, 10),
        ("1.1.0", 10 * 2310, 10),
    ]
    changed = [row for row in found["misses"] if row["cause"] == "layout_changed"]
    assert [(row["detail"], row["missed_tokens"], row["example_run_id"]) for row in changed] == [
        ("instructions", 200, "r4")
    ]
    warm = [(row["layout_hash"], row["hit_requests"], row["warm_requests"]) for row in found["layouts"]]
    assert warm == [(L, 4, 4), (M, 0, 1), (M, 5, 5)]


def test_days_reach_back_from_the_last_day_with_a_run(there: Installation) -> None:
    found = told("--days", "3")
    assert (found["from"], found["to"], found["surface"][0]["runs"]) == ("2030-01-08", "2030-01-10", 3)
    assert {tool["days_offered"] for tool in found["tools"]} == {3}
    assert told("--days", str(2**63 - 1))["surface"][0]["runs"] == 10


def test_people_see_the_same(there: Installation) -> None:
    shown = run(app, "agent", "stats", "--workflow", "chat").stdout
    assert "Offered and never called: keep (say why), defer or merge" in shown
    assert "layout_changed" in shown
    assert "copilot 1.1.0" in shown


def test_a_workflow_without_runs_is_an_error_that_says_what_to_do(there: Installation) -> None:
    with pytest.raises(CheckFailed, match="'nobody' in these 30 days: `beleg costs` lists workflows"):
        told("--workflow", "nobody")


def test_without_a_publication_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path / "none"))
    with pytest.raises(UsageError, match="holds no figures yet"):
        told()


def test_a_cost_that_nothing_tells_is_unknown_not_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Installation(tmp_path)
    made.take(toolset(at=FIRST), start("a", FIRST), request("a", FIRST, provider="own", model="local"))
    monkeypatch.setenv("BELEG_HOME", str(made.settings.home))
    assert {tool["month_usd"] for tool in told()["tools"]} == {None}
