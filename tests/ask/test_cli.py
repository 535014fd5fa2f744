"""The commands as a user types them."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import typer

from beleg.ask.versions import Version
from beleg.cli import drift, explain, runs, versions
from beleg.core.errors import CheckFailed, UsageError
from tests.ask.support import ID, IN, OTHER, OUT, story
from tests.flow.support import Installation
from tests.invoke import run


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return story(tmp_path_factory.mktemp("story"))


@pytest.fixture
def app(there: Installation, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    monkeypatch.setenv("BELEG_HOME", str(there.settings.home))
    made = typer.Typer()
    for module in (drift, explain, runs, versions):
        module.register(made)
    return made


def answer(app: typer.Typer, *arguments: str) -> Any:
    return json.loads(run(app, *arguments, "--json").stdout)


def found(app: typer.Typer, *conditions: str) -> list[str]:
    return [row["run_id"] for row in answer(app, "runs", *conditions)["rows"]]


def test_explain_as_json_holds_money_as_text_and_as_exact_integer(app: typer.Typer) -> None:
    told = answer(app, "explain", ID)
    assert told["run"]["cost_usd"] == "0.002850"
    assert told["run"]["cost_exact_usd"] == "0.00285"
    assert told["run"]["cost_pico_usd"] == 2_850_000_000
    assert told["adds_up"] is True
    assert told["steps"][1]["lines"][0] == {
        "what": "input_uncached",
        "quantity": 1000,
        "price": 2_500_000,
        "pico_usd": 2_500_000_000,
    }


def test_explain_for_people_names_the_price_row_and_that_it_adds_up(app: typer.Typer) -> None:
    text = run(app, "explain", ID).stdout
    assert "Step 2: book price of openai/gpt-4o" in text, text
    assert "2850000000 pico-USD = 0.00285 USD; the lines add up to it exactly; 1 of 3 steps unpriced." in text
    assert "2 fallback" in text
    assert "row 1" not in text[: text.index("Steps")]
    assert "book price of openai/gpt-4o, valid at any time" in text


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([], ["child", ID, "early"]),
        (["--limit", "2"], ["child", ID]),
        (["--input-hash", IN], [ID, "early"]),
        (["--input-hash", IN[:9]], [ID, "early"]),
        (["--output-hash", OTHER], ["early"]),
        (["--input-hash", f" {IN[:9].upper()}"], [ID, "early"]),
        (["--label", "batch="], []),
        (["--ref", "scan/7"], [ID]),
        (["--key", "scan-7", "--version", "v1"], [ID, "early"]),
        (["--status", "failed", "--workflow", "ocr"], ["child"]),
        (["--tenant", "acme"], [ID, "early"]),
        (["--label", "batch"], ["early"]),
        (["--label", "batch=7"], ["early"]),
        (["--label", "batch=8"], []),
        (["--min-cost", "0.00285"], ["child", ID, "early"]),
        (["--min-cost", "0.002850000001"], []),
        (["--from", "2030-01-10"], ["child", ID]),
        (["--to", "2029-12-01"], ["early"]),
    ],
)
def test_runs_are_found_newest_first_by_what_one_knows(
    app: typer.Typer, conditions: list[str], expected: list[str]
) -> None:
    assert found(app, *conditions) == expected


def test_conditions_that_cannot_hold_are_explained(app: typer.Typer) -> None:
    with pytest.raises(UsageError, match="--status 'done' does not exist; allowed are running"):
        run(app, "runs", "--status", "done")
    with pytest.raises(UsageError, match="--label '=7' names no label: write NAME or NAME=VALUE"):
        run(app, "runs", "--label", "=7")
    with pytest.raises(UsageError, match="--input-hash 'zz' is no fingerprint: write its 64 hex digits"):
        run(app, "runs", "--input-hash", "zz")
    with pytest.raises(UsageError, match="--min-cost"):
        run(app, "runs", "--min-cost", "much")


def test_csv_has_a_header_and_a_line_a_run(app: typer.Typer) -> None:
    rows = list(csv.DictReader(io.StringIO(run(app, "runs", "--csv").stdout)))
    assert [row["run_id"] for row in rows] == ["child", ID, "early"]
    assert rows[0]["output_hash"] == ""


def test_drift_says_what_changed_since_when(app: typer.Typer) -> None:
    told = answer(app, "drift")
    (line,) = told["summary"]
    assert (line["same_key_runs"], line["retriggered_runs"], line["input_changed_runs"]) == (1, 1, 0)
    assert (line["same_input_runs"], line["output_changed_runs"]) == (1, 1)
    assert line["output_changed_last_at"] == "2030-01-10T12:00:00Z"
    (changed,) = told["runs"]
    assert (changed["run_id"], changed["answer_run_id"], changed["answer_output_hash"]) == (ID, "early", OTHER)
    assert "output" in run(app, "drift").stdout


def test_drift_can_fail_a_script(app: typer.Typer) -> None:
    assert run(app, "drift", "--fail").exit_code == 1
    assert run(app, "drift", "--fail", "--to", "2029-12-31").exit_code == 0


def test_versions_carry_rates_with_intervals_and_their_caveat(app: typer.Typer) -> None:
    told = answer(app, "versions", "ocr")
    (version,) = told["versions"]
    assert version["rates"]["failed"]["count"] == 1
    assert version["rates"]["failed"]["of"] == 3
    assert version["rates"]["disliked"] == {"count": 1, "of": 1, "share": 1.0, "low": 0.206549, "high": 1.0}
    assert version["rates"]["corrected"]["count"] == 1
    assert version["rates"]["mapping_bug"]["count"] == 0
    assert "not a test" in told["note"]
    text = run(app, "versions", "ocr").stdout
    assert "1/3 = 33.3 % (6.1–79.2)" in text
    assert "Observational, not a test" in text


@pytest.mark.parametrize(
    ("counts", "unit_cost"),
    [
        ({"runs": 0, "steps": 0, "unpriced_steps": 0}, None),
        ({"runs": 5, "steps": 5, "unpriced_steps": 5}, None),
        ({"runs": 5, "steps": 0, "unpriced_steps": 0}, "0.000000"),
        ({"runs": 5, "steps": 5, "unpriced_steps": 4}, "0.000000"),
    ],
)
def test_a_version_whose_cost_nothing_tells_has_no_unit_cost(counts: dict[str, int], unit_cost: str | None) -> None:
    """Outcomes belong to no version: their line holds results and no run."""
    assert Version({"cost_pico_usd": 0, "results": 257, "unit_per": 1, **counts}).unit_cost_usd == unit_cost


def test_versions_as_csv_hold_each_part_of_a_rate(app: typer.Typer) -> None:
    (row,) = csv.DictReader(io.StringIO(run(app, "versions", "ocr", "--csv").stdout))
    assert (row["failed_count"], row["failed_of"]) == ("1", "3")


def test_an_unknown_workflow_or_run_is_a_failed_question(app: typer.Typer) -> None:
    with pytest.raises(CheckFailed, match="no production runs of workflow 'nope'"):
        run(app, "versions", "nope")
    with pytest.raises(CheckFailed, match="no run 'nope'"):
        run(app, "explain", "nope")


@pytest.mark.parametrize("command", ["explain", "runs", "drift", "versions"])
def test_help_shows_an_example(app: typer.Typer, command: str) -> None:
    assert f"Example: beleg {command}" in run(app, command, "--help").stdout


def test_the_fingerprint_of_the_output_finds_its_run(app: typer.Typer, tmp_path: Path) -> None:
    assert found(app, "--output-hash", OUT) == [ID]
