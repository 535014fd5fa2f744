"""Publishing fails past the budget of held tokens, and is what it was for a contract without one."""

from dataclasses import replace

import pytest

from beleg.contract import draft
from beleg.contract.model import Budget
from beleg.contract.promotion import NotReady
from beleg.contract.surroundings import FILE, Offered, Surroundings
from beleg.contract.tokens import estimate, family_of
from beleg.core.errors import DamagedError
from tests.contract.promotion.support import Project, whats, with_prompt

LONG = "Read the total of a receipt. " * 40


def tokens(project: Project, system: str) -> int:
    return estimate(system, family_of(project.contract().providers.primary.model)).high


def test_past_the_budget_nothing_is_published_and_the_blocker_names_both_figures(project: Project) -> None:
    first = project.contract()
    project.publish(first)
    budget = Budget(held_tokens=tokens(project, first.prompt.system))
    grown = replace(with_prompt(first, LONG), budget=budget, change_note="More words.")
    readiness = project.check(grown)
    assert whats(readiness) == ["lint"]
    (blocker,) = readiness.blockers
    assert blocker.sentence.startswith("L50 budget.held_tokens: The contract as a whole holds ")
    assert f"allowed are {budget.held_tokens}." in blocker.sentence
    with pytest.raises(NotReady, match="L50 budget"):
        project.publish(grown)
    assert project.versions() == ["1.0.0"]


def test_within_the_budget_it_is_published_as_a_patch_and_kept(project: Project) -> None:
    first = project.contract()
    project.publish(first)
    kept = replace(first, budget=Budget(held_tokens=tokens(project, first.prompt.system)), change_note="A budget.")
    release = project.publish(kept)
    assert release.version == "1.0.1"
    assert "budget changed." in str(release.comparison)
    assert release.contract.budget == kept.budget
    assert project.verify().proved


def test_a_budget_stands_in_a_file_of_its_own_and_none_in_none(project: Project) -> None:
    assert not (project.feature.draft / "budget.yaml").exists()
    project.save(project.contract())
    assert not (project.feature.draft / "budget.yaml").exists()
    budget = Budget(900, {"core": 400})
    assert project.save(project.contract(budget=budget)).budget == budget
    assert draft.read(project.feature).budget == budget


def test_cohorts_are_judged_by_the_surroundings_beside_the_feature(project: Project) -> None:
    first = project.contract(budget=Budget(cohorts={"core": 5_000}))
    assert "Nobody has counted" in project.check(first).blockers[0].sentence
    family = family_of(first.providers.primary.model)
    for body, ready in ((4_000, True), (20_000, False)):
        offered = Offered((), estimate("", family), replace(estimate("", family), tokens=body, high=body))
        (project.feature.folder / FILE).write_bytes(Surroundings(family, {"core": offered}).to_bytes())
        assert project.check(first).ready is ready
    (project.feature.folder / FILE).write_bytes(b"{")
    with pytest.raises(DamagedError, match="surroundings"):
        project.check(first)
