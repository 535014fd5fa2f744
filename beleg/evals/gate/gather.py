"""Where a plan comes from: the contract, its dataset, its suite, what its scorers can judge."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from beleg.contract.model import Contract
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.cost.book import PriceBook
from beleg.cost.policies import load_policies
from beleg.evals.cases.case import Case
from beleg.evals.cases.dataset import Dataset
from beleg.evals.gate.plan import Grader, Plan, PlannedCase, Version
from beleg.evals.results import Result
from beleg.evals.scorers import Scorer
from beleg.evals.scorers.calibration import calibration, unfit
from beleg.evals.scorers.judges import Judge
from beleg.evals.scoring.jury import Jury
from beleg.evals.suite import Suite

_PREFERENCE = "user_preference"


@dataclass(frozen=True)
class Question:
    """A plan with what it was made from."""

    plan: Plan
    cases: Mapping[str, Case]
    """case_id → the frozen case."""
    scorer_versions: Mapping[str, str]
    fields: Mapping[str, str]
    """Criterion → the field of the result that its scorer looks at."""


def ask(
    settings: Settings,
    contract: Contract,
    sides: tuple[Version, Version | None],
    dataset: Dataset,
    results: Iterable[Result],
    *,
    repeat: int | None = None,
    least: int = 1,
) -> Question:
    """What is to be judged of a contract, candidate and baseline, on a dataset; raises UsageError and DamagedError.

    Repetitions are those asked for, else as many as the suite says, as either side has answered, or `least`.
    """
    if dataset.feature != contract.feature:
        raise UsageError(f"the dataset {dataset.name} is of {dataset.feature}, not of {contract.feature}")
    frozen = {each.case_id: each for each in dataset.cases()}
    if not frozen:
        raise UsageError(f"the dataset {dataset.name} holds no case; accept some: beleg cases accept")
    jury = Jury.of(settings.project, [contract], contract.output_schema)
    judges = {case_id: jury.of_case(case).keys() for case_id, case in frozen.items()}
    plan = Plan(
        feature=contract.feature,
        risk_tier=contract.risk_tier,
        candidate=sides[0],
        baseline=sides[1],
        dataset=dataset.name,
        dataset_digest=dataset.digest,
        criteria=contract.evals.criteria,
        cases=tuple(_planned(each) for each in frozen.values()),
        planned={
            each.name: frozenset(case_id for case_id, known in judges.items() if each.scorer in known)
            for each in contract.evals.criteria
        },
        repetitions=_repetitions(settings.project, contract.feature, _answered(sides, results, least), repeat),
        prices_digest=PriceBook(load_policies(settings).models).digest,
    )
    scorers = {each.name: jury.scorers[each.scorer] for each in contract.evals.criteria}
    plan = replace(plan, graders=dict(_graders(settings.project, scorers)))
    versions = {each.scorer: scorers[each.name].version for each in contract.evals.criteria}
    fields = {name: scorer.field for name, scorer in scorers.items() if scorer.needs_expected}
    return Question(plan, frozen, versions, fields)


def _graders(project: Path | None, scorers: Mapping[str, Scorer]) -> Iterator[tuple[str, Grader]]:
    """Criterion → its judge, as far as its scorer is one; without a project nobody calibrated it."""
    for name, scorer in scorers.items():
        if not isinstance(scorer, Judge):
            continue
        why = ("there is no project, and so no calibration",) if project is None else unfit(scorer, project)
        found = None if project is None or why else calibration(project, scorer.name)
        yield name, Grader(0.0 if found is None else found.quality().youden_lower, why)


def _planned(case: Case) -> PlannedCase:
    wish = bool(case.reasons) and set(case.reasons) == {_PREFERENCE}
    return PlannedCase(case.case_id, case.family, dict(case.slices), case.critical, wish)


def _answered(sides: Iterable[Version | None], results: Iterable[Result], least: int) -> int:
    """Most answers that either side gave to a case; what its fallbacks answered is another question."""
    digests = {each.digest for each in sides if each is not None}
    return max([least, *(each.repetition for each in results if each.digest in digests)])


def _repetitions(project: Path | None, feature: str, answered: int, repeat: int | None) -> int:
    """As many as asked for, never fewer than the suite says or than there are: failed ones might be left out."""
    has_suite = project is not None and (project / "evals" / "suites" / f"{feature}.yaml").exists()
    suite = Suite.load(project, feature).repetitions if project is not None and has_suite else 1
    least = max(answered, suite)
    if repeat is not None and repeat < least:
        why = f"there are {answered}, and the suite plans {suite} per case"
        raise UsageError(f"--repeat {repeat} would leave answers out: {why}; ask for {least} or more")
    return repeat or least
