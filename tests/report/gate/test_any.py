"""Whatever results there are: a verdict in the form of the evidence, and a page; never an accident."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from beleg.contract.evidence import Evidence, problems
from beleg.contract.model import Criterion, Tier
from beleg.evals.gate.document import evidence_bytes
from beleg.evals.gate.judge import judge
from beleg.evals.gate.junit import junit
from beleg.evals.gate.markdown import summary
from beleg.evals.gate.planning import planned
from beleg.report.gate import render
from tests.evals.gate.support import (
    COST,
    EXACT,
    LATENCY,
    LINES,
    NOW,
    case,
    contract,
    plan,
    results,
    rules,
)

VALUES = {
    "binary": st.sampled_from([0.0, 1.0]),
    "score": st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    "cost": st.sampled_from([0.01, 0.2, 1e-9]),
    "latency": st.sampled_from([5.0, 8000.0, 8001.0, 1e9]),
}


@st.composite
def exams(draw: st.DrawFn) -> dict[str, Any]:
    count, repetitions = draw(st.integers(1, 14)), draw(st.integers(1, 2))
    facts = [
        {
            "family": draw(st.sampled_from(["a", "b", "c", f"own {number}"])),
            "slices": draw(st.sampled_from([{}, {"lang": "de"}])),
            "critical": draw(st.booleans()),
            "preference": number > 0 and draw(st.booleans()),
        }
        for number in range(count)
    ]
    criteria = draw(st.lists(st.sampled_from([EXACT, LINES, COST, LATENCY]), min_size=1, max_size=3, unique=True))
    sides = {
        each.name: [
            [
                draw(st.lists(st.none() | VALUES[each.kind], min_size=repetitions, max_size=repetitions))
                for _ in range(count)
            ]
            for _ in range(2)
        ]
        for each in criteria
    }
    return {
        "criteria": [replace(each, critical=draw(st.booleans())) for each in criteria],
        "facts": facts,
        "sides": sides,
        "repetitions": repetitions,
        "first": draw(st.booleans()),
        "tier": draw(st.sampled_from([1, 2, 3])),
        "looks": draw(st.sampled_from([1, 2, "sequential"])),
    }


@settings(max_examples=25)
@given(exams())
def test_any_results_give_a_verdict_and_a_page(exam: dict[str, Any]) -> None:
    criteria: list[Criterion] = exam["criteria"]
    tier: Tier = exam["tier"]
    drafted = contract(*criteria, tier=tier)
    asked = plan(
        *criteria,
        cases=[case(number, **facts) for number, facts in enumerate(exam["facts"])],
        tier=tier,
        first=exam["first"],
        repetitions=exam["repetitions"],
    )
    made = []
    for each in criteria:
        candidate, baseline = exam["sides"][each.name]
        made += results(asked, candidate, None if exam["first"] else baseline, criterion=each)
    report = planned(judge(asked, made, rules(*criteria, tier=tier, looks=exam["looks"])))
    data = evidence_bytes(report)
    read = Evidence.from_bytes(data)
    if report.verdict == "pass":  # then nothing but whom it is about may stand against it
        told = problems(read, drafted, None, now=NOW, max_age_days=None)
        assert all(each.startswith(("the evidence is on the draft", "the evidence compares")) for each in told)
    assert render(json.loads(data), {}, lang="de")
    assert summary(report)
    assert junit(report)
