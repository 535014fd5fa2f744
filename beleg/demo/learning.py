"""The demo from corrections to a gate report: a draft that knows of deposits against the version that does not."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from beleg import flow, learn
from beleg.contract import draft, evidence
from beleg.contract.registry.registry import Registry
from beleg.core.errors import CheckFailed, UsageError
from beleg.core.progress import OnProgress
from beleg.core.settings import Settings
from beleg.demo.company import OCR
from beleg.demo.receipts import resolve, truth
from beleg.evals.cases.dataset import Dataset
from beleg.evals.cases.imports import import_cases
from beleg.evals.cases.pen import Pen, Person
from beleg.trace import runtime as tracer
from beleg.trace.clock import Clock

FEATURE = "receipt-extraction"
DATASET = "receipts-2026-08"
CRITERION = "tax_lines"
_FIRST_VERIFIED, _VERIFIED = 1_000_001, 320
"""Receipts that a person read against the paper before there was any correction."""
_BEFORE_END_NS = 3600 * 1_000_000_000
"""The draft is measured in the last hour of the demo."""
_READER = Person("Ayşe Demir", "read against the paper")


@dataclass(frozen=True)
class Gate:
    """What the gate found out about the draft."""

    verdict: str
    criteria: Mapping[str, str]
    """Criterion → its verdict."""
    cases: int
    better: int
    """Cases whose tax lines the draft reads better than the active version."""
    worse: int
    known_better: int
    """Cases with a deposit: what the draft must read better."""
    page: Path


@contextmanager
def demo_time(now: datetime) -> Iterator[None]:
    """Let the tracer's clock go on from the end of the demo, so that no day of today's is among its days."""
    found = tracer.runtime()
    if found is None:
        raise UsageError("tracing is off (BELEG_DISABLED): the demo needs the trace of its evaluation; switch it on")
    begun_ns, real_ns = int(now.timestamp()) * 1_000_000_000, time.time_ns()
    moved = replace(found, clock=Clock(wall_ns=lambda: begun_ns - _BEFORE_END_NS + time.time_ns() - real_ns))
    tracer.push(moved)
    try:
        yield
    finally:
        tracer.pop(moved)


def verify_receipts(settings: Settings, now: datetime) -> None:
    """The set that the company began with: receipts with what a person read on them."""
    path = settings.home / "inbox" / "verified-receipts.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    references = [f"books/{OCR.subject}:{_FIRST_VERIFIED + n}" for n in range(_VERIFIED)]
    rows = [{"input_ref": each, "input": resolve(each), "expected": truth(each)} for each in references]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    import_cases(
        settings,
        path,
        FEATURE,
        DATASET,
        _READER,
        pen=Pen(settings, clock=Clock(lambda: int(now.timestamp()) * 1_000_000_000)),
    )
    path.unlink()


def in_order(settings: Settings, now: datetime, on_progress: OnProgress) -> None:
    """Freeze, score, judge, publish the figures, one stage after another in this process."""
    registry = Registry(settings.home / "registry")
    learn.freeze(settings)
    learn.score(settings, registry, FEATURE, on_progress=on_progress)
    learn.judge(settings, registry, FEATURE)
    flow.publish(settings, as_of=now)


def gate_of(settings: Settings) -> Gate:
    """The gate's evidence on the draft, and what is known of its cases."""
    project = settings.project or settings.home
    feature = draft.find(project, FEATURE)
    found = evidence.find(feature, draft.read(feature).digest)
    if found is None:
        raise CheckFailed(f"the gate left no evidence on {FEATURE}")
    lines = next(each for each in found.document["criteria"] if each["name"] == CRITERION)
    asked = [case.input_ref for case in Dataset.load(project, DATASET).cases() if case.expectation("tax_lines")]
    return Gate(
        found.verdict,
        {each.name: each.verdict for each in found.criteria},
        found.cases,
        lines["moved"]["better"],
        lines["moved"]["worse"],
        sum("Pfand" in resolve(reference)["document_text"] for reference in asked),
        learn.page_of(settings, FEATURE),
    )
