"""Cases that exist already, out of a file: frozen and put into a dataset, all or none."""

from dataclasses import dataclass, replace
from pathlib import Path

from beleg.contract.draft import find
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.evals.cases.assemble import assemble
from beleg.evals.cases.case import Acceptance, Case, case_id_of
from beleg.evals.cases.claims import Claim
from beleg.evals.cases.dataset import Dataset, latest
from beleg.evals.cases.files import project_of, write_case, writing
from beleg.evals.cases.pen import Pen, Person
from beleg.evals.cases.sheet import Rows, read_sheet
from beleg.evals.cases.values import fingerprint_under

_NAMES = ("input_ref", "input", "input_hash", "hash_key_id", "expected", "family", "critical", "reason")
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0", "")
MOST_PROBLEMS = 20
"""Bad rows that the message names."""


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    rows: int
    dataset: Dataset
    """Its latest version; a new one where the file held anything new."""
    changed: tuple[str, ...]
    """case_ids that are new, or of which more is known now."""


def import_cases(
    settings: Settings, path: Path, feature: str, dataset: str, who: Person, *, pen: Pen | None = None
) -> Imported:
    """Freeze the cases of a file and put them into a dataset, all or none; the same file again changes nothing.

    Raises UsageError that names the lines which are wrong, contradict each other or what is frozen already;
    DamagedError for a file that cannot be read.
    """
    project = project_of(settings)
    served = find(project, feature)
    told = Acceptance(who.by, who.why, (pen or Pen(settings)).at, None)
    with writing(project):
        target = latest(project, dataset, feature)
        rows = read_sheet(settings, path, served, told)
        cases = _merged(rows, target)
        if rows.problems:
            shown = "\n".join(rows.problems[:MOST_PROBLEMS])
            raise UsageError(f"{path.name}: nothing was imported, {len(rows.problems)} rows are wrong:\n{shown}")
        for case in cases.values():
            write_case(project, case)
        made = target.next({**target.members, **{one: case.digest for one, case in cases.items()}}, target.retired)
        if made is not target:
            made.write()
    return Imported(len(rows.claims), made, tuple(sorted(cases)))


def _merged(rows: Rows, target: Dataset) -> dict[str, Case]:
    """The cases that are new or know more than before; contradictions become problems."""
    fresh: list[Claim] = []
    frozen: dict[str, Case] = {}
    lines: dict[str, list[int]] = {}
    for line, claims in rows.claims.items():
        case_id = case_id_of(claims[0].feature, claims[0].hash_key_id, claims[0].input_hash)
        lines.setdefault(case_id, []).append(line)
        if case_id in target.retired:
            rows.problems.append(f"line {line}: its case {case_id} was retired; `beleg cases add` brings it back")
        if case_id in target.members and case_id not in frozen:
            frozen[case_id] = target.case(case_id)
        if case_id not in frozen or not all(_is_known(claim, frozen[case_id]) for claim in claims):
            fresh += claims
    touched = {claim.case_id for claim in fresh}
    found = assemble(fresh, {one: case for one, case in frozen.items() if one in touched}, fingerprint_under)
    for each in found.conflicts:
        numbers = ", ".join(map(str, lines[each.case_id]))
        rows.problems.append(
            f"line {numbers}: {each.field or 'the result'!r} contradicts another line or the frozen case"
        )
    return {one: replace(case, reasons=tuple(filter(None, case.reasons))) for one, case in found.cases.items()}


def _is_known(claim: Claim, case: Case) -> bool:
    """Whether the case says all that the claim does."""
    known = case.expected.get(claim.field)
    same = known is not None and known.document() == claim.expectation.document()
    described = claim.family in (None, case.family) and claim.slices.items() <= case.slices.items()
    return same and described and (case.critical or not claim.critical) and claim.reason in ("", *case.reasons)
