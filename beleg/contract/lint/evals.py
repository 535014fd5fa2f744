"""Rules about evals: what quality means, and whether what was measured is about this draft."""

from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

from beleg.contract.evidence import CriterionResult
from beleg.contract.lint.schemas import can_hold
from beleg.contract.lint.subject import Hit, Subject, text
from beleg.contract.model import Criterion

LIMITS = ("cost", "latency")
"""Kinds whose threshold is the most that is allowed; of the others it is the least."""
JUDGE = "judge"
"""Scorer that names a model, no field."""
MARGINS_TO = 1.0
"""Binary criteria and scores lie between 0 and 1."""


def thresholds(subject: Subject) -> Iterator[Hit]:
    """L28: what counts as good is said before it is measured."""
    given = subject.contract.evals
    if not given.criteria:
        yield Hit("evals.criteria", "There is no criterion: nothing says what good means.")
    if not given.dataset.strip():
        yield Hit("evals.dataset", "No dataset is named.")
    for name, count in Counter(each.name for each in given.criteria).items():
        if count > 1:
            yield Hit("evals.criteria", f"The criterion “{text(name)}” stands there {count} times.")
    for each in given.criteria:
        if each.kind not in LIMITS and not 0 < each.threshold <= 1:
            yield Hit(_place(each), f"The threshold {each.threshold:g} proves nothing; it lies above 0 and up to 1.")
        if each.kind in LIMITS and each.threshold <= 0:
            yield Hit(_place(each), f"The limit {each.threshold:g} can never be met.")
        if each.margin is not None and each.kind not in LIMITS and each.margin >= MARGINS_TO:
            yield Hit(_place(each), f"The margin {each.margin:g} allows any loss.")
    yield from _unmeasured(subject)


def _unmeasured(subject: Subject) -> Iterator[Hit]:
    evidence = subject.facts.evidence
    for each in subject.contract.evals.criteria if evidence else ():
        if evidence is not None and each.name not in {result.name for result in evidence.criteria}:
            yield Hit(_place(each), f"The eval suite measures no “{text(each.name)}”.")


def evidence(subject: Subject) -> Iterator[Hit]:
    """L29: a measurement counts for what was measured: this draft, against the version that is active now."""
    found = subject.facts.evidence
    if found is None:
        return
    contract, active = subject.contract, subject.facts.active
    if found.candidate_digest != contract.digest:
        yield Hit(
            "evidence",
            f"The evidence is about the draft {text(found.candidate_digest, 12)}, not {contract.digest[:12]}.",
        )
    if found.dataset != contract.evals.dataset:
        yield Hit(
            "evidence", f"The evidence is about the cases {text(found.dataset)}, not {text(contract.evals.dataset)}."
        )
    if active is not None and found.baseline_digest != active.digest:
        yield Hit("evidence", "The evidence compares with another version than the active one.")
    for each in contract.evals.criteria if active is not None else ():
        if each.margin is None:
            yield Hit(
                _place(each),
                f"“{text(each.name)}” has no margin against the active version.",
                fix="state how much worse it may be",
            )


def small_sample(subject: Subject) -> Iterator[Hit]:
    """L30: below its lower bound a pass may be luck."""
    results = {each.name: each for each in subject.facts.evidence.criteria} if subject.facts.evidence else {}
    for each in subject.contract.evals.criteria:
        result = results.get(each.name)
        if result is not None and _lucky(each, result):
            bound = result.upper if each.kind in LIMITS else result.lower
            yield Hit(
                _place(each),
                f"“{text(each.name)}” with {result.n} cases: the bound is {bound:g}, the threshold {each.threshold:g}.",
            )


def _lucky(criterion: Criterion, result: CriterionResult) -> bool:
    if criterion.kind in LIMITS:
        return result.upper is not None and result.upper > criterion.threshold
    return result.lower is not None and result.lower < criterion.threshold


def loosened(subject: Subject) -> Iterator[Hit]:
    """L31: quality ratchets; whoever loosens it says so."""
    active = subject.facts.active
    before = {each.name: each for each in active.evals.criteria} if active else {}
    now = {each.name: each for each in subject.contract.evals.criteria}
    for name, old in before.items():
        if name not in now:
            yield Hit("evals.criteria", f"The criterion “{text(name)}” is gone.")
        elif what := list(_looser(old, now[name])):
            yield Hit(_place(now[name]), f"“{text(name)}” is looser than in the active version: {', '.join(what)}.")


def _looser(old: Criterion, new: Criterion) -> Iterator[str]:
    fell = new.threshold > old.threshold if new.kind in LIMITS else new.threshold < old.threshold
    if fell:
        yield f"threshold {old.threshold:g} → {new.threshold:g}"
    if old.margin is not None and (new.margin is None or new.margin > old.margin):
        yield f"margin {old.margin:g} → {'none' if new.margin is None else format(new.margin, 'g')}"
    if old.critical and not new.critical:
        yield "no longer critical"


def own_judge(subject: Subject) -> Iterator[Hit]:
    """L32: models prefer their own answers. A judging scorer names its model."""
    models = {provider.model.lower() for _, provider in subject.providers}
    for each in subject.contract.evals.criteria:
        if any(model in each.scorer.lower() for model in models):
            yield Hit(_place(each), f"The scorer {text(each.scorer)} lets the model judge its own answers.")


def not_met(subject: Subject) -> Iterator[Hit]:
    """L45: an inconclusive verdict is a warning here: publishing asks for a named override."""
    found = subject.facts.evidence
    if found is None or found.verdict == "pass":
        return
    wrong = ", ".join(text(each.name) for each in found.criteria if each.verdict != "pass") or "the whole"
    yield Hit(
        "evidence", f"The verdict is {found.verdict}: {wrong}.", "warning" if found.verdict == "inconclusive" else None
    )


def blind(subject: Subject) -> Iterator[Hit]:
    """L49: a scorer that looks where nothing can stand judges every answer alike."""
    if subject.schema_faults:
        return
    schema = subject.contract.output_schema
    for each in subject.contract.evals.criteria:
        name, _, rest = each.scorer.partition(":")
        field = unquote(rest.partition("?")[0])
        if field and name != JUDGE and not can_hold(schema, _steps(field)):
            yield Hit(_place(each), f"No answer can hold “{text(field)}”, where {text(name)} looks.")


def _steps(field: str) -> list[str]:
    if field.startswith("/"):
        return [step.replace("~1", "/").replace("~0", "~") for step in field[1:].split("/")]
    return field.split(".")


def _place(criterion: Criterion) -> str:
    return f"evals.criteria.{text(criterion.name)}"


CHECKS = {
    "L28": thresholds,
    "L29": evidence,
    "L30": small_sample,
    "L31": loosened,
    "L32": own_judge,
    "L45": not_met,
    "L49": blind,
}
