"""The first experience: 2 000 sessions of Claude Code from their folder to what a session of each project costs.

python -m benchmarks.coding_agents
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.timing import seconds

SESSIONS = 2_000
BYTES = 300_000_000
_PROJECTS = 12
_MODELS = ("claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001")


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about coding agents."""
    count, size = (SESSIONS // 20, BYTES // 20) if quick else (SESSIONS, BYTES)
    say(f"coding_agents: {count} sessions, {size / 1e6:.0f} MB")
    with tempfile.TemporaryDirectory(dir=work) as folder:
        logs, home = Path(folder, "projects"), Path(folder, "home")
        written = sum(_session(logs, number, size // count) for number in range(count))
        command = [sys.executable, "-c", "from beleg.cli.main import main; main()", "ingest", str(logs)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = seconds(lambda: _run(command, home))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    per = written / 1e8
    note = f"{took:.1f} s, {busy:.1f} s of processor time, at most {after.ru_maxrss / 1024:.0f} MiB"
    what = f"{count} sessions of Claude Code, {written / 1e6:.0f} MB: cost by session and project"
    return [(what, "time for 100 MB, cold", 10, 5, "s", round(took / per, 2), note)]


def _run(command: list[str], home: Path) -> None:
    env = os.environ | {"BELEG_HOME": str(home)}
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[1])


def _session(folder: Path, number: int, size: int) -> int:
    """Write a session of about so many bytes; the bytes it has."""
    project = f"project-{number % _PROJECTS}"
    path = folder / f"-home-me-{project}" / f"session-{number:05}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for line in _lines(number, project):
            file.write(json.dumps(line).encode() + b"\n")
            if file.tell() >= size:
                return file.tell()
    return 0


def _lines(number: int, project: str) -> Iterator[dict[str, Any]]:
    """Endless turns: an answer in two blocks that repeat its usage, one of them a tool, and the tool's result."""
    rng = random.Random(number)
    at, cached = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=rng.randrange(86_400)), 12_000
    for call in range(10**9):
        at += timedelta(seconds=rng.randrange(2, 60))
        common = {
            "sessionId": f"session-{number:05}", "cwd": f"/home/me/{project}", "version": "2.1.0", "isSidechain": False,
            "timestamp": at.isoformat().replace("+00:00", "Z"), "requestId": f"req_{number:05}{call:07}",
        }  # fmt: skip
        written, cached = rng.randrange(500, 3000), min(cached + 1500, 150_000)
        usage = {
            "input_tokens": rng.randrange(1, 20), "cache_read_input_tokens": cached, "output_tokens": 3,
            "cache_creation_input_tokens": written, "service_tier": "standard",
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": written},
        }  # fmt: skip
        tool = f"toolu_{number:05}{call:07}"
        called = {"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": "z" * rng.randrange(50, 800)}}
        done = {**usage, "output_tokens": rng.randrange(50, 1500)}
        for kind, block, used in (("text", {"type": "text", "text": "y" * 500}, usage), ("tool", called, done)):
            identity = f"msg_{number:09}{call:012}"
            message = {"id": identity, "model": _MODELS[number % 3], "content": [block], "usage": used}
            yield {**common, "type": "assistant", "uuid": f"{tool}-{kind}", "message": message}
        result = {"type": "tool_result", "tool_use_id": tool, "content": "r" * rng.randrange(100, 9000)}
        yield {**common, "type": "user", "uuid": f"{tool}-result", "message": {"role": "user", "content": [result]}}


if __name__ == "__main__":
    for row in measure(Path(tempfile.gettempdir()), quick=False, say=print):
        print(*row, sep=" | ")
