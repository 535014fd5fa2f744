"""What people add afterwards: likes, corrections and their review; and what evaluations report."""

from typing import Any

import beleg
from beleg.demo.company import CATEGORIZATION, CHAT_COPILOT, HOUR_US, OCR, SECOND_US
from beleg.demo.receipts import truth
from beleg.demo.run import Run
from beleg.trace.fingerprint import fingerprint

_REASONS = ("extraction_error", "extraction_error", "mapping_bug", "unsupported_case", "user_preference")
_DATASET = fingerprint("demo cases")


def react(run: Run) -> None:
    """What people do about a finished run."""
    chance = run.recorder.chance
    if run.workflow is CHAT_COPILOT and chance(0.12):
        _rate(run)
    elif run.workflow is CATEGORIZATION and chance(0.012):
        _correct(run)
    elif run.workflow is OCR:
        _look_at(run)


def _rate(run: Run) -> None:
    rating = "like" if run.recorder.chance(0.8) else "dislike"
    with run.recorder.later(run.recorder.between(2, 90) * SECOND_US):
        beleg.feedback(run.id, rating=rating, author={"person": run.recorder.between(1, 40)}, tenant=run.tenant)


def _look_at(run: Run) -> None:
    """Half of the wrong tax lines are seen before they are booked; now and then somebody just likes it otherwise."""
    right = truth(run.reference)["tax_lines"]
    read = right if run.output is None else run.output["tax_lines"]
    wait_us = run.recorder.between(1, 60) * HOUR_US
    if read != right and run.recorder.chance(0.5):
        first = _corrected(run, wait_us, "extraction_error", "/tax_lines", right)
        if run.recorder.chance(0.7):
            _accept(run, first, "deposits belong to their goods")
    elif run.output is not None and run.recorder.chance(0.002):
        _corrected(run, wait_us, "user_preference", "/supplier/name", run.output["supplier"]["name"].upper())


def _correct(run: Run) -> None:
    between, chance = run.recorder.between, run.recorder.chance
    reason, field = _REASONS[between(0, 4)], "/transactions/0/account"
    first = _corrected(run, between(1, 60) * HOUR_US, reason, field, {"right": between(1, 40)})
    if chance(0.15):  # the person thought again
        _corrected(run, 70 * HOUR_US, reason, field, {"right": between(41, 80)}, supersedes=first)
    elif chance(0.3):
        _accept(run, first, "seen before")


def _accept(run: Run, correction: str | None, why: str) -> None:
    decision = {"subject": correction, "decision": "accept", "by": "head_of_bookkeeping", "why": why}
    run.report("review", 75 * HOUR_US, **decision)


def _corrected(
    run: Run, wait_us: int, reason: str, field: str, right: Any, *, supersedes: str | None = None
) -> str | None:
    with run.recorder.later(wait_us):
        return beleg.correct(
            run.id,
            workflow=run.workflow.name,
            field=field,
            reason=reason,
            expected=right,
            input_hash=fingerprint(run.input),
            author={"person": run.recorder.between(1, 12)},
            supersedes=supersedes,
            tenant=run.tenant,
        )


def score(run: Run) -> None:
    """What an evaluation reports about one of its runs."""
    scored = run.recorder.chance(0.98)
    run.report(
        "eval_result",
        SECOND_US,
        environment="production",
        run_id=run.id,
        feature=run.workflow.name,
        case_id=f"case-{run.recorder.between(1, 60)}",
        dataset_digest=_DATASET,
        side="candidate" if run.recorder.chance(0.5) else "baseline",
        candidate_digest=fingerprint({"prompt": run.workflow.prompt_version(run.now_us)}),
        repetition=1,
        scorer="exact_match",
        scorer_version="1",
        status="scored" if scored else "failed",
        **({"score": float(run.recorder.chance(0.9))} if scored else {}),
    )
