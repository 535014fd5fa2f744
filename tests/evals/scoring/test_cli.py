"""`beleg eval` as a command: what it prints and how it exits."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from beleg.cli import eval as noun
from tests.contract.client.released import FEATURE
from tests.evals.scoring.house import DATASET, House, case

app = typer.Typer()
noun.register(app)


def beleg(*arguments: str) -> Result:
    result = CliRunner().invoke(app, ["eval", *arguments])
    if isinstance(result.exception, Exception):
        raise result.exception
    return result


def test_run_tells_what_it_did_for_people_and_machines(house: House) -> None:
    dataset = house.freeze(case(n) for n in range(3))
    released, drafted = house.publish(), house.draft()
    done = beleg("run", FEATURE, "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert told["candidate"]["digest"] == drafted.digest
    assert told["baseline"] == {"version": "1.0.0", "digest": released.digest}
    assert told["dataset"] == {"name": DATASET, "version": 1, "digest": dataset.digest}
    assert (told["state"], told["planned"], told["answered"], told["left"]) == ("complete", 6, 6, 0)
    assert told["cost_usd"] == "0.0001005"
    words = beleg("run", FEATURE).stdout
    assert "0 answers of 6 (6 were there before, 0 are left)" in words


def test_run_that_is_not_complete_exits_with_three(house: House) -> None:
    house.freeze(case(n) for n in range(4))
    house.draft()
    result = beleg("run", FEATURE, "--max-cost-usd", "0.00003", "--baseline", "none")
    assert result.exit_code == 3
    assert "The budget is used up" in result.stdout


def test_stale_cases_are_named(house: House) -> None:
    house.freeze(case(n) for n in range(2))
    house.draft()
    house.suite(resolver="receipts:changed")
    told = json.loads(beleg("run", FEATURE, "--json").stdout)
    assert told["unusable"] == [{"case_id": case(1).case_id, "status": "stale", "reason": "input_changed"}]
    assert case(1).case_id in beleg("run", FEATURE).stdout


@pytest.mark.parametrize("form", ["inspect", "promptfoo", "langfuse"])
def test_export_writes_a_file_or_prints(house: House, tmp_path: Path, form: str) -> None:
    house.freeze([case(0)])
    path = tmp_path / "out"
    beleg("export", DATASET, "--format", form, "--output", str(path))
    assert path.read_text() == beleg("export", DATASET, "--format", form).stdout


def test_import_tells_what_it_took(house: House, tmp_path: Path) -> None:
    house.freeze([case(0)])
    house.draft()
    path = tmp_path / "answers.csv"
    path.write_text('input_ref,answer\nr-0,"{""total"": 100, ""currency"": ""EUR""}"\nelsewhere,1\n')
    options = (str(path), "--format", "csv", "--feature", FEATURE, "--version", "draft")
    told = json.loads(beleg("import", *options, "--json").stdout)
    assert (told["answers"], told["failed"], told["unknown"]) == (1, 0, ["elsewhere"])
    assert "1 were there already" in beleg("import", *options).stdout
