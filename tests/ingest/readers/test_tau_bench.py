"""τ-bench's trajectories, real ones and small ones."""

import csv
import gzip
import json
from pathlib import Path

from tests.ingest.readers.samples.tau_bench import trial
from tests.ingest.readers.support import Home, assert_adds_up, events, refusals, stage, write


def test_the_real_trials_are_runs_solved_or_not_and_their_calls_are_unpriced(tmp_path: Path, test_data: Path) -> None:
    with (test_data / "tau-bench" / "trials.csv").open(encoding="utf-8", newline="") as file:
        trials = list(csv.DictReader(file))
    home = Home(tmp_path)
    home.take(test_data / "tau-bench" / "gpt-4o-airline.json.gz")
    solved = sum(one["reward"] == "1.0" for one in trials)
    runs = "SELECT count(*), count(*) FILTER (status = 'succeeded'), count(*) FILTER (purpose = 'eval') FROM run_costs"
    assert home.one(runs) == (200, solved, 200)
    calls = (
        "SELECT count(*) FILTER (kind = 'tool'), count(*) FILTER (kind = 'tool' AND status = 'failed'), "
        "count(*) FILTER (name = 'assistant'), count(*) FILTER (unpriced_reason = 'missing_usage'), "
        "count(cost_pico_usd) FILTER (kind = 'model') FROM step_costs"
    )
    answers, users = 2_454, 195  # of five trials nobody says what the user whom a model plays cost
    tools, failed = (sum(int(one[name]) for one in trials) for name in ("n_tool_calls", "n_tool_errors"))
    assert home.one(calls) == (tools, failed, answers, answers + users, 0)
    charged = round(sum(float(one["user_cost_usd"] or 0) for one in trials) * 10**12)
    (source,) = home.one("SELECT CAST(sum(raw_usage['source_cost_pico_usd']) AS BIGINT) FROM steps")
    assert abs(source - charged) <= 200


def test_the_same_trials_in_another_file_are_the_same_runs(tmp_path: Path) -> None:
    whole = write(tmp_path, "all.json.gz", gzip.compress(json.dumps([trial(), trial(trial=1)]).encode()))
    part = write(tmp_path, "part.json", [trial(trial=1)])
    staged = [stage(tmp_path / path.stem, path) for path in (whole, part)]
    found = [{event["run_id"] for event in events(one, "run_started")} for one in staged]
    assert len(found[0]) == 2
    assert found[1] < found[0]


def test_a_malformed_trial_stops_no_other(tmp_path: Path) -> None:
    staged = stage(tmp_path / "s", write(tmp_path, "t.json", [trial(), trial(traj=[{"content": "x"}]), 5]))
    assert_adds_up(staged)
    assert refusals(staged) == [(2, "unreadable_item"), (3, "unreadable_item")]
