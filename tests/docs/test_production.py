"""Each disaster of docs/production.md is caused, and mended by exactly the commands that stand there."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beleg import flow
from beleg.backup.make import backup
from beleg.cli.main import app
from beleg.core.errors import BelegError, DamagedError
from beleg.core.paths import shipped
from beleg.core.settings import Settings
from beleg.lake import catalog
from beleg.project.init import init
from tests.backup.support import day
from tests.events import lines
from tests.flow.support import AS_OF
from tests.flow.support import moved as moved_home

ROOT = shipped("contracts").parent
PAGE = (ROOT / "docs" / "production.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^#{2,3} ", PAGE, flags=re.MULTILINE)[1:]}


def block(section: str) -> str:
    """The commands of a section."""
    return "\n".join(re.findall(r"^```sh\n(.+?)^```", SECTIONS[section], re.DOTALL | re.MULTILINE))


FIGURES = ("FROM runs", "FROM unit_costs", "SELECT * EXCLUDE (ingest_id) FROM steps")


class Host:
    """A machine whose /srv, /etc, /mnt and /var lie in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "srv" / "beleg"
        self.place = folder / "mnt" / "backup" / "beleg"
        self.spool = self.home / "spool"

    @classmethod
    def new(cls, folder: Path) -> "Host":
        """With an installation, a backup and figures newer than that."""
        made = cls(folder)
        (folder / "bin").mkdir()
        shim = folder / "bin" / "beleg"
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m beleg.cli.main "$@"\n')
        shim.chmod(0o755)
        made.spool.mkdir(parents=True)
        (made.spool / "a.jsonl").write_bytes(lines(*day(0)))
        init(folder / "etc" / "beleg")
        made.run()
        made.backup()
        (made.spool / "b.jsonl").write_bytes(lines(*day(1)))
        made.run()
        return made

    def copied_to(self, folder: Path) -> "Host":
        """The same host in another folder."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        copy = Host(folder)
        moved_home(copy.settings)
        return copy

    def sh(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run commands of the page."""
        for name in ("srv", "etc", "mnt", "var"):
            script = re.sub(rf"(?<![\w.])/{name}/", f"{self.folder}/{name}/", script)
        mine = {k: v for k, v in os.environ.items() if not k.startswith("BELEG_")}
        mine |= {"BELEG_HOME": str(self.home), "BELEG_PROJECT": str(self.folder / "etc" / "beleg")}
        mine |= {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)} | env
        command = ["bash", "-euo", "pipefail", "-c", script]
        return subprocess.run(command, cwd=ROOT, env=mine, capture_output=True, text=True, check=False)

    def good(self, script: str, **env: str) -> str:
        """Run commands that must succeed."""
        done = self.sh(script, **env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def settings(self) -> Settings:
        return Settings(self.home, self.spool, self.folder / "etc" / "beleg")

    def figures(self) -> list[list[tuple[object, ...]]]:
        with catalog.connect(self.settings) as con:
            return [con.execute(f"FROM ({sql}) ORDER BY ALL").fetchall() for sql in FIGURES]

    def run(self) -> None:
        flow.run(self.settings, as_of=AS_OF)

    def backup(self) -> None:
        backup(self.settings, str(self.place))

    def fails(self, *words: str) -> str:
        done = CliRunner().invoke(app, list(words), env={"BELEG_HOME": str(self.home)})
        assert isinstance(done.exception, BelegError), done.output
        return str(done.exception)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Host:
    """Made once, since that takes longer than copying it."""
    return Host.new(tmp_path_factory.mktemp("host"))


@pytest.fixture
def host(first: Host, tmp_path: Path) -> Host:
    """A host with an installation, a backup and figures newer than that."""
    return first.copied_to(tmp_path)


def killed_run(host: Host) -> None:
    """It died over events that the spool holds still; their like was in the figures before."""
    (host.spool / "c.jsonl").write_bytes(lines(*day(1)))
    (host.home / "lake" / "_publication.json").unlink()
    _die(host, "beleg.lake.publication:publish", "run")


def _die(host: Host, step: str, *words: str) -> None:
    command = [sys.executable, "-m", "tests.dying", step, "before", "1", *words]
    env = os.environ | {"BELEG_HOME": str(host.home), "BELEG_PROJECT": str(host.folder / "etc" / "beleg")}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


def damaged_database(host: Host) -> None:
    (host.home / "beleg.duckdb").write_bytes(b"no database")


def moved(host: Host) -> None:
    host.home.rename(host.home.with_name("moved"))
    host.home = host.home.with_name("moved")
    host.spool = host.home / "spool"
    assert "was the folder moved" in host.fails("costs")


def lost_marks(host: Host) -> None:
    (host.home / "ledger" / "marks.json").write_text("{")


def damaged_record(host: Host) -> None:
    (host.home / "lake" / "_publication.json").write_text('{"number"')
    with pytest.raises(DamagedError):
        host.run()


def lost_file(host: Host) -> None:
    for path in (host.home / "lake" / "run_costs").glob("day=*/*.parquet"):
        path.unlink()
    shutil.rmtree(host.home / "lake" / "steps")
    with pytest.raises(DamagedError):
        host.run()


def lost_host(host: Host) -> None:
    spool = host.folder / "shipped"
    host.spool.rename(spool)
    shutil.rmtree(host.home)
    spool.parent.mkdir(exist_ok=True)
    host.home.mkdir()
    spool.rename(host.spool)


def damaged_backup(host: Host) -> None:
    host.backup()
    newest = max((host.place / "objects").glob("*/*"), key=lambda p: p.stat().st_mtime_ns)
    newest.write_bytes(b"")
    lost_file(host)
    assert "--backup ID" in host.fails("restore", str(host.place), "--replace")


def killed_restore(host: Host) -> None:
    host.backup()
    _die(host, "beleg.lake.catalog:rebuild", "restore", str(host.place), "--replace")
    with pytest.raises(DamagedError):
        host.run()


def only_events(host: Host) -> None:
    for path in host.home.iterdir():
        if path != host.spool:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def nothing(host: Host) -> None:
    """The text says what happened; here its commands alone are tried."""


DISASTERS: dict[str, Callable[[Host], None]] = {
    "A run was killed, or the power failed": killed_run,
    "The disk is full": nothing,
    "beleg.duckdb is damaged or gone": damaged_database,
    "The folder was moved": moved,
    "How far the spool was read is lost": lost_marks,
    "The record of the publication is damaged": damaged_record,
    "The lake lost a file": lost_file,
    "The host is lost": lost_host,
    "The newest backup is damaged": damaged_backup,
    "A restore was killed": killed_restore,
    "Only the events are left": only_events,
    "Wrong prices or policies were published": nothing,
}


@pytest.mark.parametrize("disaster", DISASTERS)
def test_a_disaster_is_mended_by_the_commands_that_stand_there(host: Host, disaster: str) -> None:
    before = host.figures()
    DISASTERS[disaster](host)
    host.good(block(disaster))
    assert host.figures() == before


def test_every_disaster_with_commands_is_tried() -> None:
    _, _, disasters = PAGE.partition("\n## Disasters\n")
    named = re.findall(r"^### (.+)$", disasters, re.MULTILINE)
    assert {name for name in named if block(name)} == set(DISASTERS)


@pytest.mark.parametrize("section", ["Several hosts", "Backups", "Upgrade"])
def test_the_other_commands_work_and_leave_the_figures(host: Host, section: str) -> None:
    before = host.figures()
    host.good("mkdir -p /var/spool/beleg")
    host.good(block(section))
    assert host.figures() == before
    if section == "Backups":
        assert json.loads((host.folder / "srv" / "drill" / "costs.json").read_text())["rows"]


def units() -> dict[str, str]:
    """Name → content of the units on the page."""
    return dict(re.findall(r"`/etc/systemd/system/([\w.-]+)`\n```ini\n(.+?)```", PAGE, re.DOTALL))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_finds_no_fault_in_the_units(tmp_path: Path) -> None:
    found = {name: text for name, text in units().items() if not name.endswith(".env")}
    assert len(found) == 5
    program = tmp_path / "beleg"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for name, text in found.items():
        (tmp_path / name).write_text(text.replace("/opt/beleg/bin/beleg", str(program)))
    paths = [str(tmp_path / name) for name in found]
    done = subprocess.run(["systemd-analyze", "verify", *paths], capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "beleg" in line]
    assert ours == [], done.stderr


def test_every_option_and_command_named_exists() -> None:
    for words in re.findall(r"\bbeleg ((?:[a-z]+ ?)+)", PAGE):
        command = words.split()[0]
        if command in {"run", "backup", "restore", "migrate", "init", "ship", "costs", "flags", "reconcile", "prices"}:
            assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0
    helps = "".join(
        CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"}).stdout
        for name in ("run", "backup", "restore", "migrate", "init", "ship", "prices", "flags", "reconcile", "sql")
    )
    named = set(re.findall(r"(?<=[ `])--[a-z][a-z-]+", PAGE)) - {"--host", "--port", "--no-cache-dir", "--uid"}
    assert {option for option in named if option not in helps} == set()
