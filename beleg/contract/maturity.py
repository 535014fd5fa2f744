"""How far a draft has come: five levels, each a list of rules that must hold. A checklist, no score.

A level is met when none of its rules finds what would be an error at the tier that first asks for the
level, and when every rule could be judged: what is unknown is missing, not passed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from beleg.contract.lint.facts import Facts
from beleg.contract.lint.finding import Finding
from beleg.contract.lint.rules import BY_ID, RULES
from beleg.contract.model import Contract

NAMES = {1: "Defined", 2: "Portable", 3: "Evaluated", 4: "Resilient", 5: "Governed"}
_FIRST_TIER = {1: 1, 2: 1, 3: 2, 4: 2, 5: 3}
"""The lowest tier that asks for a level."""


@dataclass(frozen=True)
class Level:
    """One step of the progress bar."""

    number: int
    name: str
    met: bool
    missing: tuple[str, ...]
    """Ids of the rules that do not hold or could not be judged, in the table's order."""


def maturity(contract: Contract, findings: Sequence[Finding], facts: Facts) -> tuple[Level, ...]:
    """The five levels of a contract, from what `lint` found under the same facts."""
    return tuple(_level(number, set(_missing(number, contract, findings, facts))) for number in NAMES)


def _level(number: int, missing: set[str]) -> Level:
    return Level(number, NAMES[number], not missing, tuple(rule.id for rule in RULES if rule.id in missing))


def _missing(number: int, contract: Contract, findings: Sequence[Finding], facts: Facts) -> Iterator[str]:
    rules = {rule.id for rule in RULES if rule.level == number}
    yield from (rule for rule in rules if not BY_ID[rule].judged(facts) and _applies(rule, contract, facts))
    for finding in findings:
        if finding.rule == "L48" or (finding.rule in rules and _blocks(number, finding, contract)):
            yield finding.rule  # L48 leaves nothing else judged


def _blocks(number: int, finding: Finding, contract: Contract) -> bool:
    if finding.rule == "L45":  # inconclusive is a warning, but nothing is evaluated by it
        return True
    rule = BY_ID[finding.rule]
    as_usual = finding.severity == rule.severity(contract.risk_tier)
    return (rule.severity(_FIRST_TIER[number]) if as_usual else finding.severity) == "error"


def _applies(rule: str, contract: Contract, facts: Facts) -> bool:
    """Whether an unknown fact matters: without an active version nothing can be lowered or broken, and so on."""
    if rule in {"L33", "L38"}:
        return facts.active is not None or facts.published is None
    if rule == "L19":
        return bool(contract.tools)
    return rule != "L46" or bool(contract.providers.fallbacks)
