"""Runs every rule over a contract."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from beleg.contract.lint import budget, evals, governance, limits, prompt, providers, schema, secrets, tools
from beleg.contract.lint.facts import Facts
from beleg.contract.lint.finding import SEVERITIES, Finding
from beleg.contract.lint.rules import BY_ID, RULES, Rule
from beleg.contract.lint.subject import Hit, Subject
from beleg.contract.model import Contract

MAX_PER_RULE = 100
"""More of the same helps nobody, and looking for them may take long."""
Check = Callable[[Subject], Iterator[Hit]]
CHECKS: Mapping[str, Check] = {
    **prompt.CHECKS,
    **secrets.CHECKS,
    **schema.CHECKS,
    **tools.CHECKS,
    **budget.CHECKS,
    **limits.CHECKS,
    **providers.CHECKS,
    **evals.CHECKS,
    **governance.CHECKS,
}


def lint(contract: Contract, facts: Facts | None = None) -> tuple[Finding, ...]:
    """Everything that is wrong with a contract, worst first; a rule whose facts are unknown says nothing."""
    subject = Subject(contract, facts or Facts())
    if unwritable := tuple(findings(BY_ID["L48"], subject)):
        return unwritable
    found = [each for rule in RULES if rule.judged(subject.facts) for each in findings(rule, subject)]
    return tuple(sorted(found, key=lambda each: (SEVERITIES.index(each.severity), each.rule)))


def findings(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """What one rule finds, up to a hundred places."""
    usual = rule.severity(subject.contract.risk_tier)
    for hit in islice(CHECKS[rule.id](subject), MAX_PER_RULE):
        yield Finding(rule.id, hit.severity or usual, hit.place, hit.sentence, hit.fix or rule.fix, rule.guide)
