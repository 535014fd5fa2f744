"""The check renders a prompt elsewhere and finds what changes by itself, without knowing what such things look like."""

import itertools
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from beleg.agent.layout import Report, check
from beleg.agent.layout.differ import VARIANTS
from beleg.cli import agent
from beleg.core.errors import UsageError

_numbers = itertools.count()
HEAD = """\
import datetime, json, os, random, time, uuid
from datetime import datetime as moment
from beleg.agent.layout import Prompt, Sample, Samples, Segment

RULES = "You help with the books. " * 400
LINES = [Segment(name="rules", scope="static", make=RULES)]
"""
TAIL = """
def company(context):
    return f"Company: {context['company']}"

def question(context):
    return [{"role": "user", "content": context["question"]}]

IN_ORDER = globals().get("IN_ORDER", False)
SEGMENTS = [
    *LINES,
    Segment(name="company", scope="tenant", make=company),
    Segment(name="question", scope="turn", part="messages", make=question),
]
SAMPLES = Samples(
    prompt=Prompt(SEGMENTS, in_order=IN_ORDER),
    samples={
        name: Sample(context={"company": name, "question": "Why?"}, tenant=name) for name in ("Acme", "Zeta")
    },
)
"""


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Checks a prompt whose module begins with the given lines."""
    monkeypatch.syspath_prepend(tmp_path)

    def run(lines: str, tail: str = TAIL) -> Report:
        name = f"prompt_{next(_numbers)}"
        (tmp_path / f"{name}.py").write_text(HEAD + lines + tail)
        return check(f"{name}:SAMPLES", VARIANTS)

    return run


def rules(report: Report) -> list[tuple[str, str]]:
    return [(each.rule, each.place) for each in report.findings if each.severity == "error"]


def test_a_prompt_that_keeps_what_is_shared_first_is_clean_whatever_it_prints(checked: Any) -> None:
    report = checked("\nprint('loading', '{', flush=True)\n")
    assert report.findings == ()
    (prediction,) = report.predictions.values()
    assert prediction.shared_tokens > 1_900


def test_case_05_a_clock_in_a_shared_segment_is_an_error_that_names_segment_and_scope(checked: Any) -> None:
    lines = """
def now(context):
    return f"Current time: {moment.now():%H:%M:%S}"
LINES.append(Segment(name="clock", scope="static", make=now))
"""
    report = checked(lines)
    assert rules(report) == [("differs", "clock"), ("changes-by-itself", "clock")]
    assert "scope turn" in report.findings[1].fix
    assert "now, line" in report.findings[0].sentence


def test_case_05_a_date_may_stand_in_scope_day_and_in_no_wider_one(checked: Any) -> None:
    lines = """
def today(context):
    return f"Today is {datetime.date.today():%d.%m.%Y}."
LINES.append(Segment(name="today", scope="SCOPE", make=today))
"""
    assert rules(checked(lines.replace("SCOPE", "static"))) == [("differs", "today")]
    assert rules(checked(lines.replace("SCOPE", "day"))) == []


def test_case_06_a_hash_of_each_request_in_the_first_line_is_found_at_its_byte(checked: Any) -> None:
    lines = """
from itertools import count
def billing(context, seen=iter("fe9d")):
    return f"x-billing: cch=41a2{next(seen)}"
LINES.insert(0, Segment(name="billing", scope="static", make=billing))
"""
    report = checked(lines)
    assert rules(report) == [("differs", "billing")]
    assert "differs between two renderings at byte 19: 'f'" in report.findings[0].sentence
    assert report.predictions["Acme", "Zeta"].shared_tokens < 15


def test_case_07_a_company_in_the_first_segment_shares_nothing_until_it_is_moved(checked: Any) -> None:
    lines = """
IN_ORDER = ORDER
def greeting(context):
    return f"{context['company']}, hello."
LINES[:] = [Segment(name="greeting", scope="tenant", make=greeting),
            *(Segment(name=f"rules_{n}", scope="static", make=RULES) for n in range(3))]
"""
    before = checked(lines.replace("ORDER = ORDER", "ORDER = True"))
    assert rules(before) == [("scope-order", "rules_0"), ("scope-order", "rules_1"), ("scope-order", "rules_2")]
    assert before.predictions["Acme", "Zeta"].shared_tokens == 0
    after = checked(lines.replace("ORDER = ORDER", "ORDER = False"))
    assert rules(after) == []
    assert after.predictions["Acme", "Zeta"].shared_tokens > 6_000


MISTAKES = {
    "by_set": "'rights: ' + ', '.join({'read', 'write', 'export', 'invite', 'audit'})",
    "by_hash": "f'key {hash(chr(97) * 9)}'",
    "by_id": "f'request {uuid.uuid4()}'",
    "by_zone": "time.strftime('offset %z', time.localtime())",
    "by_process": "f'worker {os.getpid()}'",
    "by_environment": "f'language {os.environ.get(chr(76) + chr(65) + chr(78) + chr(71))}'",
    "by_nanosecond": "f'at {time.time_ns()}'",
    "by_month": "f'{datetime.datetime.now(datetime.UTC):%B}'",
    "by_import": "f'built {BUILT}'",
    "by_company": "context['company']",
}
"""Function → what it gives for a segment that says it is the same for all."""


def test_whatever_a_shared_segment_depends_on_by_mistake_is_found(checked: Any) -> None:
    lines = "\nBUILT = moment.now().isoformat()\n"
    for name, made in MISTAKES.items():
        lines += f"def {name}(context):\n    return {made}\n"
        lines += f"LINES.append(Segment(name='{name}', scope='static', make={name}))\n"
    report = checked(lines)
    found = {each.place: each.sentence for each in report.findings if each.rule == "differs"}
    assert set(found) == set(MISTAKES)
    assert all(f".{name}, line" in sentence for name, sentence in found.items())


def test_a_tool_that_only_some_are_shown_in_a_static_segment_is_found(checked: Any) -> None:
    lines = """
def tools(context):
    return [{"name": "a"}, {"name": "b"}][: len(context["company"]) - 3 + (context["company"] == "Zeta")]
LINES.append(Segment(name="tools", scope="static", part="tools", make=tools))
"""
    report = checked(lines)
    assert rules(report) == [("differs", "tools (number of its pieces)")]


def test_case_01_properties_filled_in_another_order_are_the_same_bytes(checked: Any) -> None:
    lines = """
def tools(context):
    names = ["amount", "day", "text"]
    random.shuffle(names)
    return [{"name": "add", "input_schema": {"properties": {n: {"type": "string"} for n in names}}}]
LINES.append(Segment(name="tools", scope="static", part="tools", make=tools))
"""
    assert checked(lines).findings == ()


def test_a_prompt_that_raises_or_hangs_elsewhere_says_so(checked: Any) -> None:
    lines = """
def broken(context):
    if os.environ["PYTHONHASHSEED"] == "2":
        raise RuntimeError("only there")
    return "x"
LINES.append(Segment(name="broken", scope="static", make=broken))
"""
    with pytest.raises(UsageError, match="only there"):
        checked(lines)
    with pytest.raises(UsageError, match="cannot be imported"):
        check("no_such_module:SAMPLES")
    with pytest.raises(UsageError, match="give module:name"):
        check("json:dumps")


def test_one_company_alone_shows_nothing_and_that_is_told(checked: Any) -> None:
    report = checked("", TAIL.replace('("Acme", "Zeta")', '("Acme",)'))
    assert [each.rule for each in report.findings] == ["one-company"]


def run(*arguments: str) -> Any:
    app = typer.Typer()
    app.callback()(lambda: None)
    agent.register(app)
    return CliRunner().invoke(app, ["agent", *arguments])


def test_the_example_prompt_is_checked_by_the_command() -> None:
    told = run("layout", "check", "beleg.agent.example.prompt:SAMPLES", "--json")
    assert told.exit_code == 0, told.output
    assert '"severity": "error"' not in told.output
    assert "cohort_tools" in told.output  # what tools before instructions cost is told
