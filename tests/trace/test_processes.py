"""Real processes: forks, kills, pools and exits lose nothing that was reported."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import beleg
from beleg.trace import spool_files
from tests.trace.schemas import read_spool

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
Fork = Callable[[Callable[[], None]], int]

WRITER = """
import sys, beleg
with beleg.traced_agent_run(workflow="w") as trace:
    for i in range(int(sys.argv[1])):
        trace.tool(f"t{i}").__enter__().end()
        sys.stdout.write(f"{i}\\n"); sys.stdout.flush()
"""


def _tools(spool: Path) -> list[str]:
    return [event["tool_name"] for event in read_spool(spool) if event["event"] == "step"]


def _write(name: str) -> None:
    with beleg.traced_agent_run(workflow=name) as trace:
        trace.tool(name).__enter__().end()


def test_forked_child_writes_to_a_file_of_its_own(spool: Path, forked: Fork) -> None:
    _write("parent")
    assert forked(lambda: _write("child")) == 0
    _write("parent")
    assert sorted(_tools(spool)) == ["child", "parent", "parent"]
    owners = {spool_files.owner_of(path) for path in spool.glob("*")}
    assert len(owners) == 2


def test_fork_while_another_thread_holds_the_spools_lock_does_not_deadlock(spool: Path, forked: Fork) -> None:
    from beleg.trace import runtime

    _write("parent")
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        assert runtime._spool is not None
        with runtime._spool._lock, runtime._lock, runtime._faults._lock:
            held.set()
            release.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)

    def child() -> None:
        signal.alarm(20)
        _write("child")
        beleg.traced_agent_run(workflow="refused word", purpose="nonsense").start()

    try:
        assert forked(child) == 0
    finally:
        release.set()
        thread.join()
    assert "child" in _tools(spool)


def test_run_that_began_before_the_fork_takes_steps_from_both_sides(spool: Path, forked: Fork) -> None:
    with beleg.traced_agent_run(workflow="w") as trace:
        assert forked(lambda: trace.tool("child").__enter__().end()) == 0
        trace.tool("parent").__enter__().end()
    assert sorted(_tools(spool)) == ["child", "parent"]
    assert len({event["run_id"] for event in read_spool(spool)}) == 1


def test_many_children_that_end_at_once_after_one_task_each_lose_nothing(spool: Path, forked: Fork) -> None:
    _write("preloaded")
    for number in range(10):  # a worker a task, ended without exit handlers, as Celery and gunicorn do
        assert forked(lambda number=number: _write(f"task{number}")) == 0  # type: ignore[misc]
    assert Counter(_tools(spool)) == Counter(["preloaded", *(f"task{n}" for n in range(10))])


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_multiprocessing_children_trace(spool: Path, method: str) -> None:
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        pool.map(_write, ["a", "b", "c"])
    assert sorted(_tools(spool)) == ["a", "b", "c"]


FORKING_POOL = """
import multiprocessing
from tests.trace.test_processes import _write
_write("parent")
with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
    pool.map(_write, ["a", "b", "c"], chunksize=1)
"""


def test_forking_pool_traces(spool: Path, child_env: dict[str, str]) -> None:
    # In a process of its own: this one may hold threads of other libraries, which no fork survives.
    subprocess.run([sys.executable, "-c", FORKING_POOL], env=child_env, check=True)
    assert sorted(_tools(spool)) == ["a", "b", "c", "parent"]


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_killed_process_loses_no_event_it_had_reported(
    spool: Path, child_env: dict[str, str], sign: signal.Signals
) -> None:
    for stop_after in (1, 37, 200):
        seen = _kill_after(stop_after, sign, child_env)
        names = set(_tools(spool))
        assert {f"t{i}" for i in range(seen)} <= names
        for path in spool.glob("*"):
            path.unlink()


def _kill_after(lines: int, sign: signal.Signals, env: dict[str, str]) -> int:
    """Start a writer, kill it after so many acknowledged events, and return how many it acknowledged."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, "100000"], env=env, stdout=subprocess.PIPE)
    assert process.stdout is not None
    seen = 0
    while seen < lines and process.stdout.readline():
        seen += 1
    process.send_signal(sign)
    seen += process.stdout.read().count(b"\n")
    process.stdout.close()
    assert process.wait() == -sign
    return seen


def test_file_of_a_dead_owner_is_sealed_and_that_of_a_living_one_is_not(spool: Path, child_env: dict[str, str]) -> None:
    _write("living")
    _kill_after(3, signal.SIGKILL, child_env)
    sealed = spool_files.seal_dead(spool)
    assert len(sealed) == 1
    assert b'"t0"' in sealed[0].read_bytes()
    (still_open,) = spool_files.open_files(spool)
    assert spool_files.owner_of(still_open) == spool_files.this_process()
    assert spool_files.seal_dead(spool) == []


def test_owner_is_known_by_boot_and_start_and_not_by_its_pid_alone(tmp_path: Path) -> None:
    me = spool_files.this_process()
    assert spool_files.is_alive(me) is True
    assert spool_files.is_alive(me._replace(start=me.start + 1)) is False
    assert spool_files.is_alive(me._replace(boot="another")) is False
    assert spool_files.is_alive(me._replace(host="elsewhere")) is None


def test_file_of_another_machine_is_sealed_only_after_long_silence(tmp_path: Path) -> None:
    elsewhere = tmp_path / f"{spool_files.this_process()._replace(host='elsewhere').prefix}~1-a.open.jsonl"
    elsewhere.write_bytes(b"{}\n")
    assert spool_files.seal_dead(tmp_path) == []
    assert [path.name for path in spool_files.seal_dead(tmp_path, silent_s=0)] == [
        elsewhere.name.replace(".open.jsonl", ".jsonl")
    ]


def test_normal_exit_seals_the_file_and_leaves_no_empty_one(spool: Path, child_env: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-c", WRITER, "3"], env=child_env, check=True, stdout=subprocess.DEVNULL)
    assert spool_files.open_files(spool) == []
    assert len(spool_files.sealed_files(spool)) == 1


def test_what_is_traced_while_the_interpreter_closes_is_kept(spool: Path, child_env: dict[str, str]) -> None:
    code = """
import atexit, beleg
def late():
    with beleg.traced_agent_run(workflow="late"): pass
atexit.register(late)
class Later:
    def __del__(self): late()
keep = Later()
import beleg.trace.api, beleg.trace.spool
atexit.register(late)
"""
    done = subprocess.run([sys.executable, "-c", code], env=child_env, check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len([e for e in read_spool(spool) if e["event"] == "run_started"]) >= 2


def test_replaced_process_image_goes_on_with_a_new_file(spool: Path, child_env: dict[str, str]) -> None:
    code = f"""
import os, sys, beleg
with beleg.traced_agent_run(workflow="before"): pass
os.execv(sys.executable, [sys.executable, "-c", {WRITER!r}, "1"])
"""
    subprocess.run([sys.executable, "-c", code], env=child_env, check=True, stdout=subprocess.DEVNULL)
    spool_files.seal_dead(spool)
    assert len(spool_files.sealed_files(spool)) == 2
    assert {e["workflow"] for e in read_spool(spool) if e["event"] == "run_started"} == {"before", "w"}


MANY = """
import sys, threading, beleg
runs, steps = sys.argv[1].split(","), int(sys.argv[2])
answer = {"model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}
def work():
    parts = [beleg.attach_run(run) for run in runs]
    for part in parts: part.start()
    for i in range(steps):
        with parts[i % len(parts)].step("s") as step: step.record(answer)
threads = [threading.Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
assert beleg.health().lost == {}
"""


def _shared_runs(spool: Path, env: dict[str, str], processes: int, steps: int) -> None:
    runs = [beleg.traced_agent_run(workflow="shared") for _ in range(2)]
    for run in runs:
        run.start()
    ids = ",".join(str(run.run_id) for run in runs)
    started = [subprocess.Popen([sys.executable, "-c", MANY, ids, str(steps)], env=env) for _ in range(processes)]
    assert [process.wait() for process in started] == [0] * processes
    for run in runs:
        run.finish()
    steps_seen = [event for event in read_spool(spool) if event["event"] == "step"]
    per_run = Counter(event["run_id"] for event in steps_seen)
    assert per_run == dict.fromkeys((run.run_id for run in runs), processes * 8 * steps // 2)
    assert len({event["event_id"] for event in steps_seen}) == processes * 8 * steps
    assert sum(event["buckets"]["input_uncached"] for event in steps_seen) == processes * 8 * steps * 3


def test_steps_of_many_threads_and_processes_on_shared_runs_add_up(spool: Path, child_env: dict[str, str]) -> None:
    _shared_runs(spool, child_env, processes=3, steps=100)


@pytest.mark.soak
def test_ten_processes_of_eight_threads_lose_and_tear_no_line(spool: Path, child_env: dict[str, str]) -> None:
    _shared_runs(spool, child_env, processes=10, steps=10_000)


@pytest.mark.soak
def test_two_hundred_kills_at_random_moments_lose_no_acknowledged_event(spool: Path, child_env: dict[str, str]) -> None:
    import random

    moments = random.Random(7)
    for _ in range(200):
        seen = _kill_after(moments.randrange(1, 2_000), signal.SIGKILL, child_env)
        assert {f"t{i}" for i in range(seen)} <= set(_tools(spool))
        for path in spool.glob("*"):
            path.unlink()
