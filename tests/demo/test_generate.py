"""The demo's files: the same on every machine, valid, and holding exactly what the summary says."""

import gzip
import hashlib
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from beleg.core.paths import shipped
from beleg.demo import DemoSummary, as_of, write_demo
from beleg.demo.company import OWN, PRICE_CHANGE_US
from beleg.demo.events import instant
from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.reasons import Refusal

RUNS, SEED = 1_500, 11


class Lines:
    """All finished lines of a demo, judged, and its events after the latest revision won."""

    def __init__(self, folder: Path) -> None:
        judge = Judge(Limits(), [shipped("contracts", "events", "artifact", "shapes")])
        self.refused: Counter[str] = Counter()
        self.copies: defaultdict[tuple[str, str], list[bytes]] = defaultdict(list)
        for line in _finished_lines(folder, self.refused):
            verdict = judge.judge(line)
            if isinstance(verdict, Refusal):
                self.refused[verdict.reason] += 1
            else:
                event = orjson.loads(line)
                self.copies[event["source"], event["event_id"]].append(line)
        self.events = [_winner(lines) for lines in self.copies.values()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == kind]


def _winner(lines: list[bytes]) -> dict[str, Any]:
    events: list[dict[str, Any]] = [orjson.loads(line) for line in lines]
    return max(events, key=lambda event: event.get("revision") or event["event_time"])


def _finished_lines(folder: Path, refused: Counter[str]) -> Iterator[bytes]:
    for path in sorted(folder.iterdir()):
        *lines, rest = _content(path).split(b"\n")
        yield from lines
        if rest and not path.name.endswith(".open.jsonl"):
            refused["torn_line"] += 1


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "spool"


@pytest.fixture(scope="module")
def summary(folder: Path) -> DemoSummary:
    return write_demo(folder, runs=RUNS, seed=SEED)


@pytest.fixture(scope="module")
def lines(folder: Path, summary: DemoSummary) -> Lines:
    return Lines(folder)


def digest_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def test_another_process_with_other_settings_writes_the_same_bytes(
    folder: Path, summary: DemoSummary, tmp_path: Path
) -> None:
    code = "import sys, pathlib, beleg.demo as d; d.write_demo(pathlib.Path(sys.argv[1]), runs=1500, seed=11)"
    settings = {"BELEG_DISABLED": "1", "BELEG_TEAM": "mine", "BELEG_HASH_KEYS": '{"active": "k", "keys": {"k": "00"}}'}
    env = {"PYTHONHASHSEED": "7", **settings}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=env)
    assert digest_of(tmp_path) == digest_of(folder)


def test_another_seed_writes_other_events(folder: Path, summary: DemoSummary, tmp_path: Path) -> None:
    write_demo(tmp_path, runs=RUNS, seed=SEED + 1)
    assert digest_of(tmp_path) != digest_of(folder)


@pytest.mark.parametrize(("runs", "weeks"), [(1, 1), (37, 2), (500, 5)])
def test_makes_exactly_the_runs_asked_for(tmp_path: Path, runs: int, weeks: int) -> None:
    assert write_demo(tmp_path, runs=runs, weeks=weeks).runs == runs
    assert len(Lines(tmp_path).of("run_started")) == runs


@pytest.mark.parametrize(("runs", "weeks"), [(0, 5), (10, 0)])
def test_refuses_an_empty_demo(tmp_path: Path, runs: int, weeks: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        write_demo(tmp_path, runs=runs, weeks=weeks)


def test_ingest_would_refuse_the_planted_lines_and_no_other(summary: DemoSummary, lines: Lines) -> None:
    assert lines.refused == summary.quarantined


def test_every_kind_of_event_occurs_as_often_as_told(summary: DemoSummary, lines: Lines) -> None:
    assert Counter(event["event"] for event in lines.events) == summary.events
    assert set(summary.events) == {path.parent.name for path in shipped("contracts", "events").glob("*/v1.schema.json")}


def test_lines_add_up(summary: DemoSummary, lines: Lines) -> None:
    accepted = sum(len(copies) for copies in lines.copies.values())
    assert summary.accepted == accepted
    assert summary.read == accepted + sum(summary.quarantined.values()) + summary.pending
    assert summary.duplicates == sum(len(copies) - len(set(copies)) for copies in lines.copies.values())
    assert summary.superseded == sum(len(set(copies)) - 1 for copies in lines.copies.values())
    assert summary.duplicates > 0
    assert summary.superseded > 0


def test_runs_are_counted_by_workflow_and_purpose(summary: DemoSummary, lines: Lines) -> None:
    started = lines.of("run_started")
    assert Counter(run["workflow"] for run in started) == summary.runs_by_workflow
    assert Counter(run["purpose"] for run in started) == summary.runs_by_purpose
    assert Counter(run["status"] for run in lines.of("run_finished")) == summary.finished_by_status
    assert len(summary.runs_by_workflow) == 6


def test_tokens_count_each_call_once(summary: DemoSummary, lines: Lines) -> None:
    tokens: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for step in lines.of("step"):
        if step["source"] == "beleg":
            tokens[step.get("model", "")].update(step.get("buckets") or {})
    del tokens[""]
    assert {model: dict(+used) for model, used in tokens.items()} == summary.tokens


def test_every_call_of_a_model_was_read_from_an_answer_by_the_tracer(lines: Lines) -> None:
    used = [step for step in lines.of("step") if "buckets" in step and step["source"] == "beleg"]
    assert {step["usage_check"] for step in used} == {"ok"}
    assert {step["convention_evidence"] for step in used} >= {"declared", "identity"}
    assert {step["api"] for step in used} == {"messages", "responses", "chat", "generate_content"}
    assert all(step["raw_usage"] for step in used)


def test_runs_started_by_runs_know_their_parent_and_its_customer(lines: Lines) -> None:
    runs = {run["run_id"]: run for run in lines.of("run_started")}
    children = [run for run in runs.values() if "parent_run_id" in run]
    assert {runs[child["parent_run_id"]]["workflow"] for child in children} == {"vat_return"}
    assert all(runs[child["parent_run_id"]]["tenant"] == child["tenant"] for child in children)


def test_run_that_waited_goes_on_under_its_own_id(lines: Lines) -> None:
    states: defaultdict[str, list[str]] = defaultdict(list)
    for event in sorted(lines.of("run_status"), key=lambda event: event["event_time"]):
        states[event["run_id"]].append(event["status"])
    assert {tuple(seen) for seen in states.values()} <= {("needs_input",), ("needs_input", "running")}
    resumed = [run for run, seen in states.items() if len(seen) == 2]
    assert resumed
    assert set(resumed) <= {run["run_id"] for run in lines.of("run_finished")}


def test_the_own_models_cost_is_exact_across_the_price_change(summary: DemoSummary, lines: Lines) -> None:
    prices = {False: (120_000, 12_000, 480_000), True: (90_000, 9_000, 360_000)}
    cost = billed = 0
    for step in lines.of("step"):
        if step.get("model") == OWN.name and "buckets" in step:
            fresh, held, out = prices[step["event_time"] >= instant(PRICE_CHANGE_US)]
            used = step["buckets"]
            cost += used["input_uncached"] * fresh + used.get("cache_read", 0) * held + used["output"] * out
            billed += step["billed_pico_usd"]
    assert (summary.own_model_cost_pico_usd, summary.own_model_billed_pico_usd) == (cost, billed)
    assert billed > cost


def test_results_are_those_of_production_runs_that_hold(summary: DemoSummary, lines: Lines) -> None:
    production = {run["run_id"] for run in lines.of("run_started") if run["purpose"] == "production"}
    results: Counter[str] = Counter()
    for run in lines.of("run_finished"):
        if run["run_id"] in production:
            results.update(run.get("units", {}))
    outcomes = lines.of("outcome")
    taken_back = {outcome.get("retracts") for outcome in outcomes}
    results.update({o["kind"]: 0 for o in outcomes})
    for outcome in outcomes:
        if outcome["outcome_id"] not in taken_back:
            results[outcome["kind"]] += outcome["count"]
    assert results == summary.results


def test_nothing_lies_beyond_the_end(lines: Lines) -> None:
    end = as_of(5).strftime("%Y-%m-%dT%H:%M:%S")
    assert max(event["event_time"] for event in lines.events) < end


def test_the_default_demo_shows_what_reports_are_about(tmp_path: Path) -> None:
    write_demo(tmp_path, runs=6_000, seed=1)
    lines = Lines(tmp_path)
    steps = lines.of("step")
    assert {step.get("attempt_reason") for step in steps} >= {"retry", "fallback", "repair"}
    assert {bucket for step in steps for bucket in step.get("buckets") or ()} >= {
        "cache_read",
        "cache_write",
        "cache_write_5m",
        "cache_write_1h",
        "reasoning",
    }
    assert any(step.get("batch") for step in steps)
    assert any(step["kind"] == "model" and "buckets" not in step for step in steps)
    assert any(outcome.get("retracts") for outcome in lines.of("outcome"))
    assert any(run.get("parent_run_id") for run in lines.of("run_started"))
    assert any(event.get("supersedes") for event in lines.of("correction"))
    assert {run.get("exception_class") for run in lines.of("run_finished")} > {None}
    ended = {run["run_id"] for run in lines.of("run_finished")}
    assert any(run["run_id"] not in ended for run in lines.of("run_started"))
