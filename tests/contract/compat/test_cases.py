"""The reviewed cases: 222 pairs of schemas and chains of three versions, with the verdict that is right."""

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from beleg.contract.compat import Comparison, compare, compare_all
from beleg.contract.compat.verdict import BUMPS
from tests.contract.compat.schemas import valid

OTHER_RULES = {
    "OPN-27": {"R21"},  # a limit tightens; R20 is the rule for one that loosens
    "CMB-29": {"R01"},  # an optional field of a variant: where it stands is told by the pointer
}
"""Cases whose change is reported under another rule, with the reason."""

UNSAFE = {"reader_violation", "old_unsatisfiable", "unprovable"}


@pytest.fixture(scope="module")
def cases(test_data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        (test_data / "contracts" / "compat_cases.json").read_text(encoding="utf-8")
    )
    return found


@cache
def _compared(old: str, new: str) -> Comparison:
    return compare(json.loads(old), json.loads(new))


def verdict(case: dict[str, Any]) -> Comparison:
    return _compared(json.dumps(case["old"]), json.dumps(case["new"]))


def wrong(cases: list[dict[str, Any]], right: Any) -> list[str]:
    return [f"{case['id']}: {case['description']}" for case in cases if not right(case, verdict(case))]


def test_every_case_gets_the_expected_bump_the_hard_ones_too(cases: list[dict[str, Any]]) -> None:
    assert len(cases) == 222
    assert wrong(cases, lambda case, found: found.bump == case["expected"]) == []


def test_no_case_is_under_reported(cases: list[dict[str, Any]]) -> None:
    assert wrong(cases, lambda case, found: found.bump in case["acceptable"]) == []


def test_every_change_is_reported_under_its_rule(cases: list[dict[str, Any]]) -> None:
    def right(case: dict[str, Any], found: Comparison) -> bool:
        if found.bump == "none":
            return found.changes == ()
        rules = {change.rule for change in found.changes if change.bump == found.bump}
        if case["rule"] == "R70":  # several changes, of which the worst counts
            return len({change.rule for change in found.changes}) > 1
        return bool(rules & {case["rule"], *OTHER_RULES.get(case["id"], ())})

    assert wrong(cases, right) == []


def test_readers_are_safe_exactly_where_no_value_breaks_them(cases: list[dict[str, Any]]) -> None:
    reasons = {case["id"]: case.get("major_reason") for case in cases}
    assert wrong(cases, lambda case, found: found.reader_safe == (reasons[case["id"]] not in UNSAFE)) == []
    assert wrong(cases, lambda case, found: found.unprovable == (reasons[case["id"]] == "unprovable")) == []


def test_a_reader_witness_stands_exactly_where_readers_break(cases: list[dict[str, Any]]) -> None:
    def right(_: dict[str, Any], found: Comparison) -> bool:
        witnessed = any(change.witness_kind == "reader" for change in found.changes)
        return witnessed == (not found.reader_safe and not found.unprovable)

    assert wrong(cases, right) == []


def test_witnesses_are_valid_on_one_side_and_not_on_the_other(cases: list[dict[str, Any]]) -> None:
    def right(case: dict[str, Any], found: Comparison) -> bool:
        for change in found.changes:
            giver, reader = (
                (case["new"], case["old"]) if change.witness_kind == "reader" else (case["old"], case["new"])
            )
            if change.witness_kind and not _tells_apart(giver, reader, change.witness):
                return False
        return True

    plain = [case for case in cases if "format" not in json.dumps(case) and case["rule"] != "R63"]
    assert len(plain) > 200
    assert wrong(plain, right) == []


def _tells_apart(giver: Any, reader: Any, witness: Any) -> bool:
    return valid(giver, witness) and not valid(reader, witness)


def test_the_reviewed_witnesses_break_readers_here_too(cases: list[dict[str, Any]]) -> None:
    """A reviewed witness, allowed as a value of its own, breaks the reader of OLD."""
    reviewed = [case for case in cases if "witness" in case and "format" not in json.dumps(case)]
    assert len(reviewed) > 60
    safe = [case["id"] for case in reviewed if compare(case["old"], {"const": case["witness"]}).reader_safe]
    assert safe == []


def test_bumps_have_an_order() -> None:
    assert BUMPS == ("none", "patch", "minor", "major")


def test_chains_are_compared_with_every_version(test_data: Path) -> None:
    for chain in json.loads((test_data / "contracts" / "compat_chains.json").read_text(encoding="utf-8")):
        versions = chain["versions"]
        steps = [compare(old, new).bump for old, new in pairwise(versions)]
        found = compare_all(versions[:-1], versions[-1])
        assert (chain["id"], steps, found.bump) == (chain["id"], chain["pairwise"], chain["vs_all"])
        if found.bump == "major":
            assert found.changes[0].against == chain["against"]
            assert found.changes[0].witness_kind == "reader"
