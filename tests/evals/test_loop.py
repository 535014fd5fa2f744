"""The whole loop on real answers, as its users walk it: wrong answers become corrections, cases, a gate, a release.

50 annual reports; GPT-4 was asked for a figure, first without a hint at the unit, then with one.
"""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from beleg.cli.main import app
from beleg.contract import draft
from beleg.contract.model import Contract, Criterion, Evals, Prompt, Provider, Providers, Variable
from beleg.contract.registry.registry import Registry
from beleg.evals.scorers.answers import first_object
from beleg.trace.fingerprint import fingerprint
from tests.events import event, lines

FEATURE, WORKFLOW = "annual-report", "filings"
BARE, HINT = "rev23_thousands_no_hint", "rev23_thousands_hint"
MODEL = "gpt-4-1106-preview"
OUTPUT = {
    "type": "object",
    "properties": {"main_question": {"type": ["number", "string"], "maxLength": 200, "description": "The figure."}},
    "required": ["main_question"],
}
POLICY = {"workflows": {WORKFLOW: {"unit": "filing", "per": 1, "result": {"run_unit": "filings"}, "values": "stored"}}}
Beleg = Callable[..., Any]


def contract(hint: str) -> Contract:
    return Contract(
        feature=FEATURE,
        risk_tier=1,
        prompt=Prompt(
            f"You read annual reports.{hint}",
            "{{ filing }}",
            (Variable("filing", {"type": "string", "minLength": 1}, untrusted=True),),
            ({"filing": "Revenue: 1,234"},),
        ),
        output_schema=OUTPUT,
        providers=Providers(Provider("openai", MODEL, "chat", timeout_s=30.0, max_output_tokens=200, temperature=0.0)),
        evals=Evals("filings", (Criterion("revenue", "number:main_question?strip=%24", "binary", 0.8, 0.05),)),
        examples=({"main_question": 1234},),
        workflow=WORKFLOW,
        author="Ada Berg",
        change_note=f"Reads figures.{hint}",
    )


def filings(folder: Path, prompt: str) -> list[dict[str, Any]]:
    """The reports with the answer under a prompt, in the order of the file."""
    with (folder / "finrag" / f"v1__selection_text_50_{prompt}_with_answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        {
            "ref": row["source_identifier"],
            "answer": row[f"ANSWER_{MODEL}"],
            "right": json.loads(row["ANSWER_assigned"])["main_question"],
        }
        for row in rows
    ]


def is_wrong(row: dict[str, Any]) -> bool:
    try:
        found = first_object(row["answer"])["main_question"]
        return float(str(found).replace(",", "").replace("$", "")) != float(str(row["right"]).replace(",", ""))
    except (KeyError, TypeError, ValueError):
        return True


def run_of(number: int, row: dict[str, Any]) -> list[dict[str, Any]]:
    """What the application traced when it asked in production."""
    at = f"2026-10-{1 + number % 20:02d}T12:00:00Z"
    told = {"run_id": f"run-{number}", "workflow": WORKFLOW, "input_hash": hash_of(row), "input_ref": row["ref"]}
    end = {"run_id": f"run-{number}", "output_hash": fingerprint(row["answer"]), "units": {"filings": 1}}
    return [
        event("run_started", f"s{number}", at, prompt_version="1.0.0", **told),
        event("run_finished", f"e{number}", at, **end),
    ]


def hash_of(row: dict[str, Any]) -> str:
    return fingerprint({"filing": row["ref"]})


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def beleg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Beleg:
    """The command in a project and an installation of its own; gives what it printed as JSON."""
    names = {
        "BELEG_HOME": "home",
        "BELEG_SPOOL": "home/spool",
        "BELEG_PROJECT": "project",
        "BELEG_REGISTRY": "registry",
    }
    for name, place in names.items():
        monkeypatch.setenv(name, str(tmp_path / place))
    policies = tmp_path / "project" / "contracts" / "policies"
    policies.mkdir(parents=True)
    (tmp_path / "project" / "evals").mkdir()
    (policies / "workflows.yaml").write_text(json.dumps(POLICY))

    def beleg(*words: str, code: int = 0) -> Any:
        done = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    return beleg


def draft_of(project: Path, made: Contract) -> None:
    folder = project / "contracts" / "features" / FEATURE
    folder.mkdir(parents=True, exist_ok=True)
    own = {"title": "Annual reports", "workflow": WORKFLOW, "owner": "Team Reports", "risk_tier": made.risk_tier}
    (folder / "feature.yaml").write_text(json.dumps(own))
    draft.write(made, folder / "draft")


def test_from_wrong_answers_to_a_release_that_is_shown_to_be_better(
    beleg: Beleg, tmp_path: Path, test_data: Path
) -> None:
    project, before, after = tmp_path / "project", filings(test_data, BARE), filings(test_data, HINT)
    draft_of(project, contract(""))
    beleg("contract", "publish", FEATURE, "--by", "Ada Berg", "--yes")
    events = [one for number, row in enumerate(before) for one in run_of(number, row)]
    (tmp_path / "events.jsonl").write_bytes(lines(*events))
    beleg("ingest", str(tmp_path / "events.jsonl"))

    wrong = [number for number, row in enumerate(before) if is_wrong(row)]
    sheet = [
        {
            "run_id": f"run-{number}",
            "field": "/main_question",
            "reason": "extraction_error",
            "expected": json.dumps(before[number]["right"]),
            "author": f"analyst {number % 2}",
        }
        for number in wrong
    ]
    taken = beleg("correct", "--sheet", str(write(tmp_path / "review.csv", sheet)))
    assert len(wrong) == 11
    beleg("ingest", str(tmp_path / "home" / "spool"))
    (found,) = beleg("findings", "--all")["findings"]
    assert (found["inputs"], found["people"], found["field"]) == (11, 2, "/main_question"), taken
    beleg("cases", "accept", found["finding_id"], "--by", "Rita Lead", "--why", "off by a thousand")
    frozen = beleg("cases", "freeze")
    assert (frozen["cases"], frozen["conflicts"], frozen["pending"]) == (11, 0, 0)

    verified = [
        {"input_ref": row["ref"], "input_hash": hash_of(row), "/main_question": json.dumps(row["right"])}
        for number, row in enumerate(before)
        if number not in wrong
    ]
    told = ("--by", "Rita Lead", "--why", "read in the report", "--feature", FEATURE, "--dataset", "filings")
    beleg("cases", "import", str(write(tmp_path / "verified.csv", verified)), *told)

    draft_of(project, contract(" Figures are in thousands."))
    for version, rows in (("1.0.0", before), ("draft", after)):
        answers = [{"input_ref": row["ref"], "answer": row["answer"]} for row in rows]
        file = write(tmp_path / f"{version}.csv", answers)
        named = ("--format", "csv", "--feature", FEATURE, "--version", version, "--first-object")
        beleg("eval", "import", str(file), *named)
    page = tmp_path / "gate.html"
    judged = beleg("gate", FEATURE, "--report", str(page))["evidence"]
    (revenue,) = judged["criteria"]
    assert (revenue["moved"]["better"], revenue["moved"]["worse"], revenue["n"]) == (8, 0, 50)
    assert revenue["against_baseline"]["mcnemar_p"] == pytest.approx(0.0078, abs=5e-5)
    assert revenue["estimate"] == pytest.approx(47 / 50)
    assert judged["verdict"] == "pass"
    assert "8" in page.read_text(encoding="utf-8")

    beleg("contract", "publish", FEATURE, "--by", "Rita Lead", "--yes")
    head = Registry(tmp_path / "registry").head(FEATURE)
    assert head is not None
    assert head.active.digest == judged["candidate_digest"]
