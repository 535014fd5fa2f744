"""A run that is killed between any two steps: the next one goes on, and every event is there exactly once."""

import os
import signal
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from beleg.evals import results
from beleg.evals.scoring.order import Order
from beleg.evals.scoring.run import run
from tests.contract.client.released import FEATURE
from tests.contract.run.double import Act
from tests.evals.scoring.house import House, case
from tests.evals.scoring.model import Model, right

SCORERS = 6


Moment = tuple[str, str, int]
"""A step of the run, before or after it, and for the how-manieth time."""
NEVER: Moment = ("beleg.lake.publication:append_fact", "before", 10**9)


def process(moment: Moment, *options: str) -> subprocess.CompletedProcess[bytes]:
    """A run in a process of its own, which kills itself at the moment."""
    command = [sys.executable, "-m", "tests.evals.scoring.dying", *map(str, moment), "run", FEATURE, "--json", *options]
    return subprocess.run(command, env=dict(os.environ), check=False, capture_output=True, timeout=120)


@pytest.mark.parametrize(
    ("moment", "workers"),
    [
        (("beleg.lake.publication:append_fact", "before", 2), 1),
        (("beleg.lake.publication:append_fact", "after", 2), 1),
        (("beleg.evals.results:event_line", "before", 2 * SCORERS + 9), 1),
        (("beleg.lake.publication:append_fact", "after", 3), 3),
    ],
)
def test_killed_run_goes_on(house: House, model: Model, moment: Moment, workers: int) -> None:
    house.freeze(case(n) for n in range(5))
    drafted = house.draft()
    died = process(moment, "--workers", str(workers))
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    survived = house.sent()
    kept = {path: path.read_bytes() for path in house.settings.home.glob("evals/*/*/journal.jsonl")}
    report = run(house.settings, house.registry, Order(FEATURE))
    assert (report.state, report.left) == ("complete", 0)
    assert report.before == sum(data.count(b"\n") for data in kept.values()) > 0
    # What was under way when the process died is asked again: no more than one question a worker.
    assert 5 <= len(model.asked) <= 5 + workers
    house.ingest()
    found = results.read(house.settings, FEATURE, [drafted.digest], report.dataset.digest)
    assert Counter(each.case_id for each in found) == {case(n).case_id: SCORERS for n in range(5)}
    assert set(survived) <= set(found)
    assert {each.attempt for each in found} == {1}


def test_two_processes_at_once_ask_nothing_twice(house: House, model: Model) -> None:
    house.freeze(case(n) for n in range(3))
    house.draft()
    second: list[subprocess.CompletedProcess[bytes] | None] = []

    def meanwhile(body: dict[str, Any], number: int) -> Act:
        if not second:
            second.append(None)
            second[0] = process(NEVER)
        return right(body, number)

    model.choose = meanwhile
    first = process(NEVER, "--workers", "1")
    assert first.returncode == 0, first.stderr.decode()
    assert second[0] is not None
    assert second[0].returncode == 1
    assert b"Busy" in second[0].stderr
    assert sorted(model.asked) == [0, 1, 2]
    assert len(house.sent()) == 3 * SCORERS
