"""The dry run: what publishing a draft would come to. Writes nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from beleg.contract import approvals, evidence, semver
from beleg.contract.approvals import Approved
from beleg.contract.compat.verdict import Bump, worst
from beleg.contract.draft import Feature
from beleg.contract.lifecycle import FeatureFrozen, check_changeable
from beleg.contract.lint import Finding, lint
from beleg.contract.maturity import Level, maturity
from beleg.contract.model import Contract
from beleg.contract.promotion.case import Case, gather
from beleg.contract.promotion.readiness import Ask, Blocker, Readiness, What
from beleg.contract.registry import catalogue
from beleg.contract.registry.people import person, reason
from beleg.contract.registry.registry import Registry
from beleg.contract.semver import Assessment
from beleg.core.errors import UsageError

_JUDGED_HERE = {"L33", "L34", "L38"}
"""Approvals and breaking changes: judged here against every version of the major and with signatures."""
_THE_VERDICT = {"L30", "L45"}
"""What an inconclusive gate means for lint; a person's override takes exactly that on itself."""
_OF_FALLBACKS = {"L46"}
"""The same for fallbacks, where they are inconclusive too; one that failed or was never measured stays in the way."""


def check(
    feature: Feature, contract: Contract, registry: Registry, *, ask: Ask | None = None, now: datetime | None = None
) -> Readiness:
    """Judge a draft against what is published. Raises UsageError and DamagedError where that cannot be done."""
    return judge(gather(feature, contract, registry, ask or Ask(), now))


def judge(case: Case) -> Readiness:
    """Judge what was gathered."""
    head, published = case.head, [(each.version, each.contract) for each in case.releases]
    assessment = None if head is None else semver.assess(published, head.active.version, case.contract)
    bump = None if assessment is None else worst([assessment.bump, case.ask.bump or "patch", "patch"])
    approved = _approved(case)
    facts = replace(case.facts, approvals=approved.counted)
    findings = lint(case.contract, facts)
    levels = maturity(case.contract, findings, facts)
    blockers = [
        *_about_the_feature(case, assessment),
        *_about_breaking(case, bump),
        *_about_the_draft(case, findings, levels),
        *(Blocker("approvals", each) for each in (*approved.missing, *_about_signatures(case))),
        *_about_evidence(case),
    ]
    return Readiness(
        feature=case.feature.name,
        digest=case.digest,
        epoch=0 if head is None else head.epoch,
        previous=None if head is None else head.active.version,
        version=semver.next_version(
            [version for version, _ in published], None if head is None else head.active.version, bump or "none"
        ),
        bump=bump,
        assessment=assessment,
        findings=findings,
        levels=levels,
        approved=approved,
        evidence=case.evidence,
        overridden=overridden(case),
        blockers=tuple(blockers),
    )


def _approved(case: Case) -> Approved:
    return approvals.check(
        case.approvals,
        case.approval_policy,
        feature=case.feature.name,
        digest=case.digest,
        author=case.contract.author,
        risk_owner=case.contract.risk_owner,
        former_risk_owner=None if case.facts.active is None else case.facts.active.risk_owner,
        approvers=case.approvers,
    )


def _about_signatures(case: Case) -> Iterator[str]:
    """Signatures that were asked for once are not done without because a file is gone."""
    signed = any(each.get("verified") for release in case.releases[-1:] for each in release.approvals)
    if case.approvers is None and signed:
        last = case.releases[-1].version
        yield f"{last} was approved with signatures, but contracts/policies/approvers.yaml is gone: put it back"


def _about_the_feature(case: Case, assessment: Assessment | None) -> Iterator[Blocker]:
    try:
        check_changeable(case.head)
    except FeatureFrozen as error:
        yield Blocker("lifecycle", str(error))
    if case.head is not None and case.digest == case.head.active.digest:
        yield Blocker("identical", f"the draft is {case.head.active.version} as it stands: there is nothing to publish")
    if assessment is not None and not semver.at_least(assessment.bump, case.ask.bump):
        yield Blocker("version", f"the changes ask for a {assessment.bump} version; {case.ask.bump} is less")


def _about_breaking(case: Case, bump: Bump | None) -> Iterator[Blocker]:
    if bump != "major":
        return
    if not case.ask.confirm_breaking:
        yield Blocker("breaking", "this is a new major, which breaks readers: confirm it with --confirm-breaking")
    if case.contract.migration is None:
        yield Blocker("breaking", "a new major needs migration.note and migration.deadline in change.yaml")


def _about_the_draft(case: Case, findings: Sequence[Finding], levels: Sequence[Level]) -> Iterator[Blocker]:
    if not case.contract.change_note.strip():
        yield Blocker("note", "the change note is empty: write change_note in change.yaml")
    elsewhere = _JUDGED_HERE | ({"L45"} if case.policy.evidence else set()) | _waived(case)
    for finding in findings:
        if finding.severity == "error" and finding.rule not in elsewhere:
            yield Blocker("lint", f"{finding.rule} {finding.place}: {finding.sentence} {finding.fix}".strip())
    for tool in case.contract.tools:
        if (problem := catalogue.problem(tool, case.facts.catalogue or {})) is not None:
            yield Blocker("tools", problem)
    for level in levels:
        missing = [rule for rule in level.missing if rule not in _waived(case)]
        if level.number in case.policy.maturity and missing:
            yield Blocker("maturity", f"level {level.number} ({level.name}) is not reached: {', '.join(missing)}")


def _about_evidence(case: Case) -> Iterator[Blocker]:
    if not case.policy.evidence:
        return
    if case.evidence is None:
        yield Blocker(
            "evidence", f"tier {case.contract.risk_tier} needs the gate's evidence on this draft: run the gate"
        )
        return
    active = None if case.head is None else case.head.active
    limit = case.policy.evidence_max_age_days
    found = evidence.problems(
        case.evidence,
        case.contract,
        active,
        now=case.now,
        max_age_days=limit,
        dataset_digest=evidence.dataset_digest(case.feature.folder.parents[2], case.contract.evals.dataset),
    )
    for problem in found:
        yield _evidence(problem)
    if case.evidence.verdict == "fail":
        yield _evidence("the gate failed this draft; no override passes that")
    elif case.evidence.verdict == "inconclusive" and case.ask.override is None:
        yield _evidence("the gate is inconclusive: measure more cases, or override it by name and with a reason")
    elif overridden(case):
        yield from _about_override(case)


def overridden(case: Case) -> bool:
    """Whether an override is needed and given."""
    needed = case.policy.evidence and case.evidence is not None and case.evidence.verdict == "inconclusive"
    return needed and case.ask.override is not None


def _waived(case: Case) -> set[str]:
    if not overridden(case):
        return set()
    return _THE_VERDICT | (_OF_FALLBACKS if _fallbacks_measured(case) else set())


def _fallbacks_measured(case: Case) -> bool:
    """Whether every fallback was measured and failed nothing: too few cases are too few for it as well."""
    slices = case.evidence.slices if case.evidence is not None else ()
    verdicts = {(each.get("provider"), each.get("model")): each.get("verdict") for each in slices}
    found = (verdicts.get((each.provider, each.model)) for each in case.contract.providers.fallbacks)
    return all(verdict in {"pass", "inconclusive"} for verdict in found)


def _about_override(case: Case) -> Iterator[Blocker]:
    try:
        if case.ask.override is not None:
            person(case.ask.override.by)
            reason(case.ask.override.why, "the override's reason")
    except UsageError as error:
        yield _evidence(str(error))


def _evidence(sentence: str) -> Blocker:
    what: What = "evidence"
    return Blocker(what, sentence)
