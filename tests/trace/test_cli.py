"""The commands `beleg fingerprint`, `beleg ship` and `beleg tail`."""

import json
import math
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import beleg
from beleg.cli import fingerprint, ship, tail
from beleg.trace import spool_files

app = typer.Typer()
for module in (fingerprint, ship, tail):
    module.register(app)


def _run(*arguments: str, stdin: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments), input=stdin)
    return done.exit_code, done.output


def test_fingerprint_of_a_file_and_of_standard_input_is_that_of_the_library(tmp_path: Path) -> None:
    value = {"b": 1.0, "a": ["ü", None]}
    path = tmp_path / "value.json"
    path.write_text(json.dumps(value))
    assert _run("fingerprint", str(path)) == (0, beleg.fingerprint(value) + "\n")
    assert _run("fingerprint", "-", stdin=json.dumps(value)) == (0, beleg.fingerprint(value) + "\n")
    code, output = _run("fingerprint", str(path), "--json")
    assert (code, json.loads(output)) == (
        0,
        {"digest": beleg.fingerprint(value), "canon_version": "jcs", "key_id": None},
    )


@pytest.mark.parametrize("text", ["{", '{"a":1,"a":2}', ""])
def test_fingerprint_refuses_what_is_no_json(text: str) -> None:
    code, output = _run("fingerprint", "-", stdin=text)
    assert code == 4
    assert output


def test_fingerprint_of_not_a_number_is_tagged_as_such() -> None:
    assert _run("fingerprint", "-", stdin="NaN")[1].strip() == beleg.fingerprint(math.nan)


def test_keyed_fingerprint_needs_a_key_of_the_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HASH_KEYS", json.dumps({"keys": {"k1": "01" * 16}}))
    assert _run("fingerprint", "-", "--key", "k1", stdin="1")[1].strip() == beleg.fingerprint(1, key=b"\x01" * 16)
    code, output = _run("fingerprint", "-", "--key", "other", stdin="1")
    assert code == 2
    assert "k1" in output


def test_file_that_is_missing_is_a_usage_error(tmp_path: Path) -> None:
    assert _run("fingerprint", str(tmp_path / "none"))[0] == 2


def test_ship_reports_what_it_moved(spool: Path, tmp_path: Path) -> None:
    with beleg.traced_agent_run(workflow="ocr"):
        pass
    code, output = _run("ship", str(tmp_path / "inbox"), "--rest", "--json")
    assert code == 0
    assert json.loads(output)["files"] == 1
    assert len(list((tmp_path / "inbox").glob("*.jsonl"))) == 1


def test_ship_tells_when_the_destination_fails(spool: Path, tmp_path: Path) -> None:
    with beleg.traced_agent_run(workflow="ocr"):
        pass
    (tmp_path / "inbox").write_text("a file in the way")
    code, output = _run("ship", str(tmp_path / "inbox"), "--rest")
    assert code == 1
    assert "inbox" in output


def test_repeating_shipper_ships_the_rest_when_it_is_terminated(
    spool: Path, tmp_path: Path, child_env: dict[str, str]
) -> None:
    code = "import typer\nfrom beleg.cli import ship\napp = typer.Typer()\nship.register(app)\napp()"
    command = [sys.executable, "-c", code, str(tmp_path / "inbox"), "--every", "3600"]
    shipper = subprocess.Popen(command, env=child_env, stdout=subprocess.PIPE, text=True)
    assert shipper.stdout is not None
    assert shipper.stdout.readline().startswith("shipped 0 files")
    traced = "import beleg, os\nwith beleg.traced_agent_run(workflow='w'): pass\nos._exit(0)"
    subprocess.run([sys.executable, "-c", traced], env=child_env, check=True)
    shipper.send_signal(signal.SIGTERM)
    assert shipper.wait() == 0
    assert shipper.stdout.read().startswith("shipped 1 files")
    shipper.stdout.close()


def test_repeating_shipper_outlives_a_destination_that_is_away(
    spool: Path, tmp_path: Path, child_env: dict[str, str]
) -> None:
    with beleg.traced_agent_run(workflow="w"):
        pass
    spool_files.seal(*spool_files.open_files(spool))
    inbox = tmp_path / "inbox"
    inbox.write_text("a file in the way")
    code = "import typer\nfrom beleg.cli import ship\napp = typer.Typer()\nship.register(app)\napp()"
    command = [sys.executable, "-c", code, str(inbox), "--every", "1"]
    shipper = subprocess.Popen(command, env=child_env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert shipper.stdout is not None
    assert shipper.stderr is not None
    assert "tried again in 1 s" in shipper.stderr.readline()
    inbox.unlink()
    assert shipper.stdout.readline().startswith("shipped 1 files")
    shipper.send_signal(signal.SIGTERM)
    shipper.communicate()
    assert shipper.returncode == 0


def test_tail_shows_what_is_there_as_lines_or_as_json(spool: Path) -> None:
    with beleg.traced_agent_run(workflow="ocr") as run:
        run.set_output(1, response={"model": "gpt-4o", "usage": {"prompt_tokens": 100, "completion_tokens": 20}})
    code, output = _run("tail", "--once")
    assert code == 0
    started, step, finished = output.splitlines()
    assert "run_started  ocr" in started
    assert "step  gpt-4o  succeeded  120 tokens" in step
    assert "run_finished  succeeded" in finished
    events = [json.loads(line)["event"] for line in _run("tail", "--once", "--json")[1].splitlines()]
    assert events == ["run_started", "step", "run_finished"]


def test_tail_of_a_spool_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert _run("tail", "--once", "--spool", str(tmp_path / "none")) == (0, "")
