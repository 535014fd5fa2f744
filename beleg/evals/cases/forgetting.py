"""Cases about what `beleg forget` forgot: they leave every dataset, and their files are deleted.

It is the one way in which something frozen goes. What version control keeps of it is not Beleg's to change.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from beleg.core.settings import Settings
from beleg.evals.cases.case import Case
from beleg.evals.cases.dataset import FORGOTTEN_BY, Dataset, Retirement, history, names
from beleg.evals.cases.edit import frozen
from beleg.evals.cases.files import case_path, project_of
from beleg.lake.engine import connect
from beleg.lake.forgotten import Forgotten
from beleg.lake.publication import last_fact


def forget_cases(settings: Settings) -> int:
    """Retire and delete the cases of forgotten references and runs; returns how many files went.

    The caller holds the lock of `evals/`. Killed anywhere, the same call completes it. Without tombstones it
    costs one look at a file. Raises DamagedError for a case file that cannot be read.
    """
    known = Forgotten.load(settings)
    if not known:
        return 0
    project = project_of(settings)
    found = list(_found(settings, known, frozen(project)))
    at = str(last_fact(settings.ledger / "forgets.jsonl").get("at") or "unknown")
    retirement = Retirement("what it is about was forgotten", FORGOTTEN_BY, at)
    for made in _without(project, {case.case_id for case in found}, retirement):
        made.write()
    for case in found:
        case_path(project, case.feature, case.digest).unlink(missing_ok=True)
    return len(found)


def _found(settings: Settings, known: Forgotten, cases: Iterable[Case]) -> Iterator[Case]:
    with connect(settings.home / "scratch") as con:
        known.prepare(con)
        runs = {run for (run,) in con.execute("SELECT run_id FROM forgotten_runs").fetchall()}
    for case in cases:
        is_gone = ("ref", known.digest(case.input_ref)) in known.digests
        if is_gone or not runs.isdisjoint(case.provenance.runs):
            yield case


def _without(project: Path, gone: set[str], retirement: Retirement) -> Iterator[Dataset]:
    for name in names(project):
        dataset = Dataset.load(project, name)
        known = {one for version in history(project, name) for one in version.members}
        told = {one for one, each in dataset.retired.items() if each.is_forgotten}
        # Of cases that had left before, too, it must be said that their files may be missing.
        if lost := known & gone - told:
            left = {one: digest for one, digest in dataset.members.items() if one not in lost}
            yield dataset.next(left, {**dataset.retired, **dict.fromkeys(sorted(lost), retirement)})
