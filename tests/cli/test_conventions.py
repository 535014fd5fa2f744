"""Every command shows its answer the same way: to people, to pipes, to machines, on any terminal."""

import csv
import io
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from beleg.cli.main import app, main
from beleg.core.settings import Settings

TABULAR = {
    "costs": ["costs"],
    "costs by day": ["costs", "--by", "day,workflow,model"],
    "runs": ["runs", "--workflow", "ocr", "--limit", "5"],
    "drift": ["drift"],
    "versions": ["versions", "chat_copilot"],
    "flags": ["flags"],
    "reconcile": ["reconcile"],
    "models": ["models"],
    "prices": ["prices"],
    "quarantine list": ["quarantine", "list"],
    "quarantine list of a reason": ["quarantine", "list", "--reason", "schema"],
    "sql": ["sql", "SELECT run_id, workflow, status, cost_pico_usd FROM runs ORDER BY run_id LIMIT 5"],
    "sql of many columns": ["sql", "SELECT * FROM runs ORDER BY run_id LIMIT 2"],
}
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-9]|4[0-9]|9[0-7])")


class Terminal(io.StringIO):
    """Standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def home(demo: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HOME", str(demo.home))
    monkeypatch.setenv("BELEG_PROJECT", str(demo.project))
    monkeypatch.setenv("BELEG_TIMEZONE", demo.timezone)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def piped(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def on_terminal(monkeypatch: pytest.MonkeyPatch, words: list[str], *, width: int) -> str:
    out = Terminal()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stdout", out)
    app(words, standalone_mode=False)
    return out.getvalue()


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command below one, by the words a user types."""
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))
    if not hasattr(command, "commands"):
        yield " ".join(path), command


COMMANDS = dict(commands(typer.main.get_command(app)))


def rows_of(answer: Any) -> list[dict[str, Any]]:
    if isinstance(answer, list):
        return answer
    return next(answer[key] for key in ("rows", "lines", "reasons", "runs", "versions") if key in answer)


def named_values(answer: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(answer, dict):
        for key, value in answer.items():
            yield from named_values(value, key)
    elif isinstance(answer, list):
        for value in answer:
            yield from named_values(value, name)
    else:
        yield name, answer


tabular = pytest.mark.parametrize("words", TABULAR.values(), ids=TABULAR)


@tabular
def test_json_holds_rows_and_money_is_no_float(words: list[str]) -> None:
    answer = json.loads(piped(*words, "--json"))
    assert rows_of(answer)
    for name, value in named_values(answer):
        assert not (name.endswith("_usd") and isinstance(value, float)), name


@tabular
def test_csv_has_a_header_and_the_rows_of_json(words: list[str]) -> None:
    header, *rows = csv.reader(io.StringIO(piped(*words, "--csv")))
    assert len(set(header)) == len(header)
    assert len(rows) == len(rows_of(json.loads(piped(*words, "--json"))))
    assert {len(row) for row in rows} == {len(header)}


@tabular
def test_a_pipe_gets_plain_text_and_each_row_on_one_line(words: list[str]) -> None:
    text = piped(*words)
    assert "\x1b" not in text
    assert not re.search("[\u2500-\u257f…]", text)
    assert len(text.splitlines()) >= len(rows_of(json.loads(piped(*words, "--json"))))
    for run_id in re.findall(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", piped(*words, "--csv"))[:5]:
        assert run_id in text


@pytest.mark.parametrize("width", [40, 80])
@tabular
def test_a_narrow_terminal_folds_and_cuts_nothing(
    words: list[str], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ESCAPE.sub("", on_terminal(monkeypatch, words, width=width))
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


@tabular
def test_no_color_leaves_no_colour(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(on_terminal(monkeypatch, words, width=120))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_speaks_json_and_shows_an_example(name: str) -> None:
    command = COMMANDS[name]
    assert f"Example: beleg {name}" in str(command.help)
    assert any("--json" in parameter.opts for parameter in command.params)


def exit_code(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["beleg", *words])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "costs"),
        (0, "flags"),
        (1, "flags --fail"),
        (1, "reconcile --fail"),
        (0, "reconcile --fail --from 2026-10-01"),
        (2, "costs --from March"),
        (2, "costs --by colour"),
        (2, "costs --no-such-option"),
        (2, "no-such-command"),
        (2, "report --lang fr"),
        (2, "report --from 2026-10-02 --to 2026-10-01"),
        (2, "prices --model no-slash"),
        (2, "quarantine show 000000000000"),
        (2, "ingest no/such/file"),
        (2, "runs --label =x"),
        (2, "runs --input-hash zz"),
        (2, "runs --output-hash 0x1f"),
        (2, "runs --min-cost 1e400"),
        (1, "drift --workflow nope"),
        (1, "versions nope"),
        (2, "backup somewhere --csv"),
        (2, "report --out pyproject.toml/report.html"),
        (2, "backup pyproject.toml"),
        (2, "backup pyproject.toml/here"),
        (2, "restore nowhere --into pyproject.toml"),
        (2, "demo --home pyproject.toml/here"),
        (2, "init pyproject.toml/here"),
    ],
)
def test_exit_codes_are_stable(code: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert exit_code(monkeypatch, *words.split()) == code


INTEGERS = [
    (name, option.opts[0])
    for name, command in COMMANDS.items()
    for option in command.params
    if option.param_type_name == "option" and option.type_descriptor.annotation in {int, int | None}
]


@pytest.mark.parametrize(("name", "option"), [(n, o) for n, o in INTEGERS if o != "--seed"])
def test_a_number_that_nothing_can_hold_is_a_usage_error(
    name: str, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["x" for p in COMMANDS[name].params if p.param_type_name == "argument"]
    assert exit_code(monkeypatch, *name.split(), *words, option, "9" * 20) == 2
    assert option in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--json", "--csv"], ["--csv", "--json"]])
@pytest.mark.parametrize("name", [n for n, c in COMMANDS.items() if any("--csv" in p.opts for p in c.params)])
def test_an_answer_has_one_form(
    name: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["x" for p in COMMANDS[name].params if p.param_type_name == "argument"]
    assert exit_code(monkeypatch, *name.split(), *arguments, *words) == 2
    assert "--json and --csv exclude each other" in capsys.readouterr().err


def test_a_folder_is_no_file_to_write_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(monkeypatch, "report", "--out", str(tmp_path)) == 2
    assert capsys.readouterr().err == f"beleg: {tmp_path} is a folder: name a file in it\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("width", [40, 80])
def test_explain_folds_on_a_narrow_terminal(width: int, monkeypatch: pytest.MonkeyPatch, demo: Settings) -> None:
    (run_id,) = rows_of(json.loads(piped("runs", "--workflow", "chat_copilot", "--limit", "1", "--json")))
    text = ESCAPE.sub("", on_terminal(monkeypatch, ["explain", run_id["run_id"]], width=width))
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    whole = piped("explain", run_id["run_id"])
    for step in json.loads(piped("explain", run_id["run_id"], "--json"))["steps"]:
        assert str(step["latency_ms"] or "") in whole
        assert step["model"] is None or step["model"] in text


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+SUM(A1)", "'+SUM(A1)"),
        ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ("@x", "'@x"),
        ("\t=1", "'\t=1"),
        ("-0.25", "-0.25"),
        ("+5", "+5"),
        ("plain = text", "plain = text"),
    ],
)
def test_no_cell_of_a_csv_is_a_formula(text: str, cell: str) -> None:
    quoted = text.replace("'", "''")
    (_, (found,)) = csv.reader(io.StringIO(piped("sql", f"SELECT '{quoted}' AS name", "--csv")))
    assert found == cell
    assert json.loads(piped("sql", f"SELECT '{quoted}' AS name", "--json")) == [{"name": text}]


def test_an_id_of_a_refused_line_may_be_typed_in_capitals() -> None:
    line = json.loads(piped("quarantine", "list", "--reason", "schema", "--json"))["lines"][0]["id"]
    assert piped("quarantine", "show", line.upper()) == piped("quarantine", "show", line)


def test_a_query_that_fails_is_a_usage_error_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(monkeypatch, "sql", "SELECT nothing FROM nowhere") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("beleg: the query failed")


@pytest.mark.parametrize("words", ["costs", "flags", "reconcile", "report", "sql SELECT", "open"])
def test_an_empty_home_says_what_to_run_first(
    words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path))
    assert exit_code(monkeypatch, *words.split()) == 2
    assert "beleg ingest PATH" in capsys.readouterr().err


def test_a_damaged_store_has_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, demo: Settings) -> None:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path))
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "_publication.json").write_text("{")
    assert exit_code(monkeypatch, "run") == 4


def test_the_report_of_the_command_speaks_german_and_says_that_its_data_is_made_up(tmp_path: Any) -> None:
    told = json.loads(piped("report", "--lang", "de", "--out", str(tmp_path / "r.html"), "--json"))
    assert told["lang"] == "de"
    assert "Synthetische Daten" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_run_of_the_pipeline_writes_the_report_where_asked_to(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path))
    page = tmp_path / "reports" / "report.html"
    assert json.loads(piped("run", "--json"))["report"] is None
    assert not page.exists()
    assert json.loads(piped("run", "--report", "--json"))["report"] == str(page)
    assert "Nothing to report" in page.read_text(encoding="utf-8")
