"""A level is met when its rules hold and could be judged; what is unknown is missing."""

from dataclasses import replace
from typing import Any

import pytest

from beleg.contract.approvals import Approval
from beleg.contract.encoding import encode
from beleg.contract.evidence import Evidence
from beleg.contract.lint import Facts, lint
from beleg.contract.lint.cases import TODAY, merged
from beleg.contract.lint.rules import RULES
from beleg.contract.maturity import Level, maturity
from beleg.contract.model import Contract
from tests.contract.lint.support import CASES, contract

LEVELS = {("openai", "gpt-5-mini"): "low", ("anthropic", "claude-sonnet-4-6"): "medium"}


def levels(given: Contract, facts: Facts) -> tuple[Level, ...]:
    return maturity(given, lint(given, facts), facts)


def known(given: Contract, **over: Any) -> Facts:
    """Everything known about a first version that one other person approved."""
    measured = merged(CASES["evidence"], {"candidate_digest": given.digest, "baseline_digest": None} | over)
    measured.setdefault("baseline_digest", None)
    approval = Approval(given.feature, given.digest, "Miriam Vogt", "2026-11-29T09:00:00Z")
    return Facts(
        published=(),
        catalogue={},
        today=TODAY,
        evidence=Evidence.from_bytes(encode(measured)),
        approvals=(approval,),
        risk_levels=LEVELS,
    )


def test_a_clean_contract_about_which_all_is_known_meets_every_level() -> None:
    given = contract()
    assert [(each.number, each.met, each.missing) for each in levels(given, known(given))] == [
        (number, True, ()) for number in (1, 2, 3, 4, 5)
    ]


def test_offline_only_what_needs_no_facts_is_met() -> None:
    found = levels(contract(), Facts(today=TODAY))
    assert [each.met for each in found] == [True, True, False, False, False]
    assert found[2].missing == ("L29", "L30", "L45")
    assert found[3].missing == ("L46",)
    assert found[4].missing == ("L41", "L33", "L34", "L38")


def test_a_first_version_lowers_and_breaks_nothing() -> None:
    given = contract()
    facts = replace(known(given), active=None, published=())
    assert levels(given, facts)[4].met


def test_a_level_asks_what_its_first_tier_asks_also_of_a_lower_tier() -> None:
    alone = contract({"risk_tier": 1, "providers": {"fallbacks": []}})
    assert {each.severity for each in lint(alone) if each.rule == "L24"} == {"warning"}
    assert levels(alone, known(alone))[3].missing == ("L24",)
    assert [each.met for each in levels(alone, known(alone))[:2]] == [True, True]


def test_warnings_do_not_hold_up_the_first_levels() -> None:
    given = contract({"examples": []})
    assert {each.severity for each in lint(given) if each.rule == "L09"} == {"warning"}
    assert levels(given, known(given))[0].met


@pytest.mark.parametrize(
    ("over", "number", "rule"),
    [
        ({"examples": [{"total": 1}]}, 1, "L09"),
        (
            {
                "tools": [
                    {
                        "name": "a.b",
                        "version": "1",
                        "description": "",
                        "input_schema": {},
                        "binding": False,
                        "digest": "",
                    }
                ]
            },
            2,
            "L17",
        ),
        ({"evals": {"criteria": []}}, 3, "L28"),
        ({"providers": {"primary": {"timeout_s": None}}}, 4, "L27"),
        ({"change_note": ""}, 5, "L39"),
    ],
)
def test_what_is_missing_is_named_by_rule(over: dict[str, Any], number: int, rule: str) -> None:
    given = contract(over)
    assert rule in levels(given, known(given))[number - 1].missing


def test_a_contract_that_no_file_can_hold_meets_no_level() -> None:
    given = contract({"examples": [{"total": float("nan")}]})
    facts = known(contract())
    assert [each.missing for each in levels(given, facts)] == [("L48",)] * 5


@pytest.mark.parametrize("verdict", ["fail", "inconclusive"])
def test_a_measurement_that_does_not_pass_holds_up_the_third_level(verdict: str) -> None:
    given = contract()
    assert levels(given, known(given, verdict=verdict))[2].missing == ("L45",)


def test_every_level_has_rules() -> None:
    assert {rule.level for rule in RULES if rule.level is not None} == {1, 2, 3, 4, 5}
