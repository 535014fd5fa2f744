"""What the page on asking says is so."""

import re

import pytest
from typer.testing import CliRunner

from beleg.cli.main import app
from beleg.core.contracts import load
from beleg.core.paths import shipped
from tests.cost.support import Lake
from tests.cost.test_drift import A, keyed

PAGE = (shipped("contracts").parent / "docs" / "ask.md").read_text(encoding="utf-8")


def test_every_option_named_exists() -> None:
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE))
    helps = "".join(
        CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout
        for command in ("explain", "runs", "drift", "versions")
    )
    assert {option for option in named if option not in helps} == set()


def test_the_query_counts_what_changed_of_what_was_compared() -> None:
    (sql,) = re.findall(r"```sql\n(.+?)```", PAGE, re.DOTALL)
    lake = Lake()
    keyed(lake, "one", 0)
    keyed(lake, "two", 1, output_hash=A)
    keyed(lake, "three", 2, output_hash=A)
    assert lake.build().rows(sql) == [("ocr", 1, 2)]


@pytest.mark.parametrize("table", ["workflow_traffic", "cache_efficiency", "drift", "prompt_versions"])
def test_the_tables_have_contracts(table: str) -> None:
    assert f"`{table}`" in PAGE
    assert load(table).kind == "mart"
