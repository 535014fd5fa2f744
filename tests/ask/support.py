"""A published installation with runs that have something to explain."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.events import event
from tests.flow.support import Installation

IN, OUT, OTHER = "a" * 64, "b" * 64, "c" * 64
START = datetime(2030, 1, 10, 12, tzinfo=UTC)
ID = "01b90bb2-1e00-7001-8fb4-e38f5c372d11"
"""A UUIDv7 of START."""
GPT: dict[str, Any] = {"provider": "openai", "model": "gpt-4o"}
"""2.50 in, 1.25 cached, 10.00 out, USD per million tokens."""


def text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def started(run: str, at: datetime = START, **fields: Any) -> dict[str, Any]:
    given = {"workflow": "ocr", "input_hash": IN, "input_key": "scan-7", "prompt_version": "v1", **fields}
    return event("run_started", f"{run}-start", text(at), run_id=run, **given)


def finished(run: str, at: datetime = START, **fields: Any) -> dict[str, Any]:
    given = {"output_hash": OUT, "duration_ms": 900, **fields}
    return event("run_finished", f"{run}-end", text(at + timedelta(seconds=9)), run_id=run, **given)


def step(run: str, name: str, at: datetime = START, seconds: int = 1, **fields: Any) -> dict[str, Any]:
    return event("step", f"{run}-{name}", text(at + timedelta(seconds=seconds)), run_id=run, step_id=name, **fields)


def story(home: Path) -> Installation:
    """An earlier run of the same input, the run `ID` with a failed call, a fallback and a tool, and its child."""
    there = Installation(home)
    early = START - timedelta(days=40)
    usage: dict[str, Any] = {"buckets": {"input_uncached": 1000, "cache_read": 200, "output": 10}, **GPT}
    there.take(
        started("early", early, tenant="acme", labels={"batch": "7"}),
        step("early", "s", early, **usage),
        finished("early", early, output_hash=OTHER),
        started(ID, input_ref="scan/7", tenant="acme", contract_version="1.2.0", contract_digest="f" * 64),
        step(ID, "a", seconds=1, status="failed", exception_class="Overloaded", attempt=1, **GPT),
        step(ID, "b", seconds=2, attempt=2, attempt_reason="fallback", parent_step_id=None, latency_ms=40, **usage),
        step(ID, "t", seconds=3, kind="tool", tool_name="look_up"),
        finished(ID),
        started("child", START + timedelta(seconds=4), parent_run_id=ID, input_hash=OTHER, input_key=None),
        step("child", "s", START + timedelta(seconds=4), seconds=1, **usage),
        finished("child", START, status="failed", output_hash=None),
        event("artifact", "art", text(START + timedelta(seconds=5)), run_id=ID, **_artifact()),
        event("feedback", "f", text(START + timedelta(days=2)), run_id=ID, rating="dislike"),
        event("correction", "c1", text(START + timedelta(days=2)), output_hash=OUT, reason="mapping_bug"),
        event("correction", "c2", text(START + timedelta(days=3)), run_id=ID, supersedes="c1", field="/total"),
        event("correction", "c3", text(START + timedelta(days=3)), run_id=ID, reason="user_preference"),
        event("review", "v1", text(START + timedelta(days=3)), subject="c2", decision="accept"),
        event("review", "v2", text(START + timedelta(days=4)), subject="c3", decision="accept"),
        event("review", "v3", text(START + timedelta(days=5)), subject="c3", decision="reject"),
    )
    return there


def _artifact() -> dict[str, Any]:
    return {"kind": "answer_summary", "content": {"summary": "short"}, "content_hash": "e" * 64}
