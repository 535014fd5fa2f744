"""Prompts of workflows without a contract, by command."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from beleg.cli.main import app
from beleg.core.errors import UsageError
from tests.contract.cli.support import NAME, asked
from tests.invoke import run


@pytest.fixture
def text(project: Path) -> Path:
    path = project / "dunning.md"
    path.write_text("Write a friendly reminder.\n")
    return path


def test_a_prompt_is_added_activated_and_taken_away(text: Path) -> None:
    assert asked("prompt", "add", "dunning", str(text))["version"] == "1"
    assert asked("prompt", "list")["prompts"][0]["active"] is False
    assert asked("prompt", "activate", "dunning", "1", "--why", "first")["active"] == "1"
    assert asked("prompt", "list", "dunning")["prompts"][0]["active"] is True
    assert asked("prompt", "deactivate", "dunning", "--why", "wrong law")["active"] is None
    verbs = [each["verb"] for each in asked("prompt", "history", "dunning")["entries"]]
    assert verbs == ["add", "activate", "deactivate"]


def test_a_text_never_changes_under_its_version(text: Path) -> None:
    asked("prompt", "add", "dunning", str(text), "--version", "a")
    text.write_text("Another text.\n")
    with pytest.raises(UsageError, match="never change"):
        run(app, "prompt", "add", "dunning", str(text), "--version", "a")
    assert asked("prompt", "add", "dunning", str(text), "--version", "b")["version"] == "b"


def test_a_prompt_comes_from_standard_input(project: Path) -> None:
    done = CliRunner().invoke(app, ["prompt", "add", "dunning", "-"], input="Be brief.\n")
    assert done.exit_code == 0
    assert "beleg prompt activate dunning 1" in done.stdout


def test_the_prompt_of_a_contract_is_changed_by_publishing_alone(feature: Path, text: Path) -> None:
    asked("contract", "publish", NAME, "--yes")
    with pytest.raises(UsageError, match="contract publish"):
        run(app, "prompt", "add", "expenses", str(text))


@pytest.mark.parametrize("content", [b"", b"   \n", b"\xff\xfe"])
def test_what_is_no_text_is_refused(project: Path, content: bytes) -> None:
    (project / "x.md").write_bytes(content)
    with pytest.raises(UsageError):
        run(app, "prompt", "add", "dunning", "x.md")
