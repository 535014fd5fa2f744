"""Dagster keeps its history in Postgres where dagster.yaml says so: a real server, made for the test."""

import os
import shutil
import socket
import subprocess
from collections.abc import Generator
from pathlib import Path

import dagster as dg
import pytest

from tests.flow.support import run_events
from tests.pipeline.support import Pipeline
from tests.pipeline.test_sensors import NOON

pytestmark = pytest.mark.filterwarnings("ignore")
USER = "nobody"


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
    return found[-1].parent


def _as_server(*command: str | Path) -> None:
    """Run a program of the server, which refuses to be root."""
    words = [str(word) for word in command]
    drop = ["setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    subprocess.run([*drop, *words], check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=120)


@pytest.fixture
def server() -> Generator[int]:
    """The port of a Postgres with an empty database `postgres`, reached without a password on this machine."""
    bin_ = _programs()
    pytest.importorskip("dagster_postgres", reason="dagster-postgres is not installed")
    folder = Path("/tmp") / f"beleg-postgres-{os.getpid()}"  # sockets need a short path
    folder.mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder, USER, "nogroup")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        _as_server(bin_ / "initdb", "-D", folder / "data", "-A", "trust", "-U", "dagster", "--no-sync")
        options = f"-p {port} -k {folder} -c fsync=off -c listen_addresses=127.0.0.1"
        _as_server(bin_ / "pg_ctl", "-D", folder / "data", "-l", folder / "log", "-o", options, "-w", "start")
        yield port
        _as_server(bin_ / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_runs_and_days_are_kept_in_postgres(server: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "dagster"
    home.mkdir()
    url = f"postgresql+psycopg2://dagster@127.0.0.1:{server}/postgres"
    monkeypatch.setenv("BELEG_DAGSTER_POSTGRES", url)
    text = "storage:\n  postgres:\n    postgres_url:\n      env: BELEG_DAGSTER_POSTGRES\ntelemetry:\n  enabled: false\n"
    (home / "dagster.yaml").write_text(text)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        pipeline = Pipeline(tmp_path / "there", instance)
        pipeline.arrive(*run_events("a", NOON))
        assert pipeline.refresh().success
    with dg.DagsterInstance.from_config(str(home)) as again:
        assert again.get_materialized_partitions(dg.AssetKey("unit_costs")) == {"2026-01-10"}
        assert [run.status for run in again.get_runs()] == [dg.DagsterRunStatus.SUCCESS]
    assert not any(path.suffix == ".db" for path in home.rglob("*"))
