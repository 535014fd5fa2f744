"""What people change about a dataset by hand: they take a case out for good, or put one in (again).

The manifest is written at once; an event in the spool tells the lake who did it and why.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from beleg.contract.draft import find
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.evals.cases.case import CASE_ID, Case
from beleg.evals.cases.dataset import Dataset, Retirement, history, latest, names
from beleg.evals.cases.decisions import KIND
from beleg.evals.cases.files import dataset_name, project_of, read_case, writing
from beleg.evals.cases.pen import Pen, Person

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
DATASET = "dataset"
"""Label of a `review` on a case: the dataset it was put into."""


def retire(settings: Settings, case_id: str, who: Person, *, pen: Pen | None = None) -> list[Dataset]:
    """Take a case out of every dataset that holds it; returns their new versions.

    Raises UsageError for a case that is in none, DamagedError for a damaged dataset.
    """
    project, pen = project_of(settings), pen or Pen(settings)
    with writing(project):
        holding = [each for name in names(project) if case_id in (each := Dataset.load(project, name)).members]
        if not holding:
            raise UsageError(f"no dataset holds a case {case_id!r}; `beleg cases list` shows what they hold")
        pen.review(case_id, "retire", who, {KIND: "case"})
        pen.write()
        retirement = Retirement(who.why, who.by, pen.at)
        made = [_without(each, case_id, retirement) for each in holding]
        for each in made:
            each.write()
    return made


def _without(dataset: Dataset, case_id: str, retirement: Retirement) -> Dataset:
    members = {one: digest for one, digest in dataset.members.items() if one != case_id}
    return dataset.next(members, {**dataset.retired, case_id: retirement})


def add(
    settings: Settings, wanted: Sequence[str], who: Person, *, dataset: str | None = None, pen: Pen | None = None
) -> Dataset:
    """Put frozen cases into a dataset, retired ones too; returns its latest version.

    `wanted` are case_ids or digests; `dataset` is that of the feature's draft by default. Raises UsageError
    for a case that is not frozen, of another feature, or of which several states are.
    """
    project, pen = project_of(settings), pen or Pen(settings)
    with writing(project):
        cases = [find_case(project, one, dataset) for one in wanted]
        target = _target(project, cases, dataset)
        members = {**target.members, **{case.case_id: case.digest for case in cases}}
        made = target.next(members, {one: each for one, each in target.retired.items() if one not in members})
        if made is not target:
            for case in cases:
                pen.review(case.case_id, "accept", who, {KIND: "case", DATASET: made.name})
            pen.write()
            made.write()
    return made


def _target(project: Path, cases: Iterable[Case], name: str | None) -> Dataset:
    features = sorted({case.feature for case in cases})
    if len(features) != 1:
        raise UsageError(f"name cases of one feature at a time, not of {', '.join(features) or 'none'}")
    chosen = name or dataset_name(find(project, features[0]))
    if chosen is None:
        raise UsageError(f"the draft of {features[0]} names no dataset; say --dataset NAME")
    return latest(project, chosen, features[0])


def find_case(project: Path, wanted: str, dataset: str | None = None) -> Case:
    """The case of a case_id or digest: as a dataset last held it, else the only frozen one.

    Raises UsageError for one that is not frozen, or frozen in several states that no dataset held.
    """
    if not CASE_ID.match(wanted) and not _DIGEST.match(wanted):
        raise UsageError(f"{wanted[:70]!r} is no case: give its case_id (24 hex digits) or digest (64)")
    if not _DIGEST.match(wanted):
        for name in [dataset] if dataset else names(project):
            held = [each for each in history(project, name) if wanted in each.members] if name else []
            if held:
                return held[-1].case(wanted)
    found = [case for case in frozen(project) if wanted in (case.case_id, case.digest)]
    if len(found) != 1:
        told = ", ".join(case.digest for case in found) or "none"
        raise UsageError(f"name the one state of {wanted} that is meant, by its digest; there are: {told}")
    return found[0]


def frozen(project: Path) -> Iterable[Case]:
    """Every frozen case of a project, in a dataset or not; raises DamagedError for the first that is damaged."""
    for path in sorted((project / "evals" / "cases").glob("[!.]*/[!.]*.json")):
        yield read_case(project, path.parent.name, path.stem)
