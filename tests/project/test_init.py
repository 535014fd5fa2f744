"""`beleg init`: a ready project in an empty folder, and never a word over another's."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from beleg.cli.main import app
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.project import init, template
from tests.invoke import run

ROOT = Path(__file__).resolve().parents[2]


def everything(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in folder.rglob("*") if p.is_file()}


def test_a_project_has_the_folders_and_all_that_it_was_said_to_have(tmp_path: Path) -> None:
    done = init.init(tmp_path / "My Agents")
    assert everything(done.folder) == template.files("My Agents")
    folders = {"assets", "pipelines", "contracts/policies", "contracts/features", "evals", "notebooks"}
    assert all((done.folder / name).is_dir() for name in folders)
    files = {"dagster.yaml", "pyproject.toml", "README.md", "Makefile", ".gitignore", ".env.sample"}
    assert all((done.folder / name).is_file() for name in files)
    settings = tomllib.loads((done.folder / "pyproject.toml").read_text())
    assert settings["project"]["name"] == "my-agents"
    assert settings["tool"]["dagster"]["module_name"] == "pipelines.definitions"
    notebook = settings["project"]["optional-dependencies"]["notebook"]
    assert notebook == [f"beleg[notebook]=={template._version()}"]
    (needed,) = map(Requirement, settings["project"]["dependencies"])
    assert (needed.name, needed.extras <= {"pipeline", "platform"}, len(needed.extras)) == ("beleg", True, 1)
    assert not [text for text in everything(done.folder).values() if "@" + "NAME@" in text or "@" + "VERSION@" in text]


def test_its_example_of_a_contract_lints_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(init.init(tmp_path / "agents").folder)
    monkeypatch.setenv("BELEG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("BELEG_PROJECT", raising=False)
    assert "receipt-extraction" in run(app, "contract", "lint").stdout


def test_its_policies_are_the_ones_that_hold_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = init.init(tmp_path / "agents").folder
    monkeypatch.chdir(folder / "notebooks")
    monkeypatch.delenv("BELEG_PROJECT", raising=False)
    assert Settings.load().policy("models.yaml") == folder / "contracts" / "policies" / "models.yaml"


def test_a_second_time_it_lists_what_differs_and_changes_nothing(tmp_path: Path) -> None:
    folder = init.init(tmp_path / "agents").folder
    assert init.init(folder) == init.Report(folder, same=tuple(template.files("agents")))
    (folder / "dagster.yaml").write_text("mine: true\n")
    (folder / "Makefile").unlink()
    before = everything(folder)
    again = init.init(folder)
    assert (again.created, again.differing, again.missing) == ((), ("dagster.yaml",), ("Makefile",))
    assert "-mine: true" in init.diff(folder, "dagster.yaml")
    assert everything(folder) == before
    added = init.init(folder, force=True)
    assert (added.created, added.differing) == (("Makefile",), ("dagster.yaml",))
    assert (folder / "dagster.yaml").read_text() == "mine: true\n"


def test_a_folder_that_holds_something_is_left_alone_unless_told(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(UsageError, match="--force"):
        init.init(tmp_path)
    assert everything(tmp_path) == {"README.md": "mine"}
    init.init(tmp_path, force=True)
    assert (tmp_path / "README.md").read_text() == "mine"
    with pytest.raises(UsageError, match="is no folder"):
        init.init(tmp_path / "README.md", force=True)


def test_the_command_tells_and_shows(tmp_path: Path) -> None:
    def beleg(*words: str) -> str:
        command = [sys.executable, "-m", "beleg.cli.main", "init", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ).stdout

    folder = tmp_path / "agents"
    assert json.loads(beleg(str(folder), "--json"))["created"] == list(template.files("agents"))
    assert "as this release would write it" in beleg(str(folder))
    (folder / "dagster.yaml").write_text("mine: true\n")
    assert "-mine: true" in beleg(str(folder), "--diff")


def test_the_makefile_works_as_it_is(tmp_path: Path) -> None:
    folder = init.init(tmp_path / "agents").folder
    (folder / ".env").write_text((folder / ".env.sample").read_text())
    done = subprocess.run(
        ["make", "-n", "run", "dev", "backup", "TARGET=x"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "beleg run" in done.stdout
    assert "-m pipelines.dev" in done.stdout  # which reads PORT


def test_what_the_notebook_needs_is_an_extra_of_its_own_and_said_where_it_is_looked_for(tmp_path: Path) -> None:
    folder = init.init(tmp_path / "agents").folder
    imported = set(re.findall(r"^    import (\w+)", (folder / "notebooks" / "unit_costs.py").read_text(), re.MULTILINE))
    assert imported == {"marimo", "polars"}
    assert 'marimo and polars: `pip install -e ".[notebook]"`' in (folder / "README.md").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {Requirement(line).name for line in extras["notebook"]} == {"beleg", *imported}


def test_every_policy_of_this_release_is_in_a_project(tmp_path: Path) -> None:
    folder = init.init(tmp_path / "agents").folder / "contracts" / "policies"
    assert {"models.yaml", "retention.yaml", "workflows.yaml"} <= {path.name for path in folder.iterdir()}


@given(st.text())
def test_any_folder_gives_a_name_that_packaging_accepts(name: str) -> None:
    found = template.package_name(name)
    assert canonicalize_name(found, validate=True) == found
