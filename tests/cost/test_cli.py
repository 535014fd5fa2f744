"""The commands as a user types them."""

import csv
import io
import json
import shutil
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import typer

from beleg.cli import costs, flags, models, prices, reconcile
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.cost import figures
from tests.cost.support import GPT, NOON, Lake, policies
from tests.invoke import run

MODELS = """
aliases: [{match: gateway/*, to: openai/*, why: list price}]
models:
  - {provider: openai, model: gpt-4o, valid_from: 2026-01-01, risk_level: low, run_budget_usd: "0.00002"}
"""
WORKFLOWS = """
workflows:
  ocr: {unit: document, per: 10, result: {run_unit: documents}}
  chat: {unit: answer, per: 1, result: {run_unit: answers}}
"""


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    for module in (costs, flags, models, prices, reconcile):
        module.register(made)
    return made


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with policies and a database of figures."""
    folder = tmp_path_factory.mktemp("published")
    lake = Lake(policies(folder, MODELS, WORKFLOWS), database=str(folder / "beleg.duckdb"))
    for number, purpose in enumerate(("production", "production", "eval")):
        run_id, at = f"r{number}", NOON + timedelta(days=number)
        lake.start(run_id, at=at, purpose=purpose, tenant=f"t{number}")
        source_cost = {"source_cost_pico_usd": 1e7} if number == 0 else None
        lake.step(run_id, at=at, **GPT, output=1 + number, billed_pico_usd=10_000_000, raw_usage=source_cost)
        lake.finish(run_id, at=at, units={"documents": 4})
    lake.start("c", workflow="chat")
    lake.step("c", provider="openai", model="gpt-from-the-future", output=1)
    lake.build()
    lake.con.close()
    return folder


@pytest.fixture
def home(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation with a project of its own and published figures."""
    project, home = tmp_path / "project", tmp_path / "home"
    own = project / "contracts" / "policies"
    for folder in (own, project / "evals", home):
        folder.mkdir(parents=True)
    for name in ("models.yaml", "workflows.yaml"):
        shutil.copy(published / name, own)
    shutil.copy(published / "beleg.duckdb", home)
    monkeypatch.setenv("BELEG_HOME", str(home))
    monkeypatch.setenv("BELEG_PROJECT", str(project))
    return home


def answer(app: typer.Typer, *arguments: str) -> Any:
    result = run(app, *arguments, "--json")
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_costs_show_unit_costs_of_production_and_coverage(app: typer.Typer, home: Path) -> None:
    shown = answer(app, "costs")
    ocr = {(r["workflow"], r["purpose"]): r for r in shown["rows"]}
    production = ocr["ocr", "production"]
    assert (production["cost_usd"], production["cost_exact_usd"]) == ("0.000030", "0.00003")
    assert (production["results"], production["unit"], production["unit_per"]) == (8, "document", 10)
    # 30 micro-USD over 8 documents are 37.5 for ten of them; the tie goes to the even one.
    assert production["unit_cost_usd"] == "0.000038"
    assert ocr["ocr", "eval"]["unit_cost_usd"] is None
    assert (ocr["chat", "production"]["steps"], ocr["chat", "production"]["unpriced_steps"]) == (1, 1)
    assert shown["total"] == {"cost_usd": "0.000060", "cost_exact_usd": "0.00006", "steps": 4, "unpriced_steps": 1}


@pytest.mark.parametrize(
    "by",
    ["workflow", "day", "month", "model", "provider", "prompt_version", "tenant", "team", "purpose", "day,model", ""],
)
def test_every_grouping_adds_up_to_the_same_total(app: typer.Typer, home: Path, by: str) -> None:
    shown = answer(app, "costs", "--by", by)
    assert shown["total"]["cost_exact_usd"] == "0.00006"
    assert sum(Decimal(row["cost_exact_usd"]) for row in shown["rows"]) == Decimal("0.00006")


def test_days_add_up_to_their_range(app: typer.Typer, home: Path) -> None:
    days = [answer(app, "costs", "--from", day, "--to", day) for day in ("2026-06-15", "2026-06-16")]
    both = answer(app, "costs", "--from", "2026-06-15", "--to", "2026-06-16")
    assert sum(Decimal(day["total"]["cost_exact_usd"]) for day in days) == Decimal(both["total"]["cost_exact_usd"])
    assert both["total"]["cost_usd"] == "0.000030"


def test_a_split_by_model_leaves_runs_and_results_whole(app: typer.Typer, home: Path) -> None:
    rows = answer(app, "costs", "--by", "workflow,model", "--workflow", "ocr")["rows"]
    assert [(r["model"], r["runs"], r["results"]) for r in rows] == [("gpt-4o", 3, 8)]


def test_results_of_several_kinds_have_no_common_unit_cost(app: typer.Typer, home: Path) -> None:
    (row,) = answer(app, "costs", "--by", "month")["rows"]
    assert (row["unit"], row["unit_cost_usd"]) == (None, None)


def test_results_of_a_day_without_runs_have_no_unit_cost(tmp_path: Path) -> None:
    """What they cost lies on other days: 0 would be a lie, and so would it be where no step has a price."""
    workflows = "workflows: {vat: {unit: return, result: {outcome: filed}}}"
    lake = Lake(policies(tmp_path, "models: []", workflows))
    for name, model, day in (("a", "gpt-4o", 0), ("b", "no such model", 1)):
        lake.start(name, workflow="vat", at=NOON + timedelta(days=day))
        lake.step(name, provider="openai", model=model, output=1, at=NOON + timedelta(days=day))
    lake.start("free", workflow="vat", at=NOON + timedelta(days=2))
    for day in range(4):
        lake.outcome(f"o{day}", workflow="vat", kind="filed", at=NOON + timedelta(days=day))
    lake.build()
    lines = figures.costs(lake.con, ["day"], figures.Period())
    assert [line.unit_cost_micro_usd for line in lines] == [10, None, 0, None]
    (whole,) = figures.costs(lake.con, [], figures.Period())
    assert whole.unit_cost_micro_usd == 2


def test_csv_leaves_unknown_empty(app: typer.Typer, home: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(app, "costs", "--by", "purpose,workflow", "--csv").stdout)))
    assert [row["unit_cost_usd"] for row in rows if row["purpose"] == "eval"] == [""]


def test_tables_are_readable_without_a_terminal(app: typer.Typer, home: Path) -> None:
    text = run(app, "costs").stdout
    assert "10 document" in text
    assert "1 of 4 steps unpriced" in text
    assert "\x1b" not in text


def test_flags_can_fail_a_script(app: typer.Typer, home: Path) -> None:
    assert [row["run_id"] for row in answer(app, "flags")["rows"]] == ["r2"]
    assert answer(app, "flags", "--kind", "latency_ceiling")["rows"] == []
    assert run(app, "flags", "--fail").exit_code == 1
    assert run(app, "flags", "--fail", "--to", "2026-06-15").exit_code == 0
    assert "run_budget" in run(app, "flags").stdout
    assert run(app, "flags", "--csv").stdout.count("\n") == 2


def test_reconcile_compares_billed_with_computed(app: typer.Typer, home: Path) -> None:
    known = [row for row in answer(app, "reconcile")["rows"] if row["model"] == "gpt-4o"]
    assert [(r["compared_steps"], r["equal_steps"], r["difference_usd"]) for r in known] == [(3, 1, "-0.000030")]
    assert run(app, "reconcile", "--fail").exit_code == 1
    assert run(app, "reconcile", "--fail", "--to", "2026-06-15").exit_code == 0
    assert "gpt-4o" in run(app, "reconcile").stdout
    assert run(app, "reconcile", "--csv").stdout.startswith("provider,model,")


def test_prices_show_what_was_called_and_why_a_price_is_missing(app: typer.Typer, home: Path) -> None:
    rows = answer(app, "prices")["rows"]
    assert {(r["model"], r["unpriced_reason"]) for r in rows} == {
        ("gpt-4o", None),
        ("gpt-from-the-future", "unknown_model"),
    }
    assert "openai/gpt-from-the-future has no price: unknown_model" in run(app, "prices").stdout


def test_prices_hold_as_of_a_day(app: typer.Typer, home: Path) -> None:
    call = ("prices", "--model", "x-ai/grok-4.20")
    for day, usd in (("2026-04-29", "6.00"), ("2026-04-30", "2.50")):
        rows = answer(app, *call, "--on", day)["rows"]
        assert (rows[0]["min_input_tokens"], rows[0]["prices"]["output"]) == (0, usd)
    assert len(answer(app, *call, "--history")["rows"]) == 4
    assert "2.50" in run(app, *call).stdout
    assert (
        answer(app, "prices", "--model", "openai/gpt-4.1", "--batch", "--on", "2026-11-01")["rows"][0]["prices"][
            "output"
        ]
        == "4.00"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--batch"], "openai/gpt-4o batch"),
        (["--batch"], "openai/gpt-from-the-future has no price"),
        (["--tier", "no-such-tier"], "openai/gpt-4o has no price: no_price_for_service_tier:no-such-tier"),
        (
            ["--model", "openai/gpt-4o", "--batch", "--on", "1990-01-01"],
            "no price of openai/gpt-4o holds on 1990-01-01",
        ),
    ],
)
def test_prices_without_a_row_say_why(app: typer.Typer, home: Path, arguments: list[str], told: str) -> None:
    shown = run(app, "prices", *arguments).stdout
    assert told in shown
    assert ("USD per million" in shown) == ("book" in shown)


def test_prices_list_what_was_rounded(app: typer.Typer, home: Path) -> None:
    keys = {row["price_key"] for row in answer(app, "prices", "--inexact")["rows"]}
    assert "openrouter/google/gemini-2.5-flash" in keys


def test_what_a_changed_file_would_restate_is_shown_before_it_is_applied(app: typer.Typer, home: Path) -> None:
    changed = home / "changed.yaml"
    changed.write_text(
        "models:\n"
        '  - {provider: openai, model: gpt-4o, valid_from: 2026-06-16, prices: {output: "20"}}\n'
        '  - {provider: openai, model: gpt-from-the-future, valid_from: 2026-01-01, prices: {output: "1"}}\n',
        encoding="utf-8",
    )
    before = (home / "beleg.duckdb").read_bytes()
    rows = answer(app, "prices", "--what-if", str(changed))["rows"]
    assert [(r["business_day"], r["workflow"], r["difference_usd"]) for r in rows] == [
        ("2026-06-15", "chat", "0.000001"),
        ("2026-06-16", "ocr", "0.000020"),
        ("2026-06-17", "ocr", "0.000030"),
    ]
    assert (rows[0]["unpriced_before"], rows[0]["unpriced_after"]) == (1, 0)
    assert "0.000030" in run(app, "prices", "--what-if", str(changed)).stdout
    assert (home / "beleg.duckdb").read_bytes() == before
    changed.write_text("models: []", encoding="utf-8")
    assert answer(app, "prices", "--what-if", str(changed))["rows"] == []
    assert "Nothing would be restated" in run(app, "prices", "--what-if", str(changed)).stdout


def test_what_a_file_that_is_in_place_but_not_published_would_restate_is_shown(app: typer.Typer, home: Path) -> None:
    models = Settings.load().policy("models.yaml")
    row = '  - {provider: openai, model: gpt-4o, valid_from: 2026-06-16, prices: {output: "20"}}\n'
    models.write_text(f"models:\n{row}", encoding="utf-8")
    assert answer(app, "prices", "--what-if", str(models))["rows"]


def test_models_show_rows_and_aliases(app: typer.Typer, home: Path) -> None:
    shown = answer(app, "models")
    assert [(r["model"], r["prices"], r["run_budget_usd"]) for r in shown["rows"]] == [("gpt-4o", "book", "0.00002")]
    assert shown["aliases"] == [{"match": "gateway/*", "to": "openai/*", "why": "list price"}]
    assert "gateway/* is priced as openai/*: list price" in run(app, "models").stdout
    assert run(app, "models", "--csv").stdout.startswith("provider,model,valid_from")


def test_models_without_a_price_come_with_a_row_to_fill_in(app: typer.Typer, home: Path) -> None:
    (row,) = answer(app, "models", "--unpriced")["rows"]
    assert (row["model"], row["unpriced_reason"], row["steps"], row["tokens"]) == (
        "gpt-from-the-future", "unknown_model", 1, 1,
    )  # fmt: skip
    assert row["policy_row"] == {
        "provider": "openai", "model": "gpt-from-the-future", "valid_from": "2026-06-15", "prices": {"output": ""},
    }  # fmt: skip
    shown = run(app, "models", "--unpriced").stdout
    assert "- provider: openai\n  model: gpt-from-the-future\n  valid_from: 2026-06-15\n" in shown
    assert run(app, "models", "--unpriced", "--csv").stdout.startswith("provider,model,service_tier")


def test_reconcile_compares_the_sources_own_cost(app: typer.Typer, home: Path) -> None:
    (row,) = answer(app, "reconcile", "--source")["rows"]
    assert (row["verdict"], row["steps"], row["difference_usd"]) == ("equal", 1, "0.00")
    assert answer(app, "reconcile", "--source", "--by", "call")["rows"] == []
    assert run(app, "reconcile", "--source", "--fail").exit_code == 0
    with pytest.raises(UsageError, match="allowed are model, day, call"):
        run(app, "reconcile", "--source", "--by", "moon")


@pytest.mark.parametrize("command", [("costs",), ("flags",), ("reconcile",), ("prices",), ("prices", "--what-if", "x")])
def test_without_figures_a_command_says_what_to_run(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="run `beleg"):
        run(app, *command)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("costs", "--by", "colour"), "--by 'colour' is unknown; allowed are workflow, purpose, day"),
        (("costs", "--from", "yesterday"), "'yesterday' is no day: write for example 2026-03-01"),
        (("costs", "--from", "2026-02-01", "--to", "2026-01-01"), "is after --to"),
        (("prices", "--model", "gpt-4o"), "must be provider/model"),
        (("prices", "--model", "a/b", "--on", "today"), "--on 'today' is no day"),
    ],
)
def test_a_wrong_call_says_what_would_be_right(
    app: typer.Typer, home: Path, command: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run(app, *command)


@pytest.mark.parametrize("command", ["costs", "flags", "prices", "models", "reconcile"])
def test_help_holds_an_example(app: typer.Typer, command: str) -> None:
    assert f"beleg {command}" in run(app, command, "--help").stdout
