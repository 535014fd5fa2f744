"""Flows that would let an agent keep the progress itself."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from beleg.agent.example.flows import FLOWS, corporate_tax, founding, questionnaire, trade
from beleg.agent.example.flows.founding import FOUNDING
from beleg.agent.flows import Field, Flow, Section, SqliteStore, lint
from beleg.agent.flows.lint import remembers
from beleg.cli import agent
from beleg.core.errors import UsageError

MODULES = (founding, questionnaire, trade, corporate_tax)


@dataclass(frozen=True)
class Book:
    """A playbook of a flow."""

    body: str
    name: str = "book"
    flow: str | None = "founding"


GOOD = Book("Navigate by `sections.missing`; never track your progress yourself.")


def rules(*args: Any) -> list[str]:
    return [each.rule for each in lint(*args)]


@pytest.mark.parametrize(
    ("module", "flow"), list(zip(MODULES, FLOWS, strict=True)), ids=lambda each: getattr(each, "name", "")
)
def test_the_recipes_are_clean(module: Any, flow: Flow, tmp_path: Path) -> None:
    tools = module.tools(SqliteStore(tmp_path / "flows.db"))
    assert lint(flow, tools, [Book(GOOD.body, flow=flow.name)]) == []


def test_a_flow_without_a_playbook_is_told() -> None:
    assert rules(FOUNDING) == ["playbook-missing"]


def test_a_playbook_that_does_not_navigate_by_what_is_missing_is_an_error() -> None:
    assert rules(FOUNDING, (), [Book("Ask for the name, then for the capital.")]) == ["playbook-navigates"]


@pytest.mark.parametrize(
    "text",
    [
        "Keep track of the completed sections.",
        "Remember which steps are done.",
        "Merke dir den Fortschritt.",
        "Write down your progress after each answer",
    ],
)
def test_a_playbook_that_asks_for_memory_is_an_error(text: str) -> None:
    assert rules(FOUNDING, (), [Book(f"{GOOD.body} {text}")]) == ["playbook-remembers"]


@pytest.mark.parametrize("text", ["Verfolge deinen Fortschritt niemals selbst.", "Do not remember what is done."])
def test_forbidding_memory_is_what_a_playbook_should_do(text: str) -> None:
    assert remembers(text) == []


def test_tools_that_store_progress_or_answer_without_the_state_are_errors() -> None:
    def save_progress(record_id: str, current_step: int) -> None:
        """Where we are."""

    assert rules(FOUNDING, [save_progress], [GOOD]) == ["envelope-missing", "progress-tool", "progress-tool"]


def flow_of(*names: str, **more: Any) -> Flow:
    return Flow(name="founding", sections=(Section(name="s", fields=tuple(Field(name=n) for n in names)),), **more)


def test_a_record_that_stores_progress_is_an_error() -> None:
    assert rules(flow_of("name", "completed_sections"), (), [GOOD]) == ["progress-stored"]


def test_a_state_that_looks_at_a_clock_is_an_error() -> None:
    def status(record: Mapping[str, Any], complete: bool) -> str:
        return "late" if time.time() > record.get("due", 0) else "complete" if complete else "open"

    assert rules(flow_of("name", status=status), (), [GOOD]) == ["state-impure"]


def test_a_state_that_fails_on_a_half_filled_record_is_an_error() -> None:
    computed = {"first": lambda record, _: record["name"][0]}
    assert rules(flow_of("name", computed=computed), (), [GOOD]) == ["state-raises"]


def test_a_state_that_is_too_large_for_every_answer_is_told() -> None:
    assert rules(flow_of(*(f"a_rather_long_name_of_a_field_{n}_of_many" for n in range(20))), (), [GOOD]) == []
    many = tuple(
        Section(name=f"section_{n}", fields=tuple(Field(name=f"f_{n}_{m}") for m in range(20))) for n in range(9)
    )
    assert rules(Flow(name="founding", sections=many), (), [GOOD]) == ["state-large"]


def run(*arguments: str) -> Any:
    app = typer.Typer()
    app.callback()(lambda: None)
    agent.register(app)
    return CliRunner().invoke(app, ["agent", "flows", "lint", *arguments])


def test_the_command_checks_the_recipes_with_their_playbooks() -> None:
    books = str(Path(founding.__file__).parents[1] / "playbooks")
    told = run("beleg.agent.example.flows:FLOWS", "--playbooks", books, "--json")
    assert (told.exit_code, json.loads(told.output)["findings"]) == (0, [])
    assert isinstance(run("beleg.agent.example.flows:NOTHING").exception, UsageError)
    assert isinstance(run("no_such_module").exception, UsageError)


def test_the_command_fails_on_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "from beleg.agent.flows import *\nSECTION = Section(name='s', fields=(Field(name='progress'),))\n"
    lines += "F = Flow(name='f', sections=(SECTION,))"
    (tmp_path / "a_flow_that_remembers.py").write_text(lines)
    monkeypatch.syspath_prepend(tmp_path)
    told = run("a_flow_that_remembers:F")
    assert told.exit_code == 1
    assert "progress-stored" in told.output
