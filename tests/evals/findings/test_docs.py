"""What the page on corrections says is so."""

import re

import typer
import yaml
from typer.testing import CliRunner

from beleg.cli import correct, findings
from beleg.core.contracts import load, mart_sql
from beleg.core.paths import shipped
from beleg.evals.findings.rule import Rule
from beleg.evals.findings.sheet import COLUMNS

PAGE = (shipped("contracts").parent / "docs" / "corrections.md").read_text(encoding="utf-8")


def section(name: str) -> str:
    return PAGE.partition(f"## {name}\n")[2].partition("\n## ")[0]


def test_every_option_named_exists() -> None:
    app = typer.Typer()
    for module in (correct, findings):
        module.register(app)
    commands = (["correct"], ["findings"], ["findings", "show"], ["findings", "unbound"])
    helps = "".join(CliRunner().invoke(app, [*c, "--help"], env={"COLUMNS": "200"}).stdout for c in commands)
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE))
    assert {option for option in named if option not in helps} == set()


def test_every_reason_for_an_unbound_word_is_explained() -> None:
    told = set(
        re.findall(
            r"THEN '(\w+)'\n|ELSE '(\w+)'\n    ", mart_sql("bindings")[mart_sql("bindings").index("unbound AS") :]
        )
    )
    reasons = {one or other for one, other in told}
    page = section("Which run a word is about").partition("`unbound_reason`")[2]
    assert len(reasons) == 7
    assert {reason for reason in reasons if f"`{reason}`" not in page} == set()


def test_every_column_of_a_sheet_is_named() -> None:
    assert {name for name in COLUMNS if f"`{name}`" not in section("Saying it")} == set()


def test_the_numbers_of_the_rule_are_those_of_the_code_and_of_the_check() -> None:
    rule, text = Rule(), section("Findings")
    assert f"at least {rule.min_inputs} different inputs" in text
    assert f"at most {rule.alpha:.0%}".replace("%", " %") in text
    assert f"more than {rule.most_base_rate:.0%}".replace("%", " %") in text
    assert f"so {rule.lone_base_rate:.0%}".replace("%", " %") in text
    (check,) = (sql for name, sql in load("findings").checks if name == "a_finding_stands_on_several_inputs")
    assert f"inputs >= {rule.min_inputs} AND adjusted_p <= {rule.alpha}" in check


def test_the_key_of_the_policy_is_explained_where_all_are() -> None:
    page = (shipped("contracts").parent / "docs" / "unit-costs.md").read_text(encoding="utf-8")
    block = next(b for b in re.findall(r"```yaml\n(.+?)```", page, re.DOTALL) if "abandon_after" in b)
    assert [entry["values"] for entry in yaml.safe_load(block)["workflows"].values() if "values" in entry] == ["hashed"]
