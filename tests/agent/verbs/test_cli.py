"""`beleg agent account` and `beleg agent audit` as a person and as CI use them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from beleg.agent.toolsets import Group, Toolset
from beleg.agent.verbs import Roles
from beleg.cli.agent import register
from beleg.core.errors import UsageError
from tests.agent.offered import FREELANCER, numbered
from tests.invoke import run

app = typer.Typer()
register(app)
EXAMPLE = "beleg.agent.example.agent:ROLES"
BINDING = Roles(
    toolset=Toolset([numbered(Group("core", rank=1), "submit_return")]), contexts={"owner": FREELANCER}, beside=()
)
HERE = f"{__name__}:BINDING"


def test_the_account_of_the_example_is_the_same_every_time() -> None:
    words = ["agent", "account", EXAMPLE, "--price", "1.25", "--cached-price", "0.125", "--json"]
    first = run(app, *words).stdout
    assert run(app, *words).stdout == first
    freelancer = json.loads(first)["roles"]["freelancer"]
    saved = freelancer["saved"]["tokens"]
    assert 5_000 <= saved <= 8_000
    assert freelancer["saved_a_month"]["tokens"]["tokens"] == saved * 100_000
    assert freelancer["saved_a_month"]["uncached_usd"] == f"{saved * 0.125:.2f}"
    assert freelancer["saved_a_month"]["cached_usd"] == f"{saved * 0.0125:.2f}"


def test_without_a_price_the_money_is_unknown() -> None:
    month = json.loads(run(app, "agent", "account", EXAMPLE, "--json").stdout)["roles"]["company"]["saved_a_month"]
    assert month["uncached_usd"] is month["cached_usd"] is None


def test_the_account_as_a_table_names_roles_omissions_and_the_shared_prefix() -> None:
    shown = run(app, "agent", "account", EXAMPLE).stdout
    for word in ("tax_adviser", "company.is_incorporated does not hold", "sorted by name"):
        assert word in shown


def test_an_exact_account_names_its_tokenizer() -> None:
    pytest.importorskip("splintr")
    document = json.loads(run(app, "agent", "account", EXAMPLE, "--exact", "--json").stdout)
    saved = document["roles"]["freelancer"]["saved"]
    assert saved["tokenizer"] == "o200k_base"
    assert saved["low"] == saved["tokens"] == saved["high"]
    with pytest.raises(UsageError, match="no tokenizer of `claude` is public"):
        run(app, "agent", "account", EXAMPLE, "--exact", "--family", "claude")


def test_a_role_past_the_budget_fails() -> None:
    assert run(app, "agent", "account", EXAMPLE, "--max-tokens", "9000").exit_code == 0
    result = CliRunner().invoke(app, ["agent", "account", EXAMPLE, "--max-tokens", "5000"])
    assert result.exit_code == 1
    assert "past 5000 tokens of tools: freelancer, company, tax_adviser" in result.stderr


@pytest.mark.parametrize("price", ["-1", "much", "NaN", "1.2345678", "inf"])
def test_a_price_that_is_none_is_refused(price: str) -> None:
    with pytest.raises(UsageError, match="--price is"):
        run(app, "agent", "account", EXAMPLE, f"--price={price}")


@pytest.mark.parametrize("target", ["no_such_module:X", "beleg.agent.example.agent:TOOLSET", "beleg:ROLES", ":", ""])
def test_a_target_without_roles_is_refused(target: str) -> None:
    with pytest.raises(UsageError, match="give module:name"):
        run(app, "agent", "audit", target)


def test_the_audit_of_the_example_passes_and_says_on_what_it_rests() -> None:
    result = run(app, "agent", "audit", EXAMPLE, "--json")
    document = json.loads(result.stdout)
    assert document["passed"]
    assert {each["basis"] for each in document["claims"]} == {"construction", "declaration", "evidence", "authority"}
    assert "get_submission_link" not in {each["tool"] for each in document["roles"]["freelancer"]}


def test_a_binding_verb_fails_ci() -> None:
    result = CliRunner().invoke(app, ["agent", "audit", HERE])
    assert result.exit_code == 1
    assert "submit_return" in result.stdout


def test_a_vocabulary_is_written_once_and_then_compared(tmp_path: Path) -> None:
    folder = str(tmp_path / "vocabulary")
    run(app, "agent", "audit", EXAMPLE, "--snapshot", folder, "--write")
    assert run(app, "agent", "audit", EXAMPLE, "--snapshot", folder).exit_code == 0
    path = tmp_path / "vocabulary" / "company.json"
    path.write_text(path.read_text().replace('"effect": "draft"', '"effect": "read"', 1))
    result = CliRunner().invoke(app, ["agent", "audit", EXAMPLE, "--snapshot", folder])
    assert result.exit_code == 1
    assert "company.json: `add_invoice_line`: effect changed" in result.stderr
    with pytest.raises(UsageError, match="--write needs --snapshot"):
        run(app, "agent", "audit", EXAMPLE, "--write")


def test_a_module_in_the_working_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "run.py"
    script.write_text("import typer\nfrom beleg.cli.agent import register\napp = typer.Typer()\nregister(app)\napp()\n")
    (tmp_path / "mine.py").write_text(
        "from beleg.agent.toolsets import Group, Toolset\n"
        "from beleg.agent.verbs import Roles\n"
        "core = Group('core', rank=1)\n"
        "@core.tool(binding=False, effect='read')\n"
        "def look() -> None:\n    'Looks.'\n"
        "ROLES = Roles(toolset=Toolset([core]), contexts={'owner': None}, beside=())\n"
    )
    root = str(Path(__file__).parents[3])
    command = [sys.executable, str(script), "agent", "audit", "mine:ROLES", "--json"]
    environment = {**os.environ, "PYTHONPATH": root}
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    assert json.loads(result.stdout)["passed"]


def test_case_34_an_unknown_option_starts_nothing() -> None:
    for words in (["audit", EXAMPLE, "--read-only-true"], ["account", EXAMPLE, "--read_only=true"]):
        result = CliRunner().invoke(app, ["agent", *words])
        assert result.exit_code == 2
        assert not result.stdout
    with pytest.raises(TypeError):
        Toolset([], read_only_true=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Group("core", rank=1).tool(binding=False, effect="read", read_only=True)  # type: ignore[call-arg]
