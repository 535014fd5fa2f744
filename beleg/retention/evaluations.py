"""What evaluations keep of an input that is forgotten: lines of their journals, and frozen cases.

Both go. What version control keeps of a case is under the care of whoever keeps the project.
"""

import json
from collections.abc import Collection, Iterator

from beleg.core.files import replace_text
from beleg.core.lock import hold
from beleg.core.settings import Settings
from beleg.evals.cases.case import Case
from beleg.evals.cases.edit import frozen
from beleg.evals.cases.files import writing
from beleg.evals.cases.forgetting import forget_cases
from beleg.evals.cases.table import tabulate
from beleg.lake.forgotten import Kind

_JOURNALS = ("journal.jsonl", "answers.jsonl")
_WAIT_S = 60.0


def clean(settings: Settings, kind: Kind, value: str, runs: Collection[str]) -> tuple[int, tuple[str, ...]]:
    """Take the lines about the cases of a value, or of its runs, out of all journals, and the cases out of the project.

    A tombstone stands already. Returns the lines taken, and a word on cases that version control may still hold.
    Raises Busy while an evaluation runs.
    """
    ids = {case.case_id for case in _cases(settings) if _tells(case, kind, value, runs)}
    taken = sum(_clean(settings, ids, runs))
    if not ids or settings.project is None:
        return taken, ()
    with writing(settings.project):
        gone = forget_cases(settings)
    tabulate(settings)
    return taken, (f"{gone} frozen cases are retired and deleted; version control of evals/ may still hold them",)


def _cases(settings: Settings) -> Iterator[Case]:
    if settings.project is not None:
        yield from frozen(settings.project)


def _tells(case: Case, kind: Kind, value: str, runs: Collection[str]) -> bool:
    named = kind == "ref" and case.input_ref == value
    # A person's word stands in many cases; only what was about the runs of a reference or tenant leads back.
    return named or (kind != "person" and not set(runs).isdisjoint(case.provenance.runs))


def _clean(settings: Settings, cases: Collection[str], runs: Collection[str]) -> Iterator[int]:
    for folder in sorted({path.parent for name in _JOURNALS for path in (settings.home / "evals").glob(f"*/*/{name}")}):
        with hold(folder / "run.lock", wait_s=_WAIT_S):
            for name in _JOURNALS:
                path = folder / name
                if not path.exists():
                    continue
                lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
                kept = [line for line in lines if not _is_about(line, cases, runs)]
                if len(kept) < len(lines):
                    replace_text(path, "".join(kept))
                yield len(lines) - len(kept)


def _is_about(line: str, cases: Collection[str], runs: Collection[str]) -> bool:
    """Whether a line of a journal speaks of a case or run; one that cannot be read goes, since it may."""
    try:
        fact = json.loads(line)
        answers = [fact["answered"][1]] if "answered" in fact else [each["case_id"] for each in fact["results"]]
        made = {each.get("run_id") for each in fact.get("results", ())}
    except (KeyError, IndexError, TypeError, ValueError):
        return True
    return not set(answers).isdisjoint(cases) or not made.isdisjoint(runs)
