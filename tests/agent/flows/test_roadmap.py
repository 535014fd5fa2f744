"""Two sources of one truth: neither writes into the other."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.agent.example.flows import founding
from beleg.agent.example.flows.founding import ROADMAP
from beleg.agent.flows import Roadmap, SqliteStore, Step, Stored
from beleg.core.errors import UsageError

STEPS = [each.name for each in ROADMAP.steps]


def step(record: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in ROADMAP.read(record) if each["step"] == name)


def test_the_roadmap_has_seven_steps() -> None:
    assert len(STEPS) == 7


def test_case_27_a_mark_taken_back_leaves_what_operations_know(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "flows.db")
    tools = {each.__name__: each for each in founding.tools(store, now=lambda: "2026-03-02T09:00:00+00:00")}
    tools["create_founding"]("r", legal_form="gmbh")
    tools["mark_founding_step"]("r", step="bank_account")
    stored = store.read("founding/r")
    assert stored is not None
    assert store.replace(
        "founding/r", stored, Stored({**stored.record, "operations_status": "account_opened"}, stored.calls)
    )

    answer = tools["unmark_founding_step"]("r", step="bank_account")

    seen = next(each for each in answer["roadmap"] if each["step"] == "bank_account")
    assert seen == {"step": "bank_account", "done": True, "marked_at": None, "by_operations": True}
    after = store.read("founding/r")
    assert after is not None
    assert after.record["operations_status"] == "account_opened"


@given(st.sampled_from(STEPS), st.sampled_from([None, *ROADMAP.milestones]), st.lists(st.sampled_from(STEPS)))
def test_marking_and_taking_back_is_a_clean_toggle(name: str, status: str | None, marked: list[str]) -> None:
    marks = {each: "then" for each in marked if each != name}
    record = {"operations_status": status, "roadmap_marks": marks}
    once = record | ROADMAP.mark(record, name, "now")
    assert step(once, name)["done"]
    assert once | ROADMAP.unmark(once, name) == record


def test_a_mark_keeps_its_time() -> None:
    once = ROADMAP.mark({}, "bank_account", "first")
    assert ROADMAP.mark(once, "bank_account", "second") == once


def test_reaching_a_milestone_means_having_passed_those_before() -> None:
    done = [each["step"] for each in ROADMAP.read({"operations_status": "entered"}) if each["done"]]
    assert done == STEPS[:4]


def test_a_status_that_nobody_knows_has_reached_nothing() -> None:
    assert not any(each["done"] for each in ROADMAP.read({"operations_status": "elsewhere"}))


def test_a_step_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match="bank_account"):
        ROADMAP.mark({}, "bank", "now")
    with pytest.raises(UsageError, match="own"):
        Roadmap(steps=(), milestones=(), marks="a", operational="a")
    with pytest.raises(UsageError, match="milestones"):
        Roadmap(steps=(Step(name="a", milestone="b"),), milestones=(), marks="a", operational="c")
