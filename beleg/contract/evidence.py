"""The eval gate's evidence: what a draft was measured to do, bound to digests, and whether it still counts.

The file's format is `evidence.schema.json`; it lies in `contracts/features/<feature>/evidence/<draft's digest>.json`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator

from beleg.contract.draft import Feature
from beleg.contract.model import Contract, Criterion
from beleg.contract.registry.fields import parse
from beleg.contract.registry.records import Published
from beleg.core.errors import DamagedError
from beleg.trace.fingerprint import fingerprint

Verdict = Literal["pass", "fail", "inconclusive"]
_CLOCKS_DIFFER = timedelta(minutes=5)
_MOST_MISSING = 0.05
"""Share of results that a pass may lack, in any tier."""


@dataclass(frozen=True)
class CriterionResult:
    """What one criterion came to."""

    name: str
    kind: str
    verdict: Verdict
    n: int
    estimate: float | None
    lower: float | None
    upper: float | None
    threshold: float | None
    margin: float | None
    critical: bool


@dataclass(frozen=True)
class Evidence:
    """The gate's finding on one draft against one baseline."""

    feature: str
    candidate_digest: str
    baseline_digest: str | None
    """None: there was no active version yet."""
    baseline_version: str | None
    dataset: str
    dataset_digest: str
    scorers: Mapping[str, str]
    prices_digest: str
    policy_digest: str
    attempt: int
    cases: int
    missing: int
    """Planned cases without a result."""
    verdict: Verdict
    criteria: tuple[CriterionResult, ...]
    slices: tuple[Mapping[str, Any], ...]
    made_at: datetime
    document: Mapping[str, Any]
    """The file as it was, with all that only the report shows; a release keeps it."""

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "evidence") -> "Evidence":
        """From a file's bytes; raises DamagedError that names the first place that is wrong."""
        values = parse(data, name)
        error = next(iter(sorted(_validator().iter_errors(values), key=lambda e: list(map(str, e.path)))), None)
        if error is not None:
            place = ".".join(str(step) for step in error.absolute_path) or "the file"
            raise DamagedError(f"{name} is damaged: {place}: {error.message[:200]}")
        parts = {key: value for key, value in values.items() if key in cls.__dataclass_fields__}
        parts["criteria"] = tuple(_result(each) for each in values["criteria"])
        parts["slices"] = tuple(values["slices"])
        try:
            parts["made_at"] = datetime.fromisoformat(values["made_at"])
        except ValueError as error_:
            raise DamagedError(f"{name} is damaged: made_at: {values['made_at']!r} is no instant") from error_
        return cls(**parts, document=values)


def find(feature: Feature, digest: str) -> Evidence | None:
    """The evidence on a draft's digest; None where there is none. Raises DamagedError."""
    path = feature.folder / "evidence" / f"{digest}.json"
    return read(path) if path.exists() else None


def read(path: Path) -> Evidence:
    """The evidence in a file; raises DamagedError."""
    try:
        return Evidence.from_bytes(path.read_bytes(), path.name)
    except OSError as error:
        raise DamagedError(f"{path.name} cannot be read: {error.strerror}") from error


def dataset_digest(project: Path, name: str) -> str | None:
    """Fingerprint of a dataset's newest manifest in the project; None where the project holds no such dataset.

    Raises DamagedError for one that cannot be read.
    """
    manifests = sorted(
        (project / "evals" / "datasets" / name).glob("v[0-9]*.json"), key=lambda path: (len(path.name), path)
    )
    if not manifests:
        return None
    newest = manifests[-1]
    try:
        return fingerprint(parse(newest.read_bytes(), newest.name))
    except OSError as error:
        raise DamagedError(f"{newest.name} of the dataset {name} cannot be read: {error.strerror}") from error


def problems(
    evidence: Evidence,
    contract: Contract,
    active: Published | None,
    *,
    now: datetime,
    max_age_days: int | None,
    dataset_digest: str | None = None,
) -> list[str]:
    """Why evidence does not speak for this draft now, in sentences; empty where it does.

    Its verdict is not judged here. The baseline must be the version that is active now: a pass against an
    older one says nothing about what readers would lose. `dataset_digest` is that of the cases as they are now;
    None where nobody knows it.
    """
    found = [
        *_bound(evidence, contract, active),
        *_aged(evidence, now, max_age_days),
        *_criteria(evidence, contract),
        *_parts(evidence),
    ]
    if dataset_digest not in {None, evidence.dataset_digest}:
        found.append(f"the cases {evidence.dataset!r} have changed since the gate ran: run the gate again")
    if evidence.verdict == "pass" and evidence.missing >= evidence.cases:
        found.append(f"the evidence passes, but {evidence.missing} of {evidence.cases} cases have no result")
    return found


def _bound(evidence: Evidence, contract: Contract, active: Published | None) -> list[str]:
    found = []
    if evidence.feature != contract.feature:
        found.append(f"the evidence is of {evidence.feature}, not of {contract.feature}")
    if evidence.candidate_digest != contract.digest:
        found.append(f"the evidence is on the draft {evidence.candidate_digest[:12]}, not on {contract.digest[:12]}")
    baseline = None if active is None else active.digest
    if evidence.baseline_digest != baseline:
        stands = "nothing" if active is None else f"{active.version} ({active.digest[:12]})"
        measured = evidence.baseline_digest or "nothing"
        found.append(f"the evidence compares with {measured[:12]}, but {stands} is active: run the gate again")
    if evidence.dataset != contract.evals.dataset:
        found.append(f"the evidence is on the cases {evidence.dataset!r}, not on {contract.evals.dataset!r}")
    return found


def _aged(evidence: Evidence, now: datetime, max_age_days: int | None) -> list[str]:
    age = now - evidence.made_at
    if age < -_CLOCKS_DIFFER:
        return [f"the evidence is of {evidence.made_at.isoformat()}, which is in the future: set the clocks right"]
    if max_age_days is not None and age > timedelta(days=max_age_days):
        return [f"the evidence is {age.days} days old, allowed are {max_age_days}: run the gate again"]
    return []


def _criteria(evidence: Evidence, contract: Contract) -> list[str]:
    results = {result.name: result for result in evidence.criteria}
    missing = [each.name for each in contract.evals.criteria if each.name not in results]
    found = [f"the evidence says nothing on the criterion {name!r}" for name in missing]
    wrong = [name for name, result in results.items() if result.verdict != "pass"]
    if evidence.verdict == "pass" and wrong:
        found.append(f"the evidence passes as a whole, but not on {', '.join(map(repr, wrong))}: it contradicts itself")
    agreed = (each for each in contract.evals.criteria if each.name in results)
    return [*found, *(told for each in agreed for told in _contradictions(each, results[each.name]))]


def _parts(evidence: Evidence) -> Iterator[str]:
    """What must hold beside the criteria, and does not although the whole passes."""
    if evidence.verdict != "pass":
        return
    told = "the evidence passes as a whole, but not"
    whole = evidence.document
    for each in whole.get("critical_cases", ()):
        if each["verdict"] == "fail":
            yield f"{told} on the critical case {each['case_id']}"
    for each in evidence.slices:
        if each.get("required") and each.get("verdict") != "pass":
            yield f"{told} on the required slice {each.get('slice')}"
    for name in ("superiority", "hidden"):
        if (whole.get(name) or {"verdict": "pass"})["verdict"] != "pass":
            yield f"{told} on its {name} part"
    for each in whole["criteria"]:
        if each["verdict"] == "pass":
            yield from _figures(evidence, each)


def _figures(evidence: Evidence, each: Mapping[str, Any]) -> Iterator[str]:
    """What the parts and figures of a criterion that passes do not bear out."""
    named, compared = f"the evidence on {each['name']!r}", each.get("against_baseline")
    parts = (each.get(name) for name in ("against_threshold", "against_baseline", "tail"))
    if any(part and part["verdict"] != "pass" for part in parts):
        yield f"{named} passes as a whole, but not in its parts"
    if "against_baseline" in each and compared is None and None not in (evidence.baseline_digest, each["margin"]):
        yield f"{named} passes without a comparison with the baseline it names"
    if compared and compared["p"] is not None and compared["p"] > compared["alpha"]:
        yield f"{named} passes with p {compared['p']:g}, allowed are {compared['alpha']:g}"
    gaps = each.get("missing") or {"candidate": 0, "planned": 1}
    if gaps["candidate"] > _MOST_MISSING * gaps["planned"]:
        yield f"{named} passes with {gaps['candidate']} of {gaps['planned']} results missing"
    if each.get("scorer") is not None and each["scorer"] not in evidence.scorers:
        yield f"{named} is by {each['scorer']}, which is not among its scorers"


def _contradictions(criterion: Criterion, result: CriterionResult) -> Iterator[str]:
    """What a result says that its criterion, or its own figures, do not bear out."""
    named = f"the evidence on {criterion.name!r}"
    for part in ("kind", "threshold", "margin", "critical"):
        if getattr(result, part) != getattr(criterion, part):
            yield f"{named} has {part} {getattr(result, part)}, the contract {getattr(criterion, part)}"
    if result.verdict != "pass":
        return
    if result.n < 1:
        yield f"{named} passes without a case"
    elif not _reaches(criterion, result):
        figures = f"estimate {result.estimate}, from {result.lower} to {result.upper}"
        yield f"{named} passes with {figures}, against the threshold {criterion.threshold}"


_AT_MOST = ("cost", "latency")
"""Kinds of criteria whose threshold is the most that is allowed."""


def _reaches(criterion: Criterion, result: CriterionResult) -> bool:
    """Whether the estimate lies on the good side of the threshold; one without an interval proves nothing.

    Whether the interval does so too is for lint to ask (L30), by tier.
    """
    at_most = criterion.kind in _AT_MOST
    if result.estimate is None or (result.upper if at_most else result.lower) is None:
        return False
    return result.estimate <= criterion.threshold if at_most else result.estimate >= criterion.threshold


def _result(values: Mapping[str, Any]) -> CriterionResult:
    return CriterionResult(**{name: values[name] for name in CriterionResult.__dataclass_fields__})


@cache
def _validator() -> Draft202012Validator:
    text = resources.files("beleg.contract").joinpath("evidence.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))
