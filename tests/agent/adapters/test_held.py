"""What each cohort holds is counted once, and a contract's budget is held against it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from beleg.agent import example
from beleg.agent.adapters.contract import contract_tools, surroundings
from beleg.agent.example.agent import ROLES
from beleg.agent.playbooks import Playbooks
from beleg.cli.agent import register
from beleg.contract.lint import Facts, lint
from beleg.contract.model import Budget
from beleg.contract.surroundings import Surroundings
from beleg.contract.tokens import estimate
from beleg.core.errors import UsageError
from tests.contract.lint.support import contract
from tests.invoke import run

app = typer.Typer()
register(app)
PLAYBOOKS = Path(example.__file__).with_name("playbooks")
WORDS = ["agent", "held", "beleg.agent.example.agent:ROLES", "--playbooks", str(PLAYBOOKS)]


def written(folder: Path, *words: str) -> Surroundings:
    path = folder / "surroundings.json"
    run(app, *WORDS, "--file", str(path), "--write", *words)
    return Surroundings.from_bytes(path.read_bytes())


def test_a_cohort_holds_its_tools_its_index_and_its_largest_playbook(tmp_path: Path) -> None:
    counted = written(tmp_path)
    books = Playbooks.load(PLAYBOOKS)
    for context in ROLES.contexts.values():
        cohort = ROLES.toolset.cohort_of(context)
        theirs = books.for_groups({tool.group for tool in cohort.tools})
        offered = counted.cohorts[cohort.name]
        assert offered.tools == tuple(tool.digest for tool in cohort.tools)
        assert offered.index == estimate(theirs.index(), "o200k")
        assert offered.body.tokens == max(estimate(each.opened, "o200k").tokens for each in theirs.all)


def test_without_playbooks_nothing_is_held_of_them() -> None:
    counted = surroundings([ROLES.toolset.cohort_of(each) for each in ROLES.contexts.values()], "claude")
    assert {(each.index.tokens, each.body.tokens) for each in counted.cohorts.values()} == {(0, 0)}


def test_an_agent_is_held_against_the_budget_of_its_contract(tmp_path: Path) -> None:
    counted = written(tmp_path)
    whole = json.loads(run(app, *WORDS, "--json").stdout)["cohorts"]["questionnaire"]["held"]
    copilot = replace(contract(), tools=contract_tools(ROLES.toolset.tools.values(), ROLES.reviews))
    system = estimate(copilot.prompt.system, "o200k")

    def found(most: int) -> list[tuple[str, str]]:
        given = replace(copilot, budget=Budget(cohorts={"questionnaire": most}))
        return [(e.severity, e.sentence) for e in lint(given, Facts(surroundings=counted)) if e.rule == "L50"]

    assert found(whole["high"] + system.high) == []
    assert found(whole["tokens"] + system.tokens)[0][0] == "warning"
    ((severity, sentence),) = found(whole["tokens"] + system.tokens - 1)
    assert severity == "error"
    assert f" {whole['tokens'] + system.tokens} tokens ({whole['low'] + system.low} to " in sentence


def test_ci_sees_that_the_agent_has_changed_since_it_was_counted(tmp_path: Path) -> None:
    path = tmp_path / "surroundings.json"
    look = [*WORDS, "--file", str(path)]
    assert CliRunner().invoke(app, look).exit_code == 1
    written(tmp_path)
    before = path.read_bytes()
    assert CliRunner().invoke(app, look).exit_code == 0
    assert path.read_bytes() == before
    assert CliRunner().invoke(app, [*look, "--family", "claude"]).exit_code == 1


def test_the_table_names_every_cohort_and_writing_needs_a_file() -> None:
    shown = run(app, *WORDS).stdout
    assert all(cohort.name in shown for cohort in map(ROLES.toolset.cohort_of, ROLES.contexts.values()))
    with pytest.raises(UsageError, match="--write needs --file"):
        run(app, *WORDS, "--write")


def test_the_same_agent_gives_the_same_bytes(tmp_path: Path) -> None:
    def made(names: list[str]) -> Any:
        return surroundings([ROLES.toolset.cohort_of(ROLES.contexts[name]) for name in names], "o200k").to_bytes()

    assert made(sorted(ROLES.contexts)) == made(sorted(ROLES.contexts, reverse=True))
