"""Freezing: everything that people accepted becomes case files, and a new version of each dataset it changes.

What is frozen follows from the lake and the latest versions alone, so a second call writes nothing, and one
that was killed is completed by the next. Cases come first, the manifest that names them last.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from beleg.contract.draft import Feature, features
from beleg.core.settings import Settings
from beleg.evals.cases.assemble import assemble
from beleg.evals.cases.case import Acceptance, Case, Provenance
from beleg.evals.cases.claims import Conflict
from beleg.evals.cases.dataset import Dataset, Retirement, latest
from beleg.evals.cases.files import dataset_name, project_of, write_case, writing
from beleg.evals.cases.forgetting import forget_cases
from beleg.evals.cases.pending import Pending
from beleg.evals.cases.sources import Known, read
from beleg.evals.cases.values import fingerprint_under


@dataclass(frozen=True)
class Frozen:
    """What freezing did, or would do."""

    cases: tuple[Case, ...]
    """All cases that stand now, of features with a dataset and without."""
    written: tuple[str, ...]
    """Digests of the case files that were new."""
    datasets: tuple[Dataset, ...]
    """New versions."""
    conflicts: tuple[Conflict, ...]
    pending: tuple[Pending, ...]


def freeze(settings: Settings) -> Frozen:
    """Freeze everything accepted that the lake knows, at its latest versions.

    Raises UsageError without a project or for a file of it that is wrong, DamagedError for a frozen file that
    was changed or a dataset whose versions do not follow each other, Busy where another process freezes.
    """
    project = project_of(settings)
    with writing(project):
        forget_cases(settings)
        found = look(settings)
        written = tuple(case.digest for case in found.cases if write_case(project, case))
        for dataset in found.datasets:
            dataset.write()
    return replace(found, written=written)


def look(settings: Settings) -> Frozen:
    """What `freeze` would do; changes nothing. Raises as it does."""
    project = project_of(settings)
    known = read(settings, project)
    served = {feature.name: _dataset(project, feature) for feature in features(project)}
    datasets = {name: dataset for name, dataset in served.items() if dataset is not None}
    cases, conflicts = _assemble(known, datasets.values())
    pending = [*known.pending, *_without_dataset(known, served), *_retired(known, datasets)]
    made = [_next(dataset, cases, conflicts, known) for dataset in datasets.values()]
    new = tuple(dataset for dataset in made if dataset.version != datasets[dataset.feature].version)
    return Frozen(tuple(cases.values()), (), new, conflicts, tuple(sorted(pending, key=lambda each: each.subject)))


def _dataset(project: Path, feature: Feature) -> Dataset | None:
    name = dataset_name(feature)
    return None if name is None else latest(project, name, feature.name)


def _assemble(known: Known, datasets: Iterable[Dataset]) -> tuple[dict[str, Case], tuple[Conflict, ...]]:
    """All cases by case_id, and what people disagree on."""
    fresh = assemble(known.claims, {}, fingerprint_under)
    kept: dict[str, Case] = {}
    for dataset in datasets:
        for case_id, digest in dataset.members.items():
            told = fresh.cases.get(case_id)
            if told is None or told.digest != digest:
                rest = _rest(dataset.case(case_id), known)
                kept |= {} if rest is None else {case_id: rest}
    if not kept:
        return dict(fresh.cases), fresh.conflicts
    again = assemble([claim for claim in known.claims if claim.case_id in kept], kept, fingerprint_under)
    conflicts = (*(each for each in fresh.conflicts if each.case_id not in kept), *again.conflicts)
    disputed = {each.case_id for each in conflicts}
    cases = {case_id: case for case_id, case in fresh.cases.items() if case_id not in disputed}
    return dict(sorted((cases | dict(again.cases)).items())), conflicts


def _rest(case: Case, known: Known) -> Case | None:
    """What of a frozen case the lake cannot tell: imported, or from events that were pruned; None for nothing."""
    said = {
        name: left
        for name, ids in case.provenance.said.items()
        if (left := tuple(one for one in ids if one not in known.answered))
    }
    expected = {name: case.expected[name] for name in said if name in case.expected}
    if not expected:
        return None
    accepted = tuple(each for each in case.provenance.accepted if each.review not in known.reviews)
    return replace(case, expected=expected, provenance=Provenance(said, case.provenance.runs, accepted))


def _next(dataset: Dataset, cases: Mapping[str, Case], conflicts: Iterable[Conflict], known: Known) -> Dataset:
    disputed = {each.case_id for each in conflicts}
    of_feature = {one: case for one, case in cases.items() if case.feature == dataset.feature}
    members = {one: case.digest for one, case in of_feature.items() if one not in dataset.retired}
    retired = dict(dataset.retired)
    for case_id in sorted(dataset.members.keys() - members.keys() - disputed):
        retired[case_id] = _retirement(dataset.case(case_id), known)
    return dataset.next(members, retired)


def _retirement(case: Case, known: Known) -> Retirement:
    """Why nothing of a case holds any more: the last word on what it came from."""
    words = [known.withdrawn[one] for one in case.provenance.corrections if one in known.withdrawn]
    if not words:  # a run was reported anew, with another input
        words = [
            Acceptance("beleg", "its corrections are about another input now", case.provenance.accepted[-1].at, None)
        ]
    last = max(words, key=lambda each: (each.at, each.review or ""))
    return Retirement(last.why or "its corrections count no longer", last.by, last.at)


def _without_dataset(known: Known, served: Mapping[str, Dataset | None]) -> Iterable[Pending]:
    lost = {claim.case_id: claim for claim in known.claims if served.get(claim.feature) is None}
    for case_id, claim in lost.items():
        yield Pending(case_id, "no_dataset", claim.feature, claim.acceptance.by, claim.acceptance.at)


def _retired(known: Known, datasets: Mapping[str, Dataset]) -> Iterable[Pending]:
    """Cases that somebody accepted something for after they were retired."""
    for claim in known.claims:
        dataset = datasets.get(claim.feature)
        before = dataset.retired.get(claim.case_id) if dataset is not None else None
        if before is not None and claim.acceptance.at > before.at:
            detail = f"{claim.case_id}, by {before.by}: {before.why}"
            yield Pending(claim.correction, "retired", detail, claim.acceptance.by, claim.acceptance.at)
