"""200 real trajectories of a tool-calling agent: what they carry is counted, what they do not is unknown."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.events import event
from tests.flow.support import Installation

FIRST = datetime(2030, 3, 1, tzinfo=UTC)


def trajectories(folder: Path) -> list[dict[str, Any]]:
    with gzip.open(folder / "tau-bench" / "gpt-4o-airline.json.gz", "rt", encoding="utf-8") as file:
        found: list[dict[str, Any]] = json.load(file)
    return found


def events(trajectory: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """A run a trajectory, a second a message; the file knows no usage, and of the tools only those called."""
    run, begun = f"{trajectory['task_id']}-{trajectory['trial']}", FIRST + timedelta(minutes=15 * number)
    yield event("run_started", f"{run}-start", _text(begun), run_id=run, workflow="airline")
    for place, message in enumerate(trajectory["traj"]):
        identity = {"event_id": f"{run}-{place}", "event_time": _text(begun + timedelta(seconds=place))}
        if message["role"] == "assistant":
            yield event("step", **identity, run_id=run, provider="openai", model="gpt-4o")
        elif message["role"] == "tool":
            status = "failed" if message["content"].startswith("Error") else "succeeded"
            yield event("step", **identity, run_id=run, kind="tool", tool_name=message["name"], status=status)


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


@pytest.fixture(scope="module")
def known(test_data: Path) -> list[dict[str, Any]]:
    return trajectories(test_data)


@pytest.fixture(scope="module")
def there(known: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("tau"))
    made.take(*(one for number, each in enumerate(known) for one in events(each, number)))
    return made


def test_calls_and_failures_are_those_of_the_file(known: list[dict[str, Any]], there: Installation) -> None:
    messages = [m for each in known for m in each["traj"] if m["role"] == "tool"]
    calls = Counter(m["name"] for m in messages)
    failed = Counter(m["name"] for m in messages if m["content"].startswith("Error"))
    rows = there.ask("SELECT tool_name, sum(calls)::INT, sum(failed_calls)::INT FROM tool_usage GROUP BY tool_name")
    assert sorted(rows) == sorted((name, n, failed[name]) for name, n in calls.items())
    assert sum(calls.values()) == 1164
    assert sum(failed.values()) == 73


def test_what_the_file_does_not_tell_is_unknown(there: Installation) -> None:
    unknown = "offering_requests, offering_runs, definition_tokens, toolset_hash, cohort"
    assert there.ask(f"SELECT DISTINCT {unknown} FROM tool_usage") == [(None, None, None, None, None)]
    assert there.ask("SELECT count(*) FROM held_tokens") == [(0,)]
    assert there.ask("SELECT count(*) FROM cache_misses") == [(0,)]
    assert there.ask("SELECT sum(offered_runs), max(max_tools_offered) FROM workflow_traffic") == [(0, None)]


def test_the_widest_run_called_as_many_tools_as_the_file_says(known: list[dict[str, Any]], there: Installation) -> None:
    widest = max(len({m["name"] for m in each["traj"] if m["role"] == "tool"}) for each in known)
    assert there.ask("SELECT sum(runs), max(max_tools_called) FROM workflow_traffic") == [(200, widest)]


def test_runs_that_called_a_tool_are_counted_once_for_it(known: list[dict[str, Any]], there: Installation) -> None:
    calling = Counter(name for each in known for name in {m["name"] for m in each["traj"] if m["role"] == "tool"})
    rows = there.ask("SELECT tool_name, sum(calling_runs)::INT FROM tool_usage GROUP BY tool_name")
    assert dict(rows) == dict(calling)
