"""What a person decides becomes events in the spool; `beleg run` takes them into the lake, `freeze` acts on them.

Who decides something new about a correction (where its input is, what is right) makes a new correction that
replaces it, and accepts that: so every value passes the same rules, and every decision can be traced.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.core.values import stores_values
from beleg.evals.cases import pointer as pointers
from beleg.evals.cases.case import UNKNOWN
from beleg.evals.cases.claims import Conflict
from beleg.evals.cases.decisions import CRITICAL, FAMILY, FINDING, KIND, SETTLES, SLICE, Decision, decisions
from beleg.evals.cases.freeze import look
from beleg.evals.cases.pen import Pen, Person
from beleg.evals.cases.reader import Row
from beleg.evals.cases.sources import bound_runs, corrections, replaced
from beleg.evals.cases.values import fingerprint_under, storable
from beleg.evals.findings import members
from beleg.lake.engine import connect
from beleg.lake.snapshot import Snapshot
from beleg.trace import policy
from beleg.trace.fingerprint import full_fingerprint
from beleg.trace.keys import key_ring

_COPIED = ("field", "reason", "tenant", "workflow", "run_id", "input_hash", "output_hash")
"""What a correction in place of another has from that."""


@dataclass(frozen=True)
class Wish:
    """What the case is to be, beside what the correction says."""

    critical: bool = False
    family: str | None = None
    slices: Mapping[str, str] = field(default_factory=dict)
    input_ref: str | None = None
    expected: Any = UNKNOWN

    def labels(self) -> dict[str, str]:
        """Labels of the review; raises UsageError for what cannot be one."""
        made = {CRITICAL: "true"} if self.critical else {}
        if self.family is not None:
            made[FAMILY] = _word("--family", self.family, 256)
        for name, value in self.slices.items():
            made[SLICE + _word("--slice", name, 64 - len(SLICE))] = _word(f"--slice {name}", value, 256)
        if len(made) > policy.MAX_LABELS - 2:
            raise UsageError(f"{len(made)} labels are too many; give at most {policy.MAX_LABELS - 2}")
        return made


@dataclass(frozen=True)
class Decided:
    """What was written down."""

    decision: str
    subjects: tuple[str, ...]
    """Corrections that were decided on."""
    correction: str | None = None
    """Id of the correction that was made in place of another one."""


def accept(
    settings: Settings, subject: str, who: Person, wish: Wish | None = None, *, pen: Pen | None = None
) -> Decided:
    """Accept a correction, or all present ones of a finding.

    An `input_ref` or `expected` makes a new correction in place of the one accepted. Raises UsageError for a
    subject the lake does not know and for a wish that cannot be met.
    """
    wish, pen = wish or Wish(), pen or Pen(settings)
    labels = wish.labels()
    found = _Found(settings, subject)
    if wish.input_ref is None and wish.expected is UNKNOWN:
        for row in found.rows:
            pen.review(row["correction_id"], "accept", who, {**labels, **found.labels}, tenant=row["tenant"])
        found.review_finding(pen, "accept", who)
        pen.write()
        return Decided("accept", found.ids)
    if found.is_finding:
        raise UsageError(f"{subject} is a finding; --input-ref and --expected are for one correction")
    (row,) = found.rows
    made = pen.correction(found.instead(row, wish, who))
    pen.review(made, "accept", who, labels, tenant=row["tenant"])
    pen.write()
    return Decided("accept", (made,), made)


def reject(settings: Settings, subject: str, who: Person, *, pen: Pen | None = None) -> Decided:
    """Turn a correction or finding down; what was frozen from it is retired. Raises UsageError as `accept`."""
    pen = pen or Pen(settings)
    found = _Found(settings, subject)
    for row in found.rows:
        pen.review(row["correction_id"], "reject", who, found.labels, tenant=row["tenant"])
    found.review_finding(pen, "reject", who)
    pen.write()
    return Decided("reject", found.ids)


def settle(
    settings: Settings,
    case_id: str,
    field: str,
    who: Person,
    *,
    correction: str | None = None,
    expected: Any = UNKNOWN,
    pen: Pen | None = None,
) -> Decided:
    """Say what is right where people disagree: one of their corrections, or another value.

    Raises UsageError where there is no such conflict, the correction is none of its sides, or neither or both
    are given.
    """
    if (correction is None) == (expected is UNKNOWN):
        raise UsageError("say what is right: either --correction ID or --expected JSON")
    pen = pen or Pen(settings)
    sides = _sides(_conflict(settings, case_id, pointers.pointer(field)))
    if correction is not None and correction not in sides:
        raise UsageError(f"{correction} is no side of that conflict; its sides are {', '.join(sides)}")
    found = _Found(settings, correction or sides[-1])
    (row,) = found.rows
    settled = correction
    if settled is None:
        made = found.instead(row, Wish(expected=expected), who)
        at = pointers.pointer(field)
        # What a person says of a part takes nothing away from what was said of the whole.
        settled = pen.correction(
            {**made, "field": at, "supersedes": row["correction_id"] if row["field"] == at else None}
        )
    pen.review(settled, "accept", who, {SETTLES: "true"}, tenant=row["tenant"])
    pen.write()
    return Decided("accept", (settled,), None if correction else settled)


def _conflict(settings: Settings, case_id: str, field: str) -> Conflict:
    conflicts = look(settings).conflicts
    for each in conflicts:
        if each.case_id == case_id and each.field == field:
            return each
    known = ", ".join(f"{each.case_id} {each.field!r}" for each in conflicts) or "none"
    raise UsageError(f"no conflict on {field!r} of case {case_id!r}; conflicts are: {known}")


def _sides(conflict: Conflict) -> Sequence[str]:
    return [word.correction for word in conflict.words if word.correction is not None]


class _Found:
    """What a subject is: a correction, or a finding with its corrections."""

    def __init__(self, settings: Settings, subject: str) -> None:
        self.settings, self.subject = settings, subject
        lake = Snapshot.latest(settings)
        with connect(settings.home / "scratch") as con:
            said = corrections(con, lake, [subject])
            reports = said.get(subject, [])
            self._check_current(said, decisions(con, lake, said))
            self.is_finding = not reports
            if self.is_finding:
                ids = members(settings, subject)
                known = corrections(con, lake, ids)
                reports = [known[one][0] for one in ids if one in known]
            self.rows: list[Row] = reports[:1] if not self.is_finding else reports
            self.bound = bound_runs(con, lake, self.ids)
        if len(reports) > 1 and not self.is_finding:
            raise UsageError(f"several corrections bear the id {subject!r}; it needs one of its own")
        if not self.rows:
            raise UsageError(f"the lake knows no correction or finding {subject!r}; `beleg run` takes in what is new")

    def _check_current(self, said: Mapping[str, list[Row]], decided: Mapping[str, Decision]) -> None:
        """Raise UsageError for a correction in whose place another one was accepted: a word on it changes nothing."""
        accepted = {one for one, each in decided.items() if each.verdict == "accept"}
        if by := replaced(said, accepted).get(self.subject):
            raise UsageError(f"the correction {by} was accepted in place of {self.subject}: decide on that one")

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the corrections."""
        return tuple(row["correction_id"] for row in self.rows)

    @property
    def labels(self) -> dict[str, str]:
        """What tells that a decision was made on a finding."""
        return {FINDING: self.subject} if self.is_finding else {}

    def review_finding(self, pen: Pen, verdict: Any, who: Person) -> None:
        """Decide on the finding itself, after its corrections."""
        if self.is_finding:
            pen.review(self.subject, verdict, who, {KIND: "finding"})

    def instead(self, row: Row, wish: Wish, who: Person) -> dict[str, Any]:
        """Fields of a correction in place of another."""
        copied = {name: row[name] for name in _COPIED}
        if runs := self.bound.get(row["correction_id"]):
            copied["workflow"] = runs[-1]["workflow"] or row["workflow"]  # it decides whether the value may be stored
        reference = row["input_ref"] if wish.input_ref is None else _word("--input-ref", wish.input_ref, 512)
        made = {**copied, "supersedes": row["correction_id"], "input_ref": reference}
        if wish.expected is not UNKNOWN:
            return {**made, **self._value(row, wish.expected), "author_hash": _author(who, row["tenant"])}
        if row["expected"] is not None:
            return {**made, **self._value(row, json.loads(row["expected"])), "author_hash": row["author_hash"]}
        return {**made, "expected_hash": row["expected_hash"], "author_hash": row["author_hash"]}

    def _value(self, row: Row, value: Any) -> dict[str, Any]:
        """The value where its workflow stores values, else its fingerprint under the key of the run."""
        runs = self.bound.get(row["correction_id"], [])
        if not runs or runs[-1]["run_id"] is None:
            raise UsageError(f"{row['correction_id']} is bound to no run, so nobody knows how to keep the value")
        storable(value)
        if stores_values(self.settings, runs[-1]["workflow"]):
            return {"expected": value}
        digest = fingerprint_under(value, runs[-1]["hash_key_id"])
        if digest is None:
            raise UsageError(f"the key {runs[-1]['hash_key_id']!r} of the run is not in BELEG_HASH_KEYS")
        return {"expected_hash": digest}


def _author(who: Person, tenant: str | None) -> str:
    """Who says so, as the tracer tells it of other corrections."""
    return full_fingerprint(who.by, key_ring().for_tenant(tenant)).digest


def _word(option: str, value: str, most: int) -> str:
    try:
        return policy.word(option, value, most)
    except policy.PolicyError as error:
        raise UsageError(f"{error}") from error
