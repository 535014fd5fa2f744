"""Playbooks that nobody opens, or that lead an agent where it must not go."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from beleg.agent.example.agent import CONTEXTS, TOOLSET
from beleg.agent.example.context import Company, Context
from beleg.agent.playbooks import Playbooks, lint
from beleg.cli import agent
from beleg.core.errors import UsageError
from tests.agent.playbooks.test_index import EXAMPLE, book
from tests.agent.playbooks.test_load import put

COHORTS = {
    **CONTEXTS,
    "founder": Context(company=Company(is_founding=True)),
    "new company": Context(company=Company(is_incorporated=True)),
}


@dataclass(frozen=True)
class Offered:
    """A tool as lint sees it."""

    name: str
    group: str = "core"
    input_schema: dict[str, Any] = field(default_factory=dict)


CORE = (Offered("list_transactions", input_schema={"properties": {"list_after": {}}}), Offered("update_customer"))
CHART = (*CORE, Offered("update_chart_of_accounts", "accounts"))


def rules(*books: Any, **options: Any) -> list[str]:
    return [each.rule for each in lint(Playbooks(books), **options)]


def test_the_example_is_clean_for_every_cohort() -> None:
    offered = {name: TOOLSET.for_context(context).tools for name, context in COHORTS.items()}
    assert lint(Playbooks.load(EXAMPLE), offered, index_tokens=500, body_tokens=700) == []


def test_every_tool_of_a_flow_is_named_by_its_playbook() -> None:
    bodies = {each.flow: each.body for each in Playbooks.load(EXAMPLE).all if each.flow}
    for group in TOOLSET.groups:
        for tool in group.tools if group.name in bodies else ():
            assert f"`{tool.name}`" in bodies[group.name], tool.name


def test_case_22_a_tool_that_a_cohort_is_not_offered_is_an_error_for_that_cohort() -> None:
    playbooks = Playbooks([book("close-books", body="Then call `update_chart_of_accounts`.")])
    found = lint(playbooks, {"freelancer": CORE, "company": CHART})
    assert [(each.rule, each.place) for each in found] == [("tool-absent", "close-books for freelancer")]
    assert "beleg.when: accounts" in found[0].fix
    conditional = Playbooks([book("close-books", body="Then call `update_chart_of_accounts`.", beleg_when="accounts")])
    assert lint(conditional, {"freelancer": CORE, "company": CHART}) == []


def test_a_tool_that_nobody_has_is_an_error() -> None:
    assert rules(book("a", body="Call `update_the_moon`."), cohorts={"x": CORE}) == ["tool-unknown"]
    assert rules(book("a", body="Call `fly_there(fast)`."), cohorts={"x": CORE}) == ["tool-unknown"]
    assert rules(book("a", beleg_tools="fly_there"), cohorts={"x": CORE}) == ["tool-unknown"]


def test_a_field_a_status_and_a_parameter_are_no_tools() -> None:
    assert rules(book("a", body="If `not_started`, give `list_after` and `if_revision`."), cohorts={"x": CORE}) == []


@pytest.mark.parametrize("name", ["submit_return", "send_letter", "pay_bill", "rechnung_bezahlen"])
def test_a_verb_that_no_agent_has_is_an_error(name: str) -> None:
    assert rules(book("a", body=f"At last `{name}`."), cohorts={"x": CORE}) == ["binding-act"]


def test_a_playbook_that_nobody_is_shown_is_told() -> None:
    assert rules(book("a", beleg_when="elsewhere"), cohorts={"x": CORE}) == ["unlisted"]
    assert rules(
        book("a", body="`update_chart_of_accounts`", beleg_when="accounts"), cohorts={"x": CORE}, declared=CHART
    ) == ["unlisted"]


def test_triggers_that_say_the_same_are_told() -> None:
    first, second = book("a", "Reconcile bank lines each month."), book("b", "Each month reconcile lines of the bank.")
    assert rules(first, second) == ["trigger-overlap"]
    assert rules(first, book("b", "Write invoices.")) == []


def test_a_body_over_its_budget_is_an_error() -> None:
    assert rules(book("a", body="word " * 400), body_tokens=300) == ["body-budget"]
    assert rules(book("a", body="x\n" * 501)) == ["body-budget"]
    assert rules(book("a", body=" ")) == ["body-missing"]


def test_an_index_over_its_budget_is_an_error() -> None:
    assert rules(book("a", "word " * 99), index_tokens=50) == ["index-incomplete"]


def test_case_21_commands_and_scripts_are_flagged() -> None:
    found = rules(book("a", body="!`rm -rf x`\nThen run scripts/send.py with $ARGUMENTS."))
    assert found == ["shell-injection", "template", "script"]
    assert rules(book("a", body="```!\nls\n```")) == ["shell-injection"]


def test_asking_for_memory_is_an_error() -> None:
    assert rules(book("a", body="Remember which steps are done.")) == ["remembers"]


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    put(
        tmp_path, "a", "---\nname: a\ndescription: d\n---\nSee [this](references/x.md) and [that](https://example.org)."
    )
    assert [each.rule for each in lint(Playbooks.load(tmp_path))] == ["link-dead"]


def run(*arguments: str) -> Any:
    app = typer.Typer()
    app.callback()(lambda: None)
    agent.register(app)
    return CliRunner().invoke(app, ["agent", *arguments])


def test_the_command_checks_the_example_and_fails_on_an_error(tmp_path: Path) -> None:
    good = run("playbooks", "lint", str(EXAMPLE), "--roles", "beleg.agent.example.agent:ROLES", "--json")
    assert good.exit_code == 0, good.output
    put(tmp_path, "a", "---\nname: a\ndescription: d\n---\n!`ls`")
    bad = run("playbooks", "lint", str(tmp_path))
    assert bad.exit_code == 1
    assert "shell-injection" in bad.output
    assert isinstance(run("playbooks", "lint", str(tmp_path / "nowhere")).exception, UsageError)


def test_the_command_accounts_for_index_and_bodies() -> None:
    told = run("playbooks", "account", str(EXAMPLE))
    assert told.exit_code == 0
    assert "24.2 times less than inlined, while none is open" in told.output
    assert '"index_factor"' in run("playbooks", "account", str(EXAMPLE), "--json").output
