"""From an agent that is traced to its figures: the example's tools, playbooks and prompt, and a cache that is one."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beleg import flow
from beleg.agent.example.agent import CONTEXTS
from beleg.agent.example.prompt import PROMPT, TOOLSET, Turn
from beleg.cli.main import app
from tests.flow.support import Installation
from tests.invoke import run

ROOT = Path(__file__).resolve().parents[3]
APP = """
import beleg
from beleg.agent.example.agent import CONTEXTS
from beleg.agent.example.prompt import PROMPT, Turn
from beleg.agent.layout import Layout, Prompt, Segment, rules

MODEL = "claude-sonnet-4-5"
kept, number = set(), 0


def tokens(pieces):
    return Layout(pieces=tuple(pieces)).tokens("claude").tokens


def answer(layout):
    '''A provider that keeps prefixes up to each breakpoint and reads the longest one again.'''
    global number
    number += 1
    prefixes = [layout.pieces[: at + 1] for at in layout.breakpoints]
    texts = ["".join(piece.text for piece in each) for each in prefixes]
    found = max((i for i, text in enumerate(texts) if text in kept), default=-1)
    kept.update(texts)
    read = tokens(prefixes[found]) if found >= 0 else 0
    written = tokens(prefixes[-1]) - read
    usage = {"input_tokens": tokens(layout.pieces) - read - written, "cache_read_input_tokens": read,
             "cache_creation_input_tokens": written, "output_tokens": 20}
    return {"type": "message", "role": "assistant", "id": f"msg_{number}", "model": MODEL, "usage": usage}


def ask(trace, prompt, context, company, playbook=None):
    turn = Turn(CONTEXTS[context], company, "When is the VAT return due?")
    layout = prompt.render(turn, rules=rules("anthropic"), model=MODEL)
    hashes = {"toolset_hash": turn.cohort.record("claude"), "layout_hash": layout.record("claude")}
    with trace.step("answer", playbook=playbook, **hashes) as step:
        step.record(answer(layout), provider="anthropic")


later = [Segment(name=s.name, scope=s.scope, part=s.part, make="Be brief. " + s.make) if s.name == "instructions" else s
         for s in PROMPT.segments]
for prompt, version in ((PROMPT, "1.0.0"), (Prompt(later), "1.1.0")):
    for context, company in (("freelancer", "Ada"), ("freelancer", "Bo"), ("company", "Nord GmbH")):
        options = {"feature": "copilot", "contract_version": version, "conversation_id": f"{version} {company}"}
        with beleg.traced_agent_run(workflow="chat_copilot", input_payload={"company": company}, **options) as trace:
            ask(trace, prompt, context, company)
            with trace.tool("list_invoices"):
                pass
            ask(trace, prompt, context, company, playbook="vat-return")
for page in range(40):
    with beleg.traced_agent_run(workflow="ocr", input_payload={"page": page}):
        pass
"""


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("traced"))
    env = {**os.environ, "BELEG_HOME": str(made.settings.home), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", APP], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = flow.run(made.settings, as_of=datetime.now(UTC))
    assert (report.ingest.quarantined, report.lost) == (0, {})
    return made


def test_the_widest_surface_carries_the_thinnest_traffic(there: Installation) -> None:
    widths = {name: len(TOOLSET.for_context(CONTEXTS[name]).tools) for name in ("freelancer", "company")}
    rows = there.ask("SELECT workflow, runs, max_tools_offered, offered_tools FROM workflow_traffic ORDER BY runs DESC")
    assert rows == [
        ("ocr", 40, None, 0),
        ("chat_copilot", 6, max(widths.values()), 2 * (2 * widths["freelancer"] + widths["company"])),
    ]


def test_tools_instructions_and_index_are_those_that_were_sent(there: Installation) -> None:
    turn = Turn(CONTEXTS["freelancer"], "Ada", "")
    offer = TOOLSET.for_context(CONTEXTS["freelancer"])
    known = {each["name"]: each["tokens"] for each in PROMPT.render(turn).event("claude")["segments"]}
    index = known["workflows"] + (known["cohort_workflows"] or 0)
    (row,) = there.ask(
        "SELECT tool_tokens, instruction_tokens, index_tokens FROM held_tokens "
        f"WHERE contract_version = '1.0.0' AND cohort = '{offer.cohort.name}'"
    )
    tools = sum(each["tokens"] for each in offer.cohort.event("claude")["tools"])
    assert [int(sum_) for sum_ in row] == [4 * tools, 4 * known["instructions"], 4 * index]


def test_only_the_first_request_of_all_finds_nothing(there: Installation) -> None:
    """Another cohort finds the core tools, another version of the instructions finds the tools that stand before."""
    causes = "SELECT cause, sum(requests)::INT FROM cache_misses GROUP BY cause ORDER BY cause"
    assert there.ask(causes) == [("first_use", 1), ("hit", 11)]
    tax = "SELECT sum(tax_pico_usd), sum(untaxed_requests) FROM tool_usage"
    ((paid, untaxed),) = there.ask(tax)
    ((cost,),) = there.ask("SELECT sum(cost_pico_usd) FROM run_costs")
    assert 0 < paid < cost
    assert untaxed == 0


def test_the_command_tells_all_of_it(there: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HOME", str(there.settings.home))
    found = json.loads(run(app, "agent", "stats", "--workflow", "chat_copilot", "--json").stdout)
    called = [tool["tool_name"] for tool in found["tools"] if tool["calls"]]
    assert called == ["list_invoices"]
    assert [(row["playbook"], row["openings"], row["requests"]) for row in found["playbooks"]] == [("vat-return", 6, 6)]
    assert {row["contract_version"] for row in found["held"]} == {"1.0.0", "1.1.0"}
    assert all(float(tool["month_usd"]) > 0 for tool in found["tools"] if tool["is_idle"])
