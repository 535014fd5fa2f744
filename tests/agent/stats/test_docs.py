"""What the page on analytics says is so."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beleg.cli.main import app
from beleg.core.contracts import load
from tests.agent.stats.test_command import days
from tests.flow.support import Installation

PAGE = (Path(__file__).parents[3] / "docs" / "agent" / "analytics.md").read_text(encoding="utf-8")
CAUSES = set(re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (?!business|the same)", PAGE, re.MULTILINE))


@pytest.mark.parametrize("table", ["tool_usage", "held_tokens", "playbook_hits", "cache_misses"])
def test_the_tables_have_contracts(table: str) -> None:
    assert f"| `{table}` |" in PAGE
    assert load(table).kind == "mart"


def test_every_cause_is_explained_and_no_other() -> None:
    explained = {name for row in CAUSES for name in re.findall(r"\w+", row)}
    (rule,) = (sql for name, sql in load("cache_misses").checks if name == "known_cause")
    assert explained == set(re.findall(r"'(\w+)'", rule))


def test_the_queries_answer(tmp_path: Path) -> None:
    there = Installation.begun(tmp_path, *days())
    surface, held = (there.ask(sql) for sql in re.findall(r"```sql\n(.+?)```", PAGE, re.DOTALL))
    assert [row[:2] for row in surface] == [("chat", 10)]
    assert [row[1] for row in held] == ["1.0.0", "1.1.0"]


def test_every_option_named_exists() -> None:
    shown = CliRunner().invoke(app, ["agent", "stats", "--help"], env={"COLUMNS": "200"}).stdout
    assert set(re.findall(r"--[a-z]+", PAGE)) <= set(re.findall(r"--[a-z]+", shown))
