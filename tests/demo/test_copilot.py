"""The demo's copilot: its tools, playbooks and prompt are the example's, its provider keeps what its rules say."""

import itertools
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from beleg.agent.layout import Layout, Prompt, Segment, predict, rules
from beleg.demo import DemoSummary, write_demo
from beleg.demo.company import SONNET, START_US, TENANTS
from beleg.demo.copilot import OPENS, PROMPTS, Chat, Copilot
from beleg.demo.errands import ERRANDS, LATEST, ROLE_OF
from beleg.demo.vendor import PrefixCache, tokens
from tests.demo.test_generate import Lines

ANTHROPIC = rules("anthropic")
MINUTE_US, HOUR_US = 60_000_000, 3_600_000_000
LONG = "Twelve words that every user of this agent gets to see first. " * 200


def layout(tenant: str, question: str, *, shared: str = LONG) -> Layout:
    prompt: Prompt[Any] = Prompt(
        (
            Segment(name="instructions", scope="static", make=shared),
            Segment(name="company", scope="tenant", make=lambda _: f"The company: {tenant}."),
            Segment(name="talk", scope="conversation", part="messages", make=lambda _: [{"content": question}]),
        )
    )
    return prompt.render(None, rules=ANTHROPIC, model=SONNET.name)


def cache() -> PrefixCache:
    return PrefixCache(ANTHROPIC, SONNET.name)


def test_what_was_sent_before_is_found_again_for_an_hour_since_its_last_use() -> None:
    asked, kept = layout("a", "When?"), cache()
    size = sum(tokens(piece.text) for piece in asked.pieces)
    assert kept.take(asked, 0) == {"input_uncached": 0, "cache_read": 0, "cache_write_1h": size}
    for at in (59 * MINUTE_US, 118 * MINUTE_US):
        assert kept.take(asked, at) == {"input_uncached": 0, "cache_read": size, "cache_write_1h": 0}
    assert kept.take(asked, 118 * MINUTE_US + HOUR_US)["cache_read"] == 0


def test_another_company_shares_what_stands_before_its_own() -> None:
    kept = cache()
    kept.take(layout("a", "When?"), 0)
    found = kept.take(layout("b", "When?"), 1)
    assert found["cache_read"] == tokens(LONG)
    assert found["cache_write_1h"] == tokens("The company: b.") + tokens('{"content":"When?"}')


def test_a_prefix_below_the_providers_minimum_is_not_kept() -> None:
    short, kept = layout("a", "When?", shared="Be brief."), cache()
    size = sum(tokens(piece.text) for piece in short.pieces)
    for at in (0, 1):
        assert kept.take(short, at) == {"input_uncached": size, "cache_read": 0, "cache_write_1h": 0}


def test_nothing_is_found_before_it_was_sent() -> None:
    kept = cache()
    kept.take(layout("a", "When?"), HOUR_US)
    assert kept.take(layout("a", "When?"), HOUR_US - 1)["cache_read"] == 0


def chat_of(copilot: Copilot, role: str) -> Chat:
    return copilot.chat(next(tenant for tenant in TENANTS if ROLE_OF[tenant] == role))


def test_the_cache_finds_what_the_layouts_prediction_says() -> None:
    """Held against `predict`, which knows nothing of this cache, over every pair of roles."""
    for first, second in itertools.permutations(("freelancer", "company", "tax_adviser"), 2):
        copilot = Copilot()
        layouts = []
        for role in (first, second):
            chat = chat_of(copilot, role)
            chat.say("user", f"A question of the {role}")
            layouts.append(rendered(copilot, chat))
        copilot.cache.take(layouts[0], START_US)
        found = copilot.cache.take(layouts[1], START_US + 1)
        foreseen = predict(layouts[0], layouts[1], "claude")
        assert foreseen.cached_tokens
        pieces = {sum(tokens(p.text) for p in layouts[1].pieces[:n]): n for n in range(1, 8)}
        assert found["cache_read"] == tokens(layouts[1].pieces[0].text)
        assert layouts[1].pieces[pieces[found["cache_read"]] - 1].name == "core_tools"


def rendered(copilot: Copilot, chat: Chat) -> Layout:
    from beleg.demo.copilot import Turn

    turn = Turn(chat.offer, chat.tenant, chat.messages, START_US)
    return PROMPTS[True].render(turn, rules=copilot.rules, model=SONNET.name)


def test_every_role_has_errands_and_every_errand_somebody() -> None:
    copilot = Copilot()
    offered = {role: {each.question for each in chat_of(copilot, role).errands} for role in set(ROLE_OF.values())}
    assert all(len(each) > 5 for each in offered.values())
    assert set().union(*offered.values()) == {each.question for each in ERRANDS}


@pytest.mark.parametrize("errand", ERRANDS, ids=lambda each: each.question)
def test_every_call_of_an_errand_is_answered_and_at_most_one_body_is_open(errand: Any) -> None:
    copilot = Copilot()
    chats = [chat_of(copilot, role) for role in set(ROLE_OF.values())]
    chat = next(chat for chat in chats if errand in chat.errands)
    for name, arguments in [
        *([(OPENS, {"name": "pay-a-bill"}), (OPENS, {"name": errand.playbook})] if errand.playbook else []),
        *errand.calls,
    ]:
        record = {} if errand.record is None or name == OPENS else {"record_id": "r"}
        latest = {key: chat.revision if value is LATEST else value for key, value in arguments.items()}
        chat.call(name, {**record, **latest})
    assert chat.playbook == errand.playbook
    said = json.dumps(chat.messages)
    assert said.count("<workflow name=") == (1 if errand.playbook else 0)
    assert "there is no tool" not in said
    assert "no workflow '" not in said


def test_a_founders_answers_say_how_far_the_record_is_also_when_they_are_refused() -> None:
    chat = chat_of(Copilot(), "founder")
    errand = next(each for each in ERRANDS if each.record == "founding")
    states = []
    for name, arguments in errand.calls:
        latest = {key: chat.revision if value is LATEST else value for key, value in arguments.items()}
        chat.call(name, {"record_id": "r", **latest})
        states.append(json.loads(chat.messages[-1]["content"][0]["content"]))
    assert [each.get("error", {}).get("code") for each in states] == [None, None, None, "refused", None]
    assert all(set(each["sections"]) == set(states[0]["sections"]) for each in states)
    assert "nominalSumMismatch" in states[2]["sections"]["capital"]["missing"]
    assert states[3]["revision"] == states[2]["revision"]
    assert states[4]["sections"]["capital"]["complete"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[DemoSummary, Lines]:
    folder = tmp_path_factory.mktemp("copilot")
    return write_demo(folder, runs=1_500, seed=11), Lines(folder)


def requests(lines: Lines) -> list[dict[str, Any]]:
    return [step for step in lines.of("step") if step["kind"] == "model" and "toolset_hash" in step]


def test_every_request_names_a_tool_list_and_a_layout_that_the_trace_defines(told: tuple[DemoSummary, Lines]) -> None:
    summary, lines = told
    toolsets = {event["toolset_hash"]: event for event in lines.of("toolset")}
    layouts = {event["layout_hash"]: event for event in lines.of("layout")}
    asked = requests(lines)
    assert {step["toolset_hash"] for step in asked} == set(toolsets)
    assert {step["layout_hash"] for step in asked} == set(layouts)
    assert {event["cohort"] for event in toolsets.values()} == {
        "questionnaire", "accounts+payroll", "accounts+review", "founding+trade", "accounts+corporate_tax",
    }  # fmt: skip
    assert Counter(step["toolset_hash"] for step in asked) == summary.copilot_requests
    for event in toolsets.values():
        assert all(tool["tokens"] > 0 and not tool["binding"] for tool in event["tools"])


def test_tools_and_playbooks_are_counted_as_often_as_told(told: tuple[DemoSummary, Lines]) -> None:
    summary, lines = told
    calls = Counter(step["tool_name"] for step in lines.of("step") if step["kind"] == "tool")
    assert calls == summary.tool_calls
    assert Counter(step["playbook"] for step in requests(lines) if "playbook" in step) == summary.playbook_requests


def test_called_is_only_what_was_offered_and_most_tools_never_are(told: tuple[DemoSummary, Lines]) -> None:
    _, lines = told
    names = {event["toolset_hash"]: {tool["name"] for tool in event["tools"]} for event in lines.of("toolset")}
    offered: defaultdict[str, set[str]] = defaultdict(set)
    for step in requests(lines):
        offered[step["run_id"]] |= names[step["toolset_hash"]]
    chats = [step for step in lines.of("step") if step["kind"] == "tool" and step["run_id"] in offered]
    assert all(step["tool_name"] in offered[step["run_id"]] for step in chats)
    assert len({step["tool_name"] for step in chats}) < len(set().union(*names.values())) / 3


def test_the_time_of_day_at_the_start_of_the_prompt_loses_the_rest_of_it(told: tuple[DemoSummary, Lines]) -> None:
    """The mistake of the old version and its mending show in the share that is found again, of the same tools."""
    _, lines = told
    shares = {}
    starts = {run["run_id"]: run["prompt_version"] for run in lines.of("run_started")}
    for version in ("12", "13"):
        used = Counter[str]()
        for step in requests(lines):
            if starts[step["run_id"]] == version and step.get("model") == SONNET.name:
                used.update(step.get("buckets") or {})
        whole = sum(tokens for bucket, tokens in used.items() if bucket != "output")
        shares[version] = used["cache_read"] / whole
    assert shares["12"] < shares["13"] - 0.05


def test_the_layout_names_the_scope_of_each_segment_and_counts_what_is_shared(told: tuple[DemoSummary, Lines]) -> None:
    _, lines = told
    for event in lines.of("layout"):
        scopes = {each["name"].partition("[")[0]: each["scope"] for each in event["segments"]}
        assert scopes["core_tools"] == scopes["instructions"] == "static"
        assert scopes["company"] == "tenant"
        counted = {each["name"] for each in event["segments"] if each.get("tokens") is not None}
        assert counted == {"core_tools", "cohort_tools", "instructions", "workflows", "cohort_workflows"}


def test_a_demo_made_again_in_this_process_is_the_same(tmp_path: Path) -> None:
    first, second = (write_demo(tmp_path / name, runs=150, seed=3) for name in ("a", "b"))
    assert first == second
    made = [sorted((path.name, path.read_bytes()) for path in (tmp_path / name).iterdir()) for name in ("a", "b")]
    assert made[0] == made[1]
