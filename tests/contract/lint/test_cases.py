"""Each rule finds what breaks it and lets the mended contract pass."""

from dataclasses import replace

import pytest

from beleg.contract.lint import lint
from beleg.contract.lint.cases import Example, examples
from beleg.contract.lint.rules import BY_ID, RULES
from beleg.contract.lint.run import CHECKS
from beleg.contract.model import Tier

EXAMPLES = examples()


def _name(example: Example) -> str:
    return f"{example.rule}-{'breaks' if example.breaks else 'mended'}"


@pytest.mark.parametrize("example", EXAMPLES, ids=_name)
def test_a_rule_finds_what_breaks_it_and_nothing_in_what_is_mended(example: Example) -> None:
    found = [each for each in lint(example.contract, example.facts) if each.rule == example.rule]
    assert bool(found) is example.breaks, found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_has_an_example_that_breaks_it_and_one_that_does_not(rule: object) -> None:
    kinds = {each.breaks for each in EXAMPLES if BY_ID[each.rule] is rule}
    assert kinds == {True, False}


def test_every_rule_of_the_table_has_one_check() -> None:
    assert set(CHECKS) == set(BY_ID)
    assert len(BY_ID) == len(RULES)
    assert {f"L{number:02d}" for number in range(1, 51)} == set(BY_ID)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.needs], ids=lambda rule: rule.id)
def test_a_rule_says_nothing_while_a_fact_that_it_needs_is_unknown(rule: object) -> None:
    broken = [each for each in EXAMPLES if BY_ID[each.rule] is rule and each.breaks]
    for example in broken:
        assert example.rule not in {each.rule for each in lint(example.contract)}


@pytest.mark.parametrize("tier", [1, 2, 3])
@pytest.mark.parametrize(
    "example", [each for each in EXAMPLES if each.breaks and each.rule in {"L22", "L24", "L27", "L37"}], ids=_name
)
def test_severity_follows_the_tier(example: Example, tier: Tier) -> None:
    contract = replace(example.contract, risk_tier=tier)
    found = [each for each in lint(contract, example.facts) if each.rule == example.rule]
    assert {each.severity for each in found} == {"warning" if tier == 1 else "error"}


def test_findings_come_worst_first_and_are_json_ready() -> None:
    found = lint(EXAMPLES[0].contract, EXAMPLES[0].facts)
    order = {"error": 0, "warning": 1, "info": 2}
    assert [order[each.severity] for each in found] == sorted(order[each.severity] for each in found)
    assert set(found[0].to_dict()) == {"rule", "severity", "place", "sentence", "fix", "guide"}


def test_an_inconclusive_verdict_is_a_warning_and_a_failed_one_an_error() -> None:
    broken = [each for each in EXAMPLES if each.rule == "L45" and each.breaks]
    said = {}
    for example in broken:
        assert example.facts.evidence is not None
        found = [each for each in lint(example.contract, example.facts) if each.rule == "L45"]
        said[example.facts.evidence.verdict] = found[0].severity
    assert said == {"fail": "error", "inconclusive": "warning"}
