"""What makes a group of corrections a finding: stated once, simulated in `benchmarks/findings.py`.

A group is what people corrected for one reason at one field of a workflow under one prompt version. It is a finding
where at least `min_inputs` different inputs were corrected, the rate lies above the base rate with its whole interval,
and an exact test against the base rate holds at `alpha` after Holm's correction over all groups.

The base rate is how often the *other* fields of the workflow were corrected for the same reason under the same
version: so neither a month of eager reviewers nor a reason that people like to tick makes a finding. Given the
corrections of that reason and version, each of F fields would get one with probability 1/F; the p-value is the exact
binomial tail. Where the other fields were corrected in more than `most_base_rate` of the runs, that rate is the base:
fields that are all wrong are no noise. A workflow with one field has nothing to compare with: `lone_base_rate` is
assumed.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

PREFERENCE = "user_preference"

Kind = Literal["finding", "watch", "slip", "preference"]
Status = Literal["open", "accepted", "rejected"]
Base = Literal["other_fields", "most", "assumed"]
Trend = Literal["rising", "falling", "steady"]


@dataclass(frozen=True)
class Rule:
    """The numbers of the rule."""

    min_inputs: int = 3
    """Fewest different inputs of a finding."""
    alpha: float = 0.05
    """Most noise in which anything at all is found, and each end of an interval twice that sure."""
    lone_base_rate: float = 0.01
    """Base rate of a workflow with one field."""
    most_base_rate: float = 0.10
    """A base rate is never taken as higher."""


@dataclass(frozen=True)
class Group:
    """Corrections of one reason at one field under one prompt version, of production runs."""

    workflow: str
    field: str
    """JSON pointer with `*` for places in a list."""
    reason: str
    prompt_version: str | None
    version_place: int
    """Of the versions of the workflow in the order of their first run."""
    of_runs: int
    """Runs of that version."""
    inputs: int
    """Different inputs that were corrected; what was rejected counts nowhere but in `corrections`."""
    people: int
    """Different people who corrected, as far as they are known."""
    runs: int
    """Runs that were corrected."""
    corrections: int
    rejected_corrections: int
    first_said_at: datetime
    last_said_at: datetime

    @property
    def finding_id(self) -> str:
        """Stable: a digest of workflow, field, reason and version."""
        told = json.dumps([self.workflow, self.field, self.reason, self.prompt_version], ensure_ascii=False)
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:24]


@dataclass(frozen=True)
class Finding:
    """A group with the verdict on it: one row of the table `findings`."""

    group: Group
    kind: Kind
    status: Status
    rate: float
    """Inputs per run of the version: repeated runs of an input count above once and below each, so it is never
    overstated."""
    rate_low: float
    rate_high: float
    base_rate: float | None
    """None for a preference, which is compared with nothing."""
    base: Base | None
    p_value: float | None
    adjusted_p: float | None
    previous: Group | None
    """The same field and reason under the version before; counts of zero where nothing was said."""
    trend: Trend | None
    trend_p: float | None
    earlier_finding_id: str | None = field(default=None)
    """The same field and reason under an earlier version, where that was a finding: likely the same error."""


def judge(
    groups: Iterable[Group],
    decided: Mapping[str, Status] | None = None,
    versions: Mapping[tuple[str, int], tuple[str | None, int]] | None = None,
    rule: Rule | None = None,
) -> list[Finding]:
    """The verdict on every group, sorted by workflow, field, reason and version.

    `decided` is finding id → what a person decided; `versions` is (workflow, place) → version and its runs, those
    without corrections too, which tells what a group is compared with in time.
    """
    rule, decided, versions = rule or Rule(), decided or {}, versions or {}
    ordered = sorted(groups, key=lambda g: (g.workflow, g.field, g.reason, g.version_place))
    tests = _tests(ordered, rule)
    adjusted = dict(zip(tests, holm([test.p_value for test in tests.values()]), strict=True))
    there = {(g.workflow, g.field, g.reason, g.version_place): g for g in ordered}
    found: list[Finding] = []
    earlier: dict[tuple[str, str, str], str] = {}
    for group in ordered:
        low, high = interval(group.inputs, group.of_runs, rule.alpha / 2)
        test = tests.get(group)
        significant = test is not None and adjusted[group] <= rule.alpha and low > test.base_rate
        kind = _kind(group, rule, significant=significant)
        status = decided.get(group.finding_id, "open")
        previous = _previous(group, there, versions)
        trend, trend_p = _trend(group, previous, rule.alpha)
        same = (group.workflow, group.field, group.reason)
        found.append(
            Finding(
                group,
                kind,
                status,
                _told(_share(group)),
                _told(low),
                _told(high),
                None if test is None else _told(test.base_rate),
                None if test is None else test.base,
                None if test is None else _told(test.p_value),
                None if test is None else _told(adjusted[group]),
                previous,
                trend,
                None if trend_p is None else _told(trend_p),
                earlier.get(same),
            )
        )
        if kind == "finding" or status == "accepted":
            earlier[same] = group.finding_id
    return found


class _Test(NamedTuple):
    base_rate: float
    base: Base
    p_value: float


def _tests(groups: Sequence[Group], rule: Rule) -> dict[Group, _Test]:
    """Group → its test against the base rate; preferences are no errors and have none."""
    fields: defaultdict[str, set[str]] = defaultdict(set)
    said: defaultdict[tuple[str, int, str], int] = defaultdict(int)
    for g in groups:
        if g.inputs:
            fields[g.workflow].add(g.field)
            said[g.workflow, g.version_place, g.reason] += g.inputs
    return {
        g: _test(g, said[g.workflow, g.version_place, g.reason], len(fields[g.workflow]), rule)
        for g in groups
        if g.reason != PREFERENCE and g.inputs
    }


def _test(group: Group, said: int, fields: int, rule: Rule) -> _Test:
    if fields == 1:
        return _Test(rule.lone_base_rate, "assumed", at_least(group.inputs, group.of_runs, rule.lone_base_rate))
    others = (said - group.inputs) / ((fields - 1) * group.of_runs)
    if others > rule.most_base_rate:
        return _Test(rule.most_base_rate, "most", at_least(group.inputs, group.of_runs, rule.most_base_rate))
    return _Test(others, "other_fields", at_least(group.inputs, said, 1 / fields))


def _kind(group: Group, rule: Rule, *, significant: bool) -> Kind:
    if group.reason == PREFERENCE:
        return "preference"
    if group.inputs < 2:
        return "slip"
    return "finding" if significant and group.inputs >= rule.min_inputs else "watch"


def _previous(
    group: Group,
    there: Mapping[tuple[str, str, str, int], Group],
    versions: Mapping[tuple[str, int], tuple[str | None, int]],
) -> Group | None:
    place = group.version_place - 1
    if known := there.get((group.workflow, group.field, group.reason, place)):
        return known
    if (version := versions.get((group.workflow, place))) is None:
        return None
    nothing = dict.fromkeys(("inputs", "people", "runs", "corrections", "rejected_corrections"), 0)
    said = {"first_said_at": group.first_said_at, "last_said_at": group.last_said_at}
    return Group(group.workflow, group.field, group.reason, version[0], place, version[1], **nothing, **said)  # type: ignore[arg-type]


def _trend(group: Group, previous: Group | None, alpha: float) -> tuple[Trend | None, float | None]:
    """Whether the rate changed with the version: exact, given the corrections under both (two Poisson rates)."""
    if previous is None:
        return None, None
    both, share = group.inputs + previous.inputs, group.of_runs / (group.of_runs + previous.of_runs)
    more, fewer = at_least(group.inputs, both, share), at_least(previous.inputs, both, 1 - share)
    p = min(1.0, 2 * min(more, fewer))
    if p > alpha:
        return "steady", p
    return ("rising" if more < fewer else "falling"), p


def _share(group: Group) -> float:
    return group.inputs / group.of_runs if group.of_runs else 0.0


def at_least(hits: int, of: int, rate: float) -> float:
    """P(X ≥ hits) for a binomial X: the regularised incomplete beta I_rate(hits, of - hits + 1)."""
    from scipy.special import betainc  # noqa: PLC0415 - a publication without corrections needs none of it

    if hits <= 0:
        return 1.0
    return 0.0 if hits > of else float(betainc(hits, of - hits + 1, rate))


def interval(hits: int, of: int, alpha: float) -> tuple[float, float]:
    """Clopper-Pearson bounds of a rate, `alpha` for each end: what `beleg.evals.stats.clopper_pearson` gives.

    From `scipy.special` alone, since importing all of `beleg.evals.stats` takes longer than most publications.
    """
    from scipy.special import betaincinv  # noqa: PLC0415

    if not of:
        return 0.0, 1.0
    hits = min(hits, of)
    low = float(betaincinv(hits, of - hits + 1, alpha)) if hits else 0.0
    high = float(betaincinv(hits + 1, of - hits, 1 - alpha)) if hits < of else 1.0
    return low, high


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values in the given order: what `beleg.evals.stats.holm` gives."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def _told(value: float) -> float:
    """To nine digits: more would differ between machines."""
    return float(f"{value:.9g}")
