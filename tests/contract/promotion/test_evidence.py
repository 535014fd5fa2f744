"""The gate's evidence: where the tier demands it, it speaks for exactly this draft against exactly this baseline."""

import json
from datetime import timedelta
from typing import Any

import pytest

from beleg.contract import evidence
from beleg.contract.promotion import NotReady, Override
from beleg.core.errors import DamagedError
from tests.contract.promotion.support import NOW, Project, approve, evidence_document, whats, with_prompt


@pytest.fixture
def strict(project: Project) -> Project:
    """The feature in tier 2, approved; a tier-1 version is active."""
    project.publish(project.contract())
    project.tier(2)
    contract = project.save(with_prompt(project.contract(), "Read the total in cents."))
    approve(project, contract, "Bob")
    return project


def sentences(project: Project, **ask: Any) -> list[str]:
    return [each.sentence for each in project.check(project.contract(), **ask).blockers if each.what == "evidence"]


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"estimate": 0.1, "lower": 0.05}, "passes with estimate 0.1"),
        ({"estimate": None}, "passes with estimate None"),
        ({"lower": None}, "from None"),
        ({"n": 0}, "passes without a case"),
        ({"threshold": 0.01}, "has threshold 0.01, the contract 0.9"),
        ({"margin": 0.9}, "has margin 0.9"),
        ({"kind": "latency"}, "has kind latency"),
        ({"critical": True}, "has critical True"),
    ],
)
def test_evidence_that_its_own_figures_do_not_bear_out_does_not_count(
    strict: Project, result: dict[str, Any], told: str
) -> None:
    (one,) = evidence_document(strict.contract(), strict.registry)["criteria"]
    strict.prove(strict.contract(), criteria=[one | result])
    assert told in " ".join(sentences(strict))


def test_tier_2_needs_evidence(strict: Project) -> None:
    assert sentences(strict) == ["tier 2 needs the gate's evidence on this draft: run the gate"]
    strict.prove(strict.contract())
    release = strict.publish(strict.contract())
    assert release.evidence is not None
    assert release.evidence["candidate_digest"] == release.digest
    assert release.override is None


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"feature": "other"}, "is of other"),
        ({"candidate_digest": "0" * 64}, "is on the draft 000000000000"),
        ({"baseline_digest": "0" * 64}, "compares with 000000000000, but 1.0.0"),
        ({"baseline_digest": None}, "compares with nothing, but 1.0.0"),
        ({"dataset": "easier-receipts"}, "is on the cases 'easier-receipts'"),
        ({"criteria": []}, "says nothing on the criterion 'total_exact'"),
        ({"missing": 400}, "400 of 400 cases have no result"),
        ({"made_at": "2030-01-01T00:00:00Z"}, "is 120 days old, allowed are 90"),
        ({"made_at": "2031-01-01T00:00:00Z"}, "in the future"),
        ({"verdict": "fail"}, "no override passes that"),
        ({"verdict": "inconclusive"}, "override it by name"),
    ],
)
def test_evidence_about_something_else_does_not_count(strict: Project, values: dict[str, Any], told: str) -> None:
    strict.prove(strict.contract(), **values)
    assert told in " ".join(sentences(strict))
    with pytest.raises(NotReady):
        strict.publish(strict.contract())
    assert strict.versions() == ["1.0.0"]


def test_a_pass_that_contradicts_its_criteria_does_not_count(strict: Project) -> None:
    criteria = evidence_document(strict.contract(), strict.registry)["criteria"]
    strict.prove(strict.contract(), criteria=[criteria[0] | {"verdict": "fail"}])
    assert "contradicts itself" in " ".join(sentences(strict))


def test_evidence_against_a_version_that_is_no_longer_active_does_not_count(strict: Project) -> None:
    contract = strict.contract()
    strict.prove(contract)
    assert strict.check(contract).ready
    other = with_prompt(contract, "Read the total in euros.")
    strict.save(other)
    strict.prove(other)
    approve(strict, other, "Bob")
    strict.publish(other)
    strict.save(contract)
    assert "but 1.0.1" in " ".join(sentences(strict))


def test_an_inconclusive_gate_is_overridden_by_name_and_with_a_reason(strict: Project) -> None:
    strict.prove(strict.contract(), verdict="inconclusive")
    assert sentences(strict, override=Override("", "Go.")) != []
    assert sentences(strict, override=Override("Olga", " ")) == ["the override's reason is empty; write a sentence"]
    given = Override("Olga Owner", "Only 40 cases exist; looked at by hand.")
    release = strict.publish(strict.contract(), override=given)
    assert release.override == {"by": "Olga Owner", "why": "Only 40 cases exist; looked at by hand."}
    assert strict.registry.releases(release.feature)[-1].override == release.override


def test_an_override_passes_nothing_else(strict: Project) -> None:
    strict.prove(strict.contract(), verdict="fail")
    assert "evidence" in whats(strict.check(strict.contract(), override=Override("Olga", "Go.")))
    strict.prove(strict.contract(), verdict="inconclusive", dataset="easier-receipts")
    assert "evidence" in whats(strict.check(strict.contract(), override=Override("Olga", "Go.")))


def test_an_override_that_is_not_needed_is_not_recorded(strict: Project) -> None:
    strict.prove(strict.contract())
    assert strict.publish(strict.contract(), override=Override("Olga", "Just in case.")).override is None


def test_age_counts_to_the_moment_of_publishing(strict: Project) -> None:
    contract = strict.contract()
    strict.prove(contract, made_at=NOW.isoformat().replace("+00:00", "Z"))
    assert strict.check(contract, now=NOW + timedelta(days=90)).ready
    assert not strict.check(contract, now=NOW + timedelta(days=90, seconds=1)).ready
    assert strict.check(contract, now=NOW - timedelta(minutes=4)).ready  # two machines' clocks differ a little


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "PASS"},
        {"attempt": True},
        {"cases": -1},
        {"candidate_digest": "A" * 64},
        {"made_at": "yesterday"},
        {"made_at": "2030-02-30T00:00:00Z"},
        {"made_at": "2030-02-20T00:00:00"},
        {"more": 1},
        {"evidence_format": 2},
        {"criteria": [{"name": "total_exact"}]},
    ],
)
def test_damaged_evidence_is_told(strict: Project, change: dict[str, Any]) -> None:
    whole = evidence_document(strict.contract(), strict.registry) | change
    with pytest.raises(DamagedError, match="is damaged"):
        evidence.Evidence.from_bytes(json.dumps(whole).encode())
    with pytest.raises(DamagedError, match=r"\.json is damaged"):
        strict.prove(strict.contract(), **change)
    with pytest.raises(DamagedError):
        strict.check(strict.contract())


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[1]", b"{" * 100_000, b'{"a": NaN}', b'{"a": 1, "a": 2}', b'{"a": "\\ud83d"}']
)
def test_what_is_no_json_object_is_told(data: bytes) -> None:
    with pytest.raises(DamagedError):
        evidence.Evidence.from_bytes(data)
