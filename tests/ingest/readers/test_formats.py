"""`beleg formats`, `beleg ingest --explain`, and the documentation of both say what the code knows."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from beleg.cli import formats as command
from beleg.cli import ingest
from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from beleg.ingest.readers.formats import MODULES, formats, recognise, suffixes
from beleg.ingest.readers.naming import Naming, Rule, Taken
from beleg.ingest.sources import find_sources
from tests.ingest.readers.samples import langfuse, litellm
from tests.ingest.readers.support import events, stage, write
from tests.ingest.readers.test_leaks import FORMATS, sample_of
from tests.invoke import run

DOCS = shipped("contracts").parent / "docs"


def app() -> typer.Typer:
    made = typer.Typer()
    command.register(made)
    ingest.register(made)
    return made


def test_the_documentation_lists_every_format_as_the_command_does() -> None:
    rows = [
        f"| `{form.name}` | {form.title} | {form.files} | {form.yields} | {form.cannot_know} |"
        for form in formats().values()
    ]
    text = (DOCS / "readers.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `.+$", text, re.MULTILINE) == rows


def test_the_command_lists_every_format_and_our_own() -> None:
    answer = json.loads(run(app(), "formats", "--json").stdout)
    assert [row["name"] for row in answer["rows"]] == ["beleg", *formats()]
    assert all(text and "\n" not in text for row in answer["rows"] for text in row.values())
    shown = run(app(), "formats").stdout
    assert all(form.yields in shown for form in formats().values())


def test_names_are_unlike_and_all_modules_are_there() -> None:
    folder = Path(command.__file__).parents[1] / "ingest" / "readers"
    having = {
        p.stem if p.stem != "__init__" else p.parent.name
        for p in folder.rglob("*.py")
        if "\nFORMATS = " in p.read_text()
    }
    assert set(MODULES) <= having | {"agents", "otlp"}
    assert len({form.title for form in formats().values()}) == len(formats())


@pytest.mark.parametrize("name", FORMATS)
def test_each_sample_is_recognised_as_its_own_format_and_by_no_other(name: str, tmp_path: Path) -> None:
    module = sample_of(name)
    for file_name in (module.NAME, "renamed.json"):
        (source,) = find_sources([write(tmp_path, file_name, module.sample("word"))], foreign=suffixes())
        found = recognise(source)
        assert found is not None
        assert found.name == name


@pytest.fixture
def explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BELEG_PROJECT", str(tmp_path / "project"))
    rules = (
        "naming: 1\nrules: [{when: {format: litellm}, workflow: proxy, units: {calls: 2}, outcome: {kind: answered}}]"
    )
    write(tmp_path, "project/contracts/policies/naming.yaml", rules)
    for folder in ("evals", "pipelines"):
        (tmp_path / "project" / folder).mkdir()
    write(tmp_path, "in/a.json", litellm.sample("a text"))
    write(tmp_path, "in/b.json", langfuse.sample("a text"))
    write(tmp_path, "in/own.jsonl", b'{"event": "step", "schema_version": 1}\n')
    return lambda *words: run(app(), "ingest", str(tmp_path / "in"), "--explain", *words).stdout


def test_explain_shows_facts_rules_and_names_and_stores_nothing(explain: Callable[..., str], tmp_path: Path) -> None:
    answer: dict[str, Any] = json.loads(explain("--json"))
    by_format = {row["format"]: row for row in answer["rows"]}
    proxy, unmapped = by_format["litellm"], by_format["langfuse"]
    assert (proxy["workflow"], proxy["rules"], proxy["is_mapped"]) == ("proxy", [1], True)
    assert (proxy["units"], proxy["outcome"]) == ({"calls": 2}, {"kind": "answered", "count": 1})
    assert (unmapped["workflow"], unmapped["rules"], unmapped["is_mapped"]) == ("langfuse", [], False)
    assert unmapped["facts"]["format"] == "langfuse"
    assert len(unmapped["facts"]) > 1
    assert (answer["unmapped"], answer["refused"], answer["other_files"]) == ({"langfuse": 1}, 0, 1)
    assert not (tmp_path / "home").exists()


def test_explain_shows_unmapped_traces_first_and_says_what_is_left(explain: Callable[..., str]) -> None:
    text = explain("--limit", "1")
    total = len(json.loads(explain("--json"))["rows"])
    assert text.startswith(f"1 of {total} traces")
    assert "langfuse  " in text.splitlines()[2]
    assert "1 traces of langfuse follow no naming rule, see docs/naming.md" in text
    assert "1 files are read as events in normal form" in text


def test_a_mapping_names_its_runs_itself(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        run(app(), "ingest", str(tmp_path), "--explain", "--mapping", "m.yaml")


def test_a_format_that_does_not_exist_is_named_with_those_there_are(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", b"{}")
    with pytest.raises(UsageError, match=r"no format 'lngfuse'; formats are beleg, .*langfuse"):
        run(app(), "ingest", str(path), "--explain", "--format", "lngfuse")


def runs(name: str, tmp_path: Path, naming: Naming) -> dict[str, list[dict[str, Any]]]:
    path = write(tmp_path, sample_of(name).NAME, sample_of(name).sample("word"))
    made = events(stage(tmp_path / "staged", path, form=name, naming=naming))
    return {kind: [event for event in made if event["event"] == kind] for kind in EVENTS}


EVENTS = ("run_started", "run_finished", "outcome")


@pytest.mark.parametrize("name", FORMATS)
def test_a_rule_means_the_same_in_every_format(name: str, tmp_path: Path) -> None:
    rule = Rule(
        {"format": (name,)},
        {
            "workflow": Taken("named"),
            "tenant": Taken("acme"),
            "feature": Taken("reading"),
            "prompt_version": Taken("7"),
        },
        purpose="test",
        units={"documents": Taken(3)},
        outcome=("done", Taken(2)),
    )
    made = runs(name, tmp_path, Naming([rule]))
    assert made["run_started"]
    for started in made["run_started"]:
        given = [started[field] for field in ("workflow", "tenant", "feature", "prompt_version", "purpose")]
        assert given == ["named", "acme", "reading", "7", "test"]
    assert all(
        finished["units"].get("documents") == 3
        for finished in made["run_finished"]
        if finished["status"] == "succeeded"
    )
    succeeded = {finished["run_id"] for finished in made["run_finished"] if finished["status"] == "succeeded"}
    told = {run_id for outcome in made["outcome"] for run_id in outcome["run_ids"]}
    assert succeeded <= told
    for outcome in made["outcome"]:
        assert (outcome["workflow"], outcome["kind"], outcome["count"]) == ("named", "done", 2)


@pytest.mark.parametrize("name", FORMATS)
def test_a_trace_without_a_rule_is_counted_once(name: str, tmp_path: Path) -> None:
    naming = Naming()
    made = runs(name, tmp_path, naming)
    unnamed = {started["run_id"] for started in made["run_started"] if started["workflow"] == name}
    assert naming.unmapped[name] in {0, len(unnamed)}
