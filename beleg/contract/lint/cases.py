"""Contracts that break a rule and mended ones, from `tests/contract/lint/cases.yaml`: for the tests and the docs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from beleg.contract import document
from beleg.contract.approvals import Approval
from beleg.contract.encoding import encode
from beleg.contract.evidence import Evidence
from beleg.contract.lint.facts import Facts
from beleg.contract.model import Contract
from beleg.contract.surroundings import Surroundings
from beleg.contract.tools import pin
from beleg.core import yamlfile
from beleg.core.paths import shipped

TODAY = date(2026, 11, 30)


@dataclass(frozen=True)
class Example:
    """One contract under given facts, as it stands in the file."""

    rule: str
    written: Mapping[str, Any]
    given: Mapping[str, Any]
    breaks: bool
    contract: Contract
    facts: Facts


def path() -> Path:
    """The file; only a checkout has it."""
    return shipped("docs").parent / "tests" / "contract" / "lint" / "cases.yaml"


def examples() -> list[Example]:
    """Every example of every rule, in the file's order: the breaking one, then the mended one."""
    values = yamlfile.parse(path().read_text(encoding="utf-8"))
    rows = [(rule, row) for rule, rows in values["rules"].items() for row in rows]
    kinds = [(rule, row, kind) for rule, row in rows for kind in ("breaks", "mended")]
    return [_example(values, rule, row, kind) for rule, row, kind in kinds if row[kind] is not None]


def _example(values: Mapping[str, Any], rule: str, row: Mapping[str, Any], kind: str) -> Example:
    given = row.get("facts", {})
    contract = _contract(values, row[kind])
    mended = _contract(values, row["mended"] or {})
    return Example(rule, row[kind], given, kind == "breaks", contract, _facts(values, given, contract, mended))


def _contract(values: Mapping[str, Any], written: Mapping[str, Any]) -> Contract:
    whole = merged(values["base"], written)
    whole["tools"] = [_tool(merged(values["tool"], each)) for each in whole["tools"]]
    return document.contract(whole)


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    if tool["digest"] == "PIN":
        tool["digest"] = pin(tool["name"], tool["version"], tool["description"], tool["input_schema"])
    return tool


def _facts(values: Mapping[str, Any], given: Mapping[str, Any], contract: Contract, mended: Contract) -> Facts:
    facts = Facts(today=given.get("today", TODAY), confirmed_breaking=given.get("confirmed_breaking", False))
    active = _contract(values, given["active"]) if "active" in given else None
    facts = replace(facts, active=active)
    if "catalogue" in given:
        tools = [merged(values["tool"], each) for each in given["catalogue"]]
        facts = replace(facts, catalogue={(each["name"], each["version"]): each for each in tools})
    if "called_tools" in given:
        facts = replace(facts, called_tools=frozenset(given["called_tools"]))
    if "risk_levels" in given:
        levels = {(p, m): level for p, models in given["risk_levels"].items() for m, level in models.items()}
        facts = replace(facts, risk_levels=levels)
    if "approvals" in given:
        approved = tuple(
            Approval(contract.feature, contract.digest, by, "2026-11-29T09:00:00Z") for by in given["approvals"]
        )
        facts = replace(facts, approvals=approved)
    if "surroundings" in given:
        facts = replace(facts, surroundings=_surroundings(given["surroundings"], contract))
    if "evidence" in given:
        facts = replace(
            facts, evidence=_evidence(merged(values["evidence"], given["evidence"]), contract, mended, active)
        )
    return facts


def _surroundings(values: Mapping[str, Any], contract: Contract) -> Surroundings:
    pins = {each.name: each.digest for each in contract.tools}
    cohorts = {
        name: {**each, "tools": [pins.get(tool, "0" * 64) for tool in each["tools"]]}
        for name, each in values["cohorts"].items()
    }
    return Surroundings.from_bytes(encode({"schema_version": 1, **values, "cohorts": cohorts}))


def _evidence(values: dict[str, Any], contract: Contract, mended: Contract, active: Contract | None) -> Evidence:
    digests = {"SELF": contract.digest, "SELF OF MENDED": mended.digest, "ACTIVE": active.digest if active else None}
    for name in ("candidate_digest", "baseline_digest"):
        values[name] = digests.get(str(values.get(name)), values.get(name))
    return Evidence.from_bytes(encode(values))


def merged(base: Any, over: Any) -> Any:
    """`over` laid on `base` as RFC 7386 merges: mappings member by member, null takes away."""
    if not isinstance(over, Mapping):
        return over
    whole = dict(base) if isinstance(base, Mapping) else {}
    for name, value in over.items():
        if value is None:
            whole.pop(name, None)
        else:
            whole[name] = merged(whole.get(name), value)
    return whole
