"""What may be shown of a case: its reference and fingerprints; expected and actual only where values are stored."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beleg.core.settings import Settings
from beleg.core.values import stores_values
from beleg.evals.cases.case import Case, Expectation
from beleg.evals.cases.pointer import look_up, parts, pointer
from beleg.evals.gate.run import Outcome
from beleg.evals.results import Answered
from beleg.evals.scoring.journal import Journal

_MOST = 160
"""Characters of a value; a longer one is cut."""


@dataclass(frozen=True)
class Shown:
    """What the report tells about a case beside its scores."""

    input_ref: str
    input_hash: str
    family: str | None = None
    """None where the case is a family of its own."""
    expected: Mapping[str, str] = field(default_factory=dict)
    """Criterion → value or fingerprint."""
    actual: Mapping[str, str] = field(default_factory=dict)
    """Criterion → what the candidate answered first, or its fingerprint."""


def showable(outcome: Outcome, settings: Settings) -> dict[str, Shown]:
    """case_id → what may be shown of it."""
    journal = Journal(settings, outcome.report.plan.feature, outcome.report.plan.dataset_digest)
    answers = journal.answers()
    found: dict[str, Shown] = {}
    for case_id, case in outcome.question.cases.items():
        open_ = stores_values(settings, case.workflow)
        found[case_id] = Shown(
            case.input_ref,
            case.input_hash,
            None if case.family == case_id else case.family,
            _expected(outcome, case, open_=open_),
            _actual(outcome, case, answers if open_ else {}),
        )
    return found


def _expected(outcome: Outcome, case: Case, *, open_: bool) -> dict[str, str]:
    known = {name: case.expectation(where) for name, where in outcome.question.fields.items()}
    return {name: _expectation(each, open_=open_) for name, each in known.items() if each is not None}


def _expectation(known: Expectation, *, open_: bool) -> str:
    if known.hash is not None:
        return _hash(known.hash)
    return _value(known.value) if open_ else "—"


def _actual(outcome: Outcome, case: Case, answers: Mapping[Answered, Any]) -> dict[str, str]:
    plan, found = outcome.report.plan, {}
    answered = Answered(plan.dataset_digest, case.case_id, plan.candidate.digest, 1)
    for criterion in plan.criteria:
        name = criterion.name
        if answered in answers:
            found[name] = _at(answers[answered], outcome.question.fields.get(name, ""))
        elif result := outcome.report.table.scores.get((plan.candidate.digest, criterion.scorer, case.case_id, 1)):
            found[name] = "—" if result.actual_hash is None else _hash(result.actual_hash)
    return found


def _at(answer: Any, where: str) -> str:
    try:
        return _value(look_up(answer, parts(pointer(where))))
    except LookupError:
        return "—"


def _hash(digest: str) -> str:
    return f"# {digest[:12]}"


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
