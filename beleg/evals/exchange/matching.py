"""Which case each row of a file answers, and for the how-manieth time."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from beleg.core.errors import UsageError
from beleg.evals.cases.case import Case
from beleg.evals.cases.dataset import Dataset
from beleg.evals.exchange.rows import Row, wrong
from beleg.evals.suite import MOST_REPETITIONS

Matched = list[tuple[Case, Row]]


def match(found: Iterable[Row], dataset: Dataset, name: str) -> tuple[Matched, tuple[str, ...]]:
    """Rows with their cases, each with its repetition, and what told those that belong to none.

    Raises UsageError where no row belongs to the dataset, DamagedError for a case that is told twice.
    """
    by_key = _by_key(dataset.cases())
    matched: Matched = []
    unknown: list[str] = []
    for row in found:
        case = next((by_key[key] for key in row.keys if key in by_key), None)
        if case is None:
            unknown.append(row.keys[0][:100])
        else:
            matched.append((case, row))
    if not matched:
        shown = ", ".join(unknown[:3]) or "nothing"
        raise UsageError(f"{name} holds no answer to a case of {dataset.name}; it tells of {shown}")
    return list(_numbered(matched, name)), tuple(unknown)


def _by_key(cases: list[Case]) -> dict[str, Case]:
    """By case_id, and by input_ref where only one case has it."""
    refs = Counter(case.input_ref for case in cases)
    by_ref = {case.input_ref: case for case in cases if refs[case.input_ref] == 1}
    return by_ref | {case.case_id: case for case in cases}


def _numbered(matched: Matched, name: str) -> Iterator[tuple[Case, Row]]:
    seen: dict[tuple[str, int], str] = {}
    last: dict[str, int] = defaultdict(int)
    for case, row in matched:
        repetition = last[case.case_id] + 1 if row.repetition is None else row.repetition
        last[case.case_id] = repetition
        if not 1 <= repetition <= MOST_REPETITIONS:
            raise wrong(name, row.place, f"repetition {repetition} is none of 1 to {MOST_REPETITIONS}")
        if (earlier := seen.get((case.case_id, repetition))) is not None:
            raise wrong(name, row.place, f"repetition {repetition} of case {case.case_id} stands at {earlier} already")
        seen[case.case_id, repetition] = row.place
        yield case, replace(row, repetition=repetition)
