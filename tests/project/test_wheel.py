"""What a user of the wheel has: nothing of this checkout, and a project that runs."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beleg.demo.generate import write_demo

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a program of an environment with the wheel and, since there is no network, the packages of this one."""
    work = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(work / "dist"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    venv.create(work / "venv", symlinks=True)
    python = work / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", "--quiet"]
    subprocess.run([*install, *map(str, (work / "dist").glob("*.whl"))], check=True, capture_output=True)
    find = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(find, check=True, capture_output=True, text=True).stdout.strip())
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(name: str, *words: str, cwd: Path = work, **env: str) -> subprocess.CompletedProcess[str]:
        mine = {k: v for k, v in os.environ.items() if not k.startswith(("BELEG_", "PYTHON", "DAGSTER"))}
        # Programs of other packages belong to another environment; its modules are seen by this one.
        command = [str(python), "-m", *name.split()] if name != "beleg" else [str(python.parent / "beleg")]
        return subprocess.run([*command, *words], cwd=cwd, env=mine | env, capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="module")
def project(user: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project made by the wheel, with the demo's events in its spool."""
    folder = tmp_path_factory.mktemp("user")
    done = user("beleg", "init", "agents", cwd=folder)
    assert done.returncode == 0, done.stderr
    write_demo(folder / "agents" / ".beleg" / "spool", runs=100, seed=1, weeks=1)
    return folder / "agents"


def test_the_wheel_makes_the_same_project_as_the_checkout(user: Run, project: Path) -> None:
    from beleg.project import template

    told = json.loads(user("beleg", "init", str(project), "--json").stdout)
    assert (told["created"], told["differing"], told["missing"]) == ([], [], [])
    assert set(told["same"]) == set(template.files("agents"))


def test_a_users_project_runs_backs_up_and_restores(user: Run, project: Path) -> None:
    ran = json.loads(user("beleg", "run", "--json", cwd=project).stdout)
    assert (ran["publication"], ran["accepted"] > 100) == (1, True)
    costs = user("beleg", "costs", "--json", cwd=project).stdout
    assert json.loads(costs)["rows"]
    for words in (["backup", "../place"], ["restore", "../place", "--into", "../restored"], ["migrate"]):
        done = user("beleg", *words, cwd=project)
        assert done.returncode == 0, done.stderr
    assert user("beleg", "costs", "--json", cwd=project, BELEG_HOME=str(project.parent / "restored")).stdout == costs


@pytest.mark.skipif(not (ROOT / "pipelines" / "definitions.py").exists(), reason="no wiring yet")
@pytest.mark.soak
def test_dagster_runs_a_users_project(user: Run, project: Path, tmp_path: Path) -> None:
    env = {"DAGSTER_HOME": str(project), "BELEG_HOME": str(tmp_path / "home")}
    env["BELEG_SPOOL"] = str(project / ".beleg" / "spool")
    today = json.dumps({"dagster/partition": datetime.now(UTC).date().isoformat()})
    execute = ["job", "execute", "-m", "pipelines.definitions", "-j", "refresh", "--tags", today]
    for words in (["definitions", "validate"], execute):
        done = user("dagster", *words, cwd=project, **env)
        assert done.returncode == 0, done.stdout + done.stderr
    by_dagster = user("beleg", "costs", "--json", cwd=project, **env).stdout
    assert json.loads(by_dagster)["rows"]
    user("beleg", "run", cwd=project)
    assert by_dagster == user("beleg", "costs", "--json", cwd=project).stdout
