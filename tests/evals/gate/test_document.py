"""The evidence: canonical bytes, in the form that publishing reads, and outputs that say the same."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from beleg.contract.evidence import Evidence, problems
from beleg.contract.model import Tier
from beleg.evals.gate.document import NAMED_CASES, evidence, evidence_bytes
from beleg.evals.gate.judge import Report, judge, judge_hidden
from beleg.evals.gate.junit import junit
from beleg.evals.gate.markdown import summary
from beleg.evals.gate.reasons import SENTENCES, fields_of, reason
from beleg.trace.canon import canonical
from tests.evals.gate.support import (
    COST,
    DATASET,
    EXACT,
    LATENCY,
    LINES,
    NOW,
    case,
    contract,
    counts,
    judged,
    plan,
    results,
    rules,
)

N = 120


def whole(tier: Tier = 2, worse: int = 1) -> Report:
    """Every part of a report at once."""
    chosen = [case(n, slices={"lang": "de" if n % 2 else "en"}, critical=n == 9, preference=n > 115) for n in range(N)]
    criteria = EXACT, LINES, COST, LATENCY
    asked = plan(*criteria, cases=chosen, tier=tier)
    ramp = [1.0 + number / 100 for number in range(N)]
    found = [
        *results(asked, [0.0] * worse + [1.0] * (N - worse), [1.0] * N),
        *results(asked, [0.9] * N, [0.9] * (N - 1) + [0.8], criterion=LINES),
        *results(asked, [each / 50 for each in ramp], [each / 49 for each in ramp], criterion=COST),
        *results(asked, [900 * each + 1 for each in ramp], [1000 * each for each in ramp], criterion=LATENCY),
    ]
    demands = rules(*criteria, tier=tier, required_slices=("lang=de",), superiority=LINES.name)
    secret = judge_hidden(asked, found, demands)
    return judge(asked, found, demands, hidden=secret)


def test_the_same_inputs_give_the_same_bytes() -> None:
    assert evidence_bytes(whole()) == evidence_bytes(whole())
    assert evidence_bytes(whole()) != evidence_bytes(whole(worse=2))


def test_the_bytes_are_canonical_and_in_the_form_that_publishing_reads() -> None:
    found = whole()
    data = evidence_bytes(found)
    assert canonical(json.loads(data)).data == data
    read = Evidence.from_bytes(data)
    assert (read.verdict, read.cases, read.missing, read.attempt) == (found.verdict, 116, 0, 1)
    assert read.made_at == NOW
    assert [each.name for each in read.criteria] == [EXACT.name, LINES.name, COST.name, LATENCY.name]


def test_a_pass_speaks_for_its_contract() -> None:
    criteria = EXACT, LATENCY
    drafted = contract(*criteria)
    asked = plan(*criteria, cases=[case(number) for number in range(N)], first=True)
    asked = replace(asked, candidate=replace(asked.candidate, digest=drafted.digest))
    made = [
        replace(each, digest=drafted.digest)
        for each in (
            *results(asked, [1.0] * N),
            *results(asked, [100.0 + number for number in range(N)], criterion=LATENCY),
        )
    ]
    report = judge(asked, made, rules(*criteria))
    assert report.verdict == "pass"
    read = Evidence.from_bytes(evidence_bytes(report))
    assert problems(read, drafted, None, now=NOW + timedelta(days=1), max_age_days=30) == []
    other = problems(read, drafted, None, now=NOW, max_age_days=30, dataset_digest="0" * 64)
    assert other == [f"the cases {DATASET!r} have changed since the gate ran: run the gate again"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"critical_cases": [{"verdict": "fail"}]}, "not on the critical case"),
        ({"slices": [{"slice": "lang=de", "required": True, "verdict": "fail"}]}, "not on the required slice lang=de"),
        ({"hidden": {"verdict": "inconclusive"}}, "not on its hidden part"),
        ({"superiority": {"verdict": "inconclusive"}}, "not on its superiority part"),
        ({"criteria": [{"against_baseline": {"verdict": "fail"}}]}, "passes as a whole, but not in its parts"),
    ],
)
def test_a_pass_that_its_own_parts_do_not_bear_out_does_not_count(
    change: dict[str, list[dict[str, str]]], told: str
) -> None:
    found = evidence(judged(*counts(0, 3, 197, 0), facts={5: {"critical": True}}))
    for name, value in change.items():
        if name == "critical_cases":
            found[name][0] |= value[0]
        elif name == "criteria":
            found[name][0]["against_baseline"] |= value[0]["against_baseline"]
        elif name == "hidden":
            found[name] = {"dataset_digest": "0" * 64, "cases": 1, "missing": 0, **value}  # type: ignore[dict-item]
        elif name == "superiority":
            found[name] = {"criterion": "x", "p": None, **value}  # type: ignore[dict-item]
        else:
            found[name] = value
    read = Evidence.from_bytes(json.dumps(found).encode())
    drafted = contract(EXACT)
    assert told in " ".join(problems(read, drafted, None, now=NOW, max_age_days=None))


def _worse(document: dict[str, Any]) -> None:
    document["criteria"][0]["against_baseline"] |= {"worse": 340, "estimate": -0.9, "p": 1.0}


def _alone(document: dict[str, Any]) -> None:
    document["criteria"][0]["against_baseline"] = None


def _gaps(document: dict[str, Any]) -> None:
    document["criteria"][0]["missing"]["candidate"] = 100


def _nobody(document: dict[str, Any]) -> None:
    document["scorers"] = {}


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (_worse, "passes with p 1, allowed are 0.05"),
        (_alone, "passes without a comparison with the baseline it names"),
        (_gaps, "passes with 100 of 200 results missing"),
        (_nobody, "is not among its scorers"),
    ],
)
def test_evidence_edited_by_hand_contradicts_itself(edit: Callable[[dict[str, Any]], None], told: str) -> None:
    document = json.loads(evidence_bytes(judged(*counts(0, 3, 197, 0))))
    before = _problems(document)
    edit(document)
    assert told in _problems(document)
    assert told not in before


def _problems(document: dict[str, Any]) -> str:
    read = Evidence.from_bytes(json.dumps(document).encode())
    return " ".join(problems(read, contract(EXACT), None, now=NOW, max_age_days=None))


def test_of_a_hidden_set_only_counts_and_verdict_are_told() -> None:
    found = evidence(whole())["hidden"]
    assert set(found) == {"dataset_digest", "cases", "missing", "verdict"}


def test_long_lists_of_cases_are_cut_and_counted() -> None:
    moved = evidence(judged(*counts(300, 10, 100, 0)))["criteria"][0]["moved"]
    assert (moved["worse"], len(moved["worse_cases"]), moved["better"]) == (300, NAMED_CASES, 10)


def test_the_summary_tells_every_criterion_and_no_text_of_others_is_markup() -> None:
    evil = replace(EXACT, name="a|b](http://x) <img> @team `c`")
    told = summary(judged(*counts(20, 0, 140, 2), criterion=evil))
    assert told.startswith("## ❌ receipts: fail")
    row = next(each for each in told.splitlines() if each.startswith("| a"))
    assert row.replace("\\|", "").count("|") == 8
    assert "\\<img\\>" in row
    assert "\\@team" in row


def test_junit_counts_what_did_not_pass() -> None:
    root = ET.fromstring(junit(whole()))
    suite = root.find("testsuite")
    assert suite is not None
    names = [each.get("name") for each in suite]
    assert names[0] == "gate"
    assert {EXACT.name, "hidden set", f"slice lang=de: {EXACT.name}"} <= set(names)
    failures, errors = len(suite.findall("*/failure")), len(suite.findall("*/error"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == (
        str(len(names)),
        str(failures),
        str(errors),
    )
    assert failures + errors > 0


def test_junit_holds_names_that_xml_cannot() -> None:
    evil = replace(EXACT, name='a\x00<b>&"\ud800')
    root = ET.fromstring(junit(judged(*counts(20, 0, 140, 2), criterion=evil)))
    assert [each.get("name") for each in root.iter("testcase")][1] == 'a\ufffd<b>&"\ufffd'


def test_every_reason_has_a_sentence_for_its_values() -> None:
    for code, sentence in SENTENCES.items():
        values = {name: 0.5 if name.endswith(("_share", "_points")) else 3 for name in fields_of(sentence)}
        assert "{" not in reason(code, **values).sentence
