"""Rules about who answers for a version, and about what readers are told in time."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from beleg.contract.lint.subject import TIME_LIMIT_S, Hit, Subject, plain, text
from beleg.contract.model import Contract

LOG_DAYS = 183
"""Six months: AI Act, articles 19 and 26(6)."""
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_WORD = re.compile(r"[\w-]+")
_NO_SUCCESSOR = ("no replacement", "ersatzlos", "kein ersatz")


def lowered(subject: Subject) -> Iterator[Hit]:
    """L33: who may approve less must first be allowed to."""
    active = subject.facts.active
    if active is not None and active.risk_tier > subject.contract.risk_tier:
        for each in _missing(subject, active.risk_tier):
            yield Hit(
                "risk_tier",
                f"The tier falls from {active.risk_tier} to {subject.contract.risk_tier}: {text(each, 200)}.",
            )


def approvals(subject: Subject) -> Iterator[Hit]:
    """L34: an approval counts for the draft as it was approved, byte for byte."""
    for each in _missing(subject, subject.contract.risk_tier):
        yield Hit("approvals", f"{text(each[:1].upper() + each[1:], 200)}.")


def _missing(subject: Subject, tier: int) -> tuple[str, ...]:
    from beleg.contract.approvals import check  # noqa: PLC0415 - reads keys and people; drafts are linted without

    feature, contract = subject.facts.feature, subject.contract
    return check(
        subject.facts.approvals or (),
        subject.policy_of(tier),
        feature=contract.feature,
        digest=contract.digest,
        author=contract.author,
        risk_owner=feature.risk_owner if feature else None,
    ).missing


def incomplete(subject: Subject) -> Iterator[Hit]:
    """L35: what tier 3 must answer before anybody asks."""
    given, tier = subject.contract.governance, subject.contract.risk_tier
    if given.ai_act.get("art50") is True and given.discloses_ai is not True:
        yield Hit(
            "governance.discloses_ai", "People meet the feature (art50), but it does not tell them that it is an AI."
        )
    if tier < 3:
        return
    feature = subject.facts.feature
    if feature is not None and not (feature.risk_owner or "").strip():
        yield Hit("feature.risk_owner", "No risk owner is named.", fix="name one in feature.yaml")
    for name in ("oversight", "incident_contact"):
        if not getattr(given, name).strip():
            yield Hit(f"governance.{name}", f"Tier 3 asks for {name}.")
    if (given.log_retention_days or 0) < LOG_DAYS:
        yield Hit(
            "governance.log_retention_days",
            f"Logs are kept for {given.log_retention_days or 0} days; tier 3 asks for {LOG_DAYS}.",
        )
    if given.discloses_ai is None:
        yield Hit("governance.discloses_ai", "Nobody has said whether the feature tells people that it is an AI.")
    if not given.ai_act:
        yield Hit("governance.ai_act", "The assessment under the AI Act is missing.")


def breaking(subject: Subject) -> Iterator[Hit]:
    """L38: a breaking change is announced before it exists."""
    why = _breaks(subject)
    if not why:
        return
    if subject.contract.migration is None:
        yield Hit("migration", f"This breaks readers and has no migration note: {text(why, 200)}")
    if not subject.facts.confirmed_breaking:
        pinned = subject.facts.pinned_consumers
        whom = "" if pinned is None else f" {pinned} readers are pinned to the old major."
        yield Hit(
            "migration", f"This breaks readers and is not confirmed.{whom}", fix="confirm with --confirm-breaking"
        )


def _breaks(subject: Subject) -> str | None:
    """The first breaking change against the active version, in words; None where there is none."""
    from beleg.contract.compat import SchemaError, compare, compare_inputs  # noqa: PLC0415 - a large engine

    active = subject.facts.active
    if active is None or not subject.nodes:
        return None
    try:
        outputs = compare(plain(active.output_schema), subject.output_schema, time_limit_s=TIME_LIMIT_S)
        inputs = compare_inputs(_inputs(active), _inputs(subject.contract), time_limit_s=TIME_LIMIT_S)
    except SchemaError as error:
        return str(error)
    for found in (outputs, inputs):
        if found.bump == "major":
            return found.changes[0].sentence
    return None


def _inputs(contract: Contract) -> dict[str, dict[str, Any]]:
    return {each.name: {"schema": plain(each.schema), "required": each.required} for each in contract.prompt.variables}


def unexplained(subject: Subject) -> Iterator[Hit]:
    """L39: approvers and readers want to know what changed, and what comes instead of a field that goes."""
    if not subject.contract.change_note.strip():
        yield Hit("change_note", "The change note is empty.")
    members = {each.member for each in subject.nodes} - {None}
    for node in subject.nodes:
        if node.member is None or not isinstance(node.schema, Mapping) or node.schema.get("deprecated") is not True:
            continue
        said = str(node.schema.get("description", ""))
        replaced = members.intersection(_WORD.findall(said)) - {node.member}
        if not _DATE.search(said) or not (replaced or any(each in said.lower() for each in _NO_SUCCESSOR)):
            yield Hit(
                f"output_schema{node.pointer}",
                f"“{text(node.member)}” is deprecated without a date and a successor.",
                fix="say in its description what replaces it (or: no replacement) and until when it stays (YYYY-MM-DD)",
            )


def deadlines(subject: Subject) -> Iterator[Hit]:
    """L40: whoever reads the old major needs time."""
    migration = subject.contract.migration
    if migration is None:
        return
    earliest = _add(subject.facts.today, subject.policy.grace_days)
    if migration.deadline < earliest:
        pinned = subject.facts.pinned_consumers
        whom = f", and {pinned} readers are pinned to the old major" if pinned else ""
        yield Hit("migration.deadline", f"The deadline {migration.deadline} is earlier than {earliest}{whom}.")


def _add(day: date, days: int) -> date:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max


CHECKS = {
    "L33": lowered,
    "L34": approvals,
    "L35": incomplete,
    "L38": breaking,
    "L39": unexplained,
    "L40": deadlines,
}
