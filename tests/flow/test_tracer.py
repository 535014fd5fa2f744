"""From the tracer's spool to the figures, processes that die included."""

import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from beleg import flow
from tests.flow.support import Installation

ROOT = Path(__file__).resolve().parents[2]
APP = """
import os, signal
import beleg

usage = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
answer = {"object": "chat.completion", "id": "c1", "model": "gpt-4o-2024-08-06", "usage": usage}
with beleg.traced_agent_run(workflow="ocr", input_payload={"page": 1}) as trace:
    trace.set_output({"total": 12}, response=answer)
    trace.units(1, "documents")
with beleg.traced_agent_run(workflow="ocr", input_payload={"page": 2}) as trace:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run_app(beleg: Installation) -> int:
    env = {"BELEG_HOME": str(beleg.settings.home), "PATH": ""}
    return subprocess.run([sys.executable, "-c", APP], cwd=ROOT, env=env, check=False).returncode


def test_what_a_killed_process_had_reported_is_in_the_figures_and_its_file_is_sealed(tmp_path: Path) -> None:
    beleg = Installation(tmp_path)
    assert run_app(beleg) == -signal.SIGKILL
    report = flow.run(beleg.settings, as_of=datetime.now(UTC))
    assert (report.ingest.quarantined, report.ingest.pending, report.lost) == (0, 0, {})
    assert beleg.ask("SELECT status, cost_pico_usd FROM runs ORDER BY started_at") == [
        ("succeeded", 1000 * 2_500_000 + 10 * 10_000_000),
        ("running", 0),
    ]
    assert [path.name for path in beleg.settings.spool.glob("*.open.jsonl")] == []
    assert flow.run(beleg.settings, as_of=datetime.now(UTC)).ingest.read == 0
