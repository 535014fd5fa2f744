"""The recipes of docs/tracing.md as they stand, in real servers and workers, against a provider on this machine."""

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import beleg
from beleg.testing import assemble, capture
from beleg.trace import spool_files
from tests.trace.pages import execute, provider, write_module
from tests.trace.schemas import assert_valid, read_spool

Env = dict[str, str]
TASKS = 3


@pytest.fixture
def base_url() -> Iterator[str]:
    with provider() as url:
        yield url


@contextmanager
def _process(command: list[str], env: Env, ready: str, end: signal.Signals = signal.SIGTERM) -> Iterator[re.Match[str]]:
    """Start a server or worker, wait for the line that says it is ready, and end it as an operator would."""
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    seen = ""
    try:
        for line in process.stderr:
            seen += line
            found = re.search(ready, line)
            if found is not None:
                yield found
                break
        else:
            raise AssertionError(seen)
    finally:
        process.send_signal(end)
        process.communicate(timeout=30)


def _post(url: str, body: Any = None) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def _assert_nothing_leaked(spool: Path) -> None:
    assert b"PLANTED" not in b"".join(path.read_bytes() for path in spool.glob("*"))


@pytest.mark.parametrize(("heading", "package"), [("OpenAI", "openai"), ("Anthropic", "anthropic")])
def test_provider_sdk_recipe_records_the_call(base_url: str, heading: str, package: str) -> None:
    pytest.importorskip(package)
    with capture() as captured:
        execute(heading, BASE_URL=base_url)
    for event in captured.events:
        assert_valid(event)
    run = captured.only_run("faq")
    assert (run.tokens("input_uncached"), run.tokens("cache_read"), run.tokens("output")) == (7, 4, 7)
    assert run.steps[0]["provider"] == package
    captured.assert_no_trace_of("PLANTED", "What is a receipt?")


def test_langgraph_recipe_records_what_its_nodes_call(base_url: str) -> None:
    pytest.importorskip("langgraph")
    pytest.importorskip("openai")
    with capture() as captured:
        execute("LangGraph", BASE_URL=base_url)
    run = captured.only_run("invoice")
    assert [(step.get("name") or step["tool_name"], step["kind"]) for step in run.steps] == [
        ("extract", "model"),
        ("book", "tool"),
    ]
    assert run.tokens("output") == 7
    captured.assert_no_trace_of("PLANTED")


def test_fastapi_recipe_serves_many_at_once_and_records_each(
    spool: Path, tmp_path: Path, base_url: str, child_env: Env
) -> None:
    for package in ("fastapi", "uvicorn", "openai"):
        pytest.importorskip(package)
    write_module("FastAPI", tmp_path / "questions_app.py", base_url)
    command = [sys.executable, "-m", "uvicorn", "questions_app:app", "--app-dir", str(tmp_path), "--port", "0"]
    with _process(command, child_env, r"running on (http://[\d.:]+)") as ready, ThreadPoolExecutor(4) as pool:
        bodies = [{"topic": f"PLANTED {number}"} for number in range(8)]
        answers = list(pool.map(lambda body: _post(f"{ready[1]}/questions", body), bodies))
        _post(f"{ready[1]}/feedback/{answers[0]['run_id']}")
    events = read_spool(spool)
    runs = assemble(events)
    assert {answer["run_id"] for answer in answers} <= set(runs)
    assert [len(run.steps) for run in runs.values()] == [1] * 8
    assert {run.started["input_hash"] for run in runs.values()} == {beleg.fingerprint(body) for body in bodies}
    assert [event["run_id"] for event in events if event["event"] == "feedback"] == [answers[0]["run_id"]]
    # uvicorn ends itself with the signal it got, past all exit handlers: the pipeline seals what it left.
    spool_files.seal_dead(spool)
    assert spool_files.open_files(spool) == []
    _assert_nothing_leaked(spool)


def test_celery_recipe_loses_no_task_of_workers_that_live_for_one_task_each(
    spool: Path, tmp_path: Path, base_url: str, child_env: Env, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("celery", "openai"):
        pytest.importorskip(package)
    queue, results = tmp_path / "queue", tmp_path / "results"
    results.mkdir()
    folders = dict.fromkeys(("data_folder_in", "data_folder_out", "control_folder"), str(queue))
    more = f"worker.conf.update(broker_transport_options={{**{folders!r}, 'polling_interval': 0.05}})"
    env = {**child_env, "BROKER_URL": "filesystem://", "RESULT_URL": f"file://{results}"}
    write_module("Celery", tmp_path / "invoices_app.py", base_url, more)
    for name in ("BROKER_URL", "RESULT_URL"):
        monkeypatch.setenv(name, env[name])
    monkeypatch.syspath_prepend(tmp_path)
    queue.mkdir()
    app = importlib.import_module("invoices_app")
    sent = [app.categorise.delay(number) for number in range(TASKS)]
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), env["PYTHONPATH"]])
    options = ["--concurrency", "2", "--max-tasks-per-child", "1", "--without-gossip", "--without-mingle"]
    command = [sys.executable, "-m", "celery", "-A", "invoices_app", "worker", "--loglevel", "INFO", *options]
    with _process(command, env, r" ready\.", signal.SIGQUIT):  # at once; a warm shutdown takes seconds
        assert [task.get(timeout=30) for task in sent] == ["PLANTED"] * TASKS
    runs = assemble(read_spool(spool))
    assert {run.started["input_hash"] for run in runs.values()} == {
        beleg.fingerprint({"invoice": number}) for number in range(TASKS)
    }
    assert [(run.status, run.tokens("output")) for run in runs.values()] == [("succeeded", 7)] * TASKS
    assert len({spool_files.owner_of(path) for path in spool.glob("*.jsonl")}) == TASKS
    _assert_nothing_leaked(spool)


def test_preloaded_gunicorn_application_traces_before_and_after_its_forks(
    spool: Path, tmp_path: Path, child_env: Env
) -> None:
    pytest.importorskip("gunicorn")
    (tmp_path / "preloaded_app.py").write_text("""
import os, beleg
with beleg.traced_agent_run(workflow="preload"):
    pass
def app(environ, start_response):
    with beleg.traced_agent_run(workflow="request") as trace:
        with trace.step("s"):
            pass
    start_response("200 OK", [("Content-Type", "application/json")])
    return [str(os.getpid()).encode()]
""")
    options = ["--preload", "--workers", "2", "--max-requests", "2", "--bind", "127.0.0.1:0", "--chdir", str(tmp_path)]
    command = [sys.executable, "-m", "gunicorn", *options, "preloaded_app:app"]
    with _process(command, child_env, r"Listening at: (http://[\d.:]+)") as ready:
        pids = {_post(ready[1]) for _ in range(8)}
    events = read_spool(spool)
    assert [event["workflow"] for event in events if event["event"] == "run_started"].count("request") == 8
    assert len([event for event in events if event["event"] == "run_finished"]) == 9
    assert len(pids) > 1
    assert pids < {owner.pid for path in spool.glob("*.jsonl") if (owner := spool_files.owner_of(path))}
