"""What the tests of ingest share: one good event of each type, files, and a judge."""

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import zstandard

from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.reasons import Refusal
from beleg.ingest.schemas import shape_folders
from beleg.ingest.sources import find_sources
from beleg.ingest.stage import Staged, stage
from tests.events import event

HASH = "0123456789abcdef" * 4
ALL_EVENTS: dict[str, dict[str, Any]] = {
    "run_started": event(
        "run_started",
        "e1",
        run_id="run",
        labels={"region": "eu", "plan": "pro"},
        input_ref="doc/1",
        input_hash=HASH,
        prompt_source="baked",
    ),
    "run_status": event("run_status", "e2", status="needs_input"),
    "run_finished": event("run_finished", "e3", output_hash=HASH, duration_ms=1200, units={"documents": 3}),
    "step": event(
        "step",
        "e4",
        provider="openai",
        model="gpt-5",
        attempt=1,
        latency_ms=31,
        buckets={"input_uncached": 10, "cache_read": 5, "output": 7, "reasoning": None},
        raw_usage={"prompt_tokens": 15, "completion_tokens": 7},
        convention="inclusive",
        convention_evidence="identity",
        usage_check="ok",
        other_units={"web_searches": 1},
        billed_pico_usd=4_596_000_000,
        batch=False,
    ),
    "toolset": event(
        "toolset", "e5", toolset_hash=HASH, tools=[{"name": "lookup", "tokens": 90, "binding": False}], cohort="all"
    ),
    "layout": event("layout", "e6", layout_hash=HASH, segments=[{"name": "system", "scope": "all", "tokens": 400}]),
    "artifact": {
        **event("artifact", "e7", run_id="run", content_hash=HASH),
        "kind": "extracted_fields",
        "content": {"document_type": "invoice", "fields": [{"name": "total", "value": 12.5}]},
    },
    "feedback": event("feedback", "e8", run_id="run", rating="like", author_hash=HASH),
    "correction": event(
        "correction",
        "e9",
        correction_id="c1",
        run_id="run",
        workflow="ocr",
        field="/total",
        reason="mapping_bug",
        expected=12.5,
    ),
    "review": event("review", "e10", subject="c1", decision="accept", by="risk owner"),
    "outcome": event("outcome", "e11", run_ids=["run"]),
    "eval_result": event(
        "eval_result",
        "e12",
        feature="ocr",
        case_id="case",
        dataset_digest=HASH,
        side="candidate",
        candidate_digest=HASH,
        repetition=1,
        scorer="exact",
        scorer_version="1",
        score=0.5,
        status="scored",
    ),
}
STEP = ALL_EVENTS["step"]


@cache
def judge() -> Judge:
    return Judge(Limits(), shape_folders(None))


def dump(value: Any) -> bytes:
    """Compact JSON, as the tracer writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def verdict(line: bytes | dict[str, Any]) -> str:
    """Event type of a good line, else the reason it is refused."""
    found = judge().judge(line if isinstance(line, bytes) else dump(line))
    return found.reason if isinstance(found, Refusal) else found


def refusal(line: bytes | dict[str, Any]) -> Refusal:
    found = judge().judge(line if isinstance(line, bytes) else dump(line))
    assert isinstance(found, Refusal), found
    return found


def good(number: int) -> bytes:
    """A good step line, different for each number."""
    return dump({**STEP, "event_id": f"e{number}", "step_id": f"s{number}"})


def stage_bytes(
    folder: Path, data: bytes, *, name: str = "events.jsonl", limits: Limits | None = None, workers: int = 1
) -> Staged:
    """Write the bytes to a file and stage it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    return stage(find_sources([path]), folder / f"{name}-staged", limits=limits, workers=workers, stored=["ocr"])


def staged_lines(staged: Staged) -> list[bytes]:
    """All staged lines, sorted."""
    files = [path for paths in staged.files.values() for path in paths]
    return sorted(line for path in files for line in path.read_bytes().split(b"\n") if line)


def reasons(staged: Staged) -> dict[int, str]:
    """Line number → reason."""
    return {row["line_number"]: row["reason"] for row in staged.quarantine_rows()}


def sha256(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def gz(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)
