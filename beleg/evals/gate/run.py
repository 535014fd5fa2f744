"""A run of the gate: read what it rests on, judge, write down the attempt, then the evidence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from beleg.contract import draft
from beleg.contract.model import Contract
from beleg.contract.registry.registry import Registry
from beleg.core.errors import UsageError
from beleg.core.files import replace_text
from beleg.core.settings import Settings
from beleg.evals.cases.dataset import Dataset
from beleg.evals.cases.files import read_case
from beleg.evals.gate.attempts import Attempt, ledger, standing
from beleg.evals.gate.document import evidence_bytes
from beleg.evals.gate.gather import Question, ask
from beleg.evals.gate.judge import Fallback, Report, judge, judge_hidden
from beleg.evals.gate.plan import Version
from beleg.evals.gate.planning import planned
from beleg.evals.gate.policy import Rules, path_of, rules
from beleg.evals.results import Result, read
from beleg.evals.scoring import contenders
from beleg.evals.scoring.contenders import with_fallback


@dataclass(frozen=True)
class Outcome:
    """What a run of the gate left."""

    report: Report
    question: Question
    evidence: Path
    """Where the evidence lies."""
    data: bytes
    """Its bytes."""


def gate(
    settings: Settings,
    registry: Registry,
    feature: str,
    *,
    candidate: str = contenders.DRAFT,
    baseline: str = contenders.ACTIVE,
    repeat: int | None = None,
    hidden: Path | None = None,
    now: datetime | None = None,
) -> Outcome:
    """Judge a draft or version of a feature by the results in the lake; what lies in the spool only is not seen.

    Writes the attempt into the ledger, then `contracts/features/<feature>/evidence/<digest>.json`. Publishes nothing.
    Raises UsageError, DamagedError, Stopped, and Busy where another gate runs for long.
    """
    project = _project(settings)
    home = draft.find(project, feature)
    tried = contenders.candidate(project, registry, feature, candidate)
    against = contenders.baseline(registry, feature, baseline)
    if against is not None and against.digest == tried.digest:
        raise UsageError(f"{feature}: candidate and baseline are the same version, {against.version}")
    contract, own_rules = tried.contract, rules(tried.contract, path_of(settings))
    mine = Version(tried.digest, None if candidate == contenders.DRAFT else tried.version)
    theirs = None if against is None else Version(against.digest, against.version)
    case_set = Dataset.load(project, contract.evals.dataset)
    found = _results(settings, contract, (mine, theirs), case_set)
    question = ask(settings, contract, (mine, theirs), case_set, found, repeat=repeat)
    unseen = None if hidden is None else _unseen(settings, contract, question, hidden)
    with ledger(settings) as book:
        report = _judged(question, found, own_rules, book.attempts, unseen)
        report = replace(report, fallbacks=_fallbacks(contract, question, found, own_rules))
        book.record(_attempt(report, now or datetime.now(UTC)))
    report = planned(report)
    data = evidence_bytes(report)
    path = home.folder / "evidence" / f"{mine.digest}.json"
    replace_text(path, data.decode())
    return Outcome(report, question, path, data)


def _project(settings: Settings) -> Path:
    if settings.project is None:
        raise UsageError("no project here: go to a folder with contracts/ and evals/, or make one with: beleg init DIR")
    return settings.project


def _results(
    settings: Settings, contract: Contract, sides: Iterable[Version | None], case_set: Dataset
) -> list[Result]:
    """Results of both sides, and of the candidate's fallbacks."""
    digests = {each.digest for each in sides if each is not None}
    digests |= {with_fallback(contract, each).digest for each in contract.providers.fallbacks}
    return read(settings, contract.feature, digests, case_set.digest)


_Unseen = tuple[Question, list[Result]]


def _unseen(settings: Settings, contract: Contract, question: Question, folder: Path) -> _Unseen:
    """The set in `folder`, laid out like a project: evals/datasets/<name> and evals/cases/<feature>."""
    inside = _project(settings).resolve()
    places = (folder, folder / "evals", folder / "evals" / "datasets", folder / "evals" / "cases")
    if any(place.resolve().is_relative_to(inside) for place in places):
        raise UsageError(f"--hidden {folder} lies in the project, where everybody sees it; keep it elsewhere")
    case_set = Dataset.load(folder, contract.evals.dataset)
    files = (inside / "evals" / "cases" / contract.feature).glob("[!.]*.json")
    frozen = {read_case(inside, contract.feature, path.stem).case_id for path in files}
    if seen := sorted(case_set.members.keys() & (question.plan.by_id.keys() | frozen)):
        raise UsageError(
            f"--hidden {folder} holds {len(seen)} cases that everybody sees in evals/, for example {seen[0]}: "
            "a hidden set is made of others"
        )
    sides = question.plan.candidate, question.plan.baseline
    found = _results(settings, contract, sides, case_set)
    return ask(settings, contract, sides, case_set, found, least=question.plan.repetitions), found


def _judged(
    question: Question, results: list[Result], own_rules: Rules, earlier: Sequence[Attempt], unseen: _Unseen | None
) -> Report:
    def on_visible(hidden: Report | None) -> Report:
        versions = question.scorer_versions
        return judge(question.plan, results, own_rules, earlier, scorer_versions=versions, hidden=hidden)

    if unseen is None:
        return on_visible(None)
    asked, found = unseen
    attempt = standing(earlier, question.plan, own_rules).attempt
    return on_visible(
        judge_hidden(asked.plan, found, own_rules, attempt=attempt, scorer_versions=asked.scorer_versions)
    )


def _fallbacks(
    contract: Contract, question: Question, results: Sequence[Result], own_rules: Rules
) -> tuple[Fallback, ...]:
    """How the candidate does with each fallback in the primary's place, where that was measured at all."""
    made = []
    for each in contract.providers.fallbacks:
        plan = replace(question.plan, candidate=Version(with_fallback(contract, each).digest))
        if any(result.digest == plan.candidate.digest for result in results):
            report = judge_hidden(plan, results, own_rules, scorer_versions=question.scorer_versions)
            made.append(Fallback(each, report.verdict, report.cases, report.missing))
    return tuple(made)


def _attempt(report: Report, now: datetime) -> Attempt:
    plan = report.plan
    return Attempt(
        feature=plan.feature,
        candidate_digest=plan.candidate.digest,
        baseline_digest=None if plan.baseline is None else plan.baseline.digest,
        policy_digest=report.rules.digest,
        dataset_digest=plan.dataset_digest,
        repetitions=plan.repetitions,
        answers=report.answers,
        case_ids=tuple(sorted(plan.by_id)),
        verdict=report.verdict,
        void=report.void,
        at=now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    )
