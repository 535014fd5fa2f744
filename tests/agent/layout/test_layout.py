"""Putting a prompt together, predicting what is found again, and explaining what is not."""

import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.agent.example.prompt import PROMPT, SAMPLES
from beleg.agent.layout import (
    SCOPES,
    Layout,
    Piece,
    Prompt,
    Segment,
    follow,
    inspect,
    miss_reason,
    predict,
    rules,
    shared,
)
from beleg.agent.layout.segment import RANK
from beleg.agent.playbooks import Playbook, keep_one_body
from beleg.contract.tokens import estimate
from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from beleg.testing import capture

ANTHROPIC, OPENAI, GEMINI = rules("anthropic"), rules("openai"), rules("gemini")
PARTS = ("tools", "system", "messages")


def words(count: int) -> str:
    """A text of about so many tokens."""
    dice = random.Random(count)
    text = ""
    while estimate(text, "o200k").tokens < count:
        text += dice.choice(("books ", "figures ", "period ", "receipt ", "account "))
    return text


def piece(name: str, scope: Any, text: str, part: Any = "system", **more: Any) -> Piece:
    return Piece(name, scope, part, text, "a constant", **more)


def layout(*pieces: Piece, **more: Any) -> Layout:
    return Layout(pieces=pieces, **more)


def named(findings: Any) -> list[str]:
    return [each.rule for each in findings]


@given(
    st.lists(st.tuples(st.sampled_from(SCOPES), st.sampled_from(PARTS)), max_size=12),
    st.sampled_from([ANTHROPIC, GEMINI]),
)
def test_within_a_part_no_narrower_scope_stands_before_a_wider_one(kinds: list[Any], provider: Any) -> None:
    segments: list[Segment[None]] = [
        Segment(name=str(n), scope=scope, part=part, make="x") for n, (scope, part) in enumerate(kinds)
    ]
    pieces = Prompt(segments).render(None, rules=provider).pieces
    parts = [provider.order.index(each.part) for each in pieces]
    assert parts == sorted(parts)
    for part in PARTS:
        ranks = [RANK[each.scope] for each in pieces if each.part == part]
        assert ranks == sorted(ranks)
    assert len(pieces) == len(segments)


def test_segments_of_one_scope_stay_as_declared() -> None:
    segments: list[Segment[None]] = [Segment(name=name, scope="static", make=name) for name in "cab"]
    assert Prompt(segments).render(None).text == "cab"


def test_names_and_scopes_are_checked() -> None:
    with pytest.raises(UsageError, match="share the names"):
        Prompt([Segment(name="a", scope="static", make="x")] * 2)
    with pytest.raises(UsageError, match="scopes are static"):
        Segment(name="a", scope="global", make="x")  # type: ignore[arg-type]


def test_the_common_start_ends_at_the_byte_that_differs() -> None:
    first, second = (
        layout(piece("a", "static", "same"), piece("b", "tenant", "für Ada")),
        layout(piece("a", "static", "same"), piece("b", "tenant", "für Bo")),
    )
    found = shared(first, second, "o200k")
    assert (found.pieces, found.data_bytes) == (1, 4 + len("für ".encode()))
    assert found.differs is not None
    assert (found.differs.piece, found.differs.at_byte, found.differs.first, found.differs.second) == (
        "b",
        5,
        "Ada",
        "Bo",
    )


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_the_common_start_is_common_and_cannot_be_longer(start: str, a: str, b: str) -> None:
    found = shared(layout(piece("x", "static", start + a)), layout(piece("x", "static", start + b)), "o200k")
    first, second = (start + a).encode("utf-8", "surrogatepass"), (start + b).encode("utf-8", "surrogatepass")
    assert first[: found.data_bytes] == second[: found.data_bytes]
    assert found.data_bytes >= len(start.encode("utf-8", "surrogatepass"))
    if found.differs is not None:
        assert first[found.data_bytes : found.data_bytes + 1] != second[found.data_bytes : found.data_bytes + 1]


def request(company: str, provider: Any, model: str, static: int = 3_000) -> Layout:
    pieces = (
        piece("rules", "static", words(static)),
        piece("company", "tenant", company),
        piece("q", "turn", "Why?", "messages"),
    )
    return layout(*pieces, rules=provider, model=model)


def test_anthropic_reads_up_to_the_last_breakpoint_before_the_difference() -> None:
    model = "claude-sonnet-4-5"
    found = predict(request("Acme", ANTHROPIC, model), request("Zeta", ANTHROPIC, model), "o200k")
    assert found.cached_tokens == estimate(words(3_000), "o200k").tokens
    assert found.share is not None
    assert found.share > 0.99


def test_openai_reads_in_steps_of_128_from_1024_on() -> None:
    found = predict(request("Acme", OPENAI, "gpt-5.1"), request("Zeta", OPENAI, "gpt-5.1"), "o200k")
    assert found.cached_tokens == 3_000 // 128 * 128
    short = predict(request("Acme", OPENAI, "gpt-5.1", 900), request("Zeta", OPENAI, "gpt-5.1", 900), "o200k")
    assert short.cached_tokens == 0


def test_what_cannot_be_known_is_not_guessed() -> None:
    for provider, model in ((rules("deepseek"), "deepseek-v4"), (rules("xai"), "grok-4.6"), (ANTHROPIC, "claude-next")):
        found = predict(request("Acme", provider, model), request("Zeta", provider, model), "o200k")
        assert found.cached_tokens is None
        assert found.share is None


def test_another_model_shares_nothing() -> None:
    first, second = (request("Acme", ANTHROPIC, f"claude-opus-4-{n}") for n in (5, 6))
    assert predict(first, second, "o200k").cached_tokens == 0


def test_case_11_a_prefix_below_the_minimum_is_a_warning_with_row_and_date() -> None:
    (found,) = inspect(request("Acme", ANTHROPIC, "claude-opus-4-5"))
    assert (found.rule, found.severity) == ("below-minimum", "warning")
    assert "nothing below 4096 (anthropics/skills prompt-caching.md" in found.sentence
    assert "2026-07-01" in found.sentence
    assert inspect(request("Acme", ANTHROPIC, "claude-sonnet-4-5")) == []


def test_case_11_an_unknown_model_is_unknown() -> None:
    (found,) = inspect(request("Acme", ANTHROPIC, "claude-next"))
    assert (found.rule, found.severity) == ("minimum-unknown", "info")
    assert "unknown" in found.sentence


def test_sources_that_differ_are_all_told_and_the_largest_counts() -> None:
    minimum = ANTHROPIC.minimum("claude-opus-4-8")
    assert minimum is not None
    assert (minimum.tokens, minimum.lowest) == (4096, 1024)
    (found,) = inspect(request("Acme", ANTHROPIC, "claude-opus-4-8"))
    assert "1024 is the lowest" in found.sentence


def test_case_09_memory_in_the_system_part_is_an_error() -> None:
    memory = piece("memory", "turn", "The user likes short answers.")
    history = piece("history[0]", "conversation", "Hello", "messages")
    found = inspect(layout(piece("rules", "static", "Rules."), memory, history))
    assert [(each.rule, each.severity, each.place) for each in found] == [("scope-order", "error", "history[0]")]
    assert "'memory'" in found[0].sentence


def history(*texts: str, **more: Any) -> Layout:
    messages = (piece(f"history[{n}]", "conversation", text, "messages") for n, text in enumerate(texts))
    return layout(piece("rules", "static", "Rules."), *messages, **more)


def test_case_09_memory_added_to_a_turn_and_kept_is_fine() -> None:
    assert follow(history("Hello <memory>"), history("Hello <memory>", "Hi", "And now?")) == []


def test_case_09_memory_added_and_taken_away_next_turn_rewrites_history() -> None:
    (found,) = follow(history("Hello", "<memory>"), history("Hello", "Hi", "And now?"))
    assert (found.rule, found.severity, found.place) == ("history-rewritten", "error", "history[1]")
    assert "history rewritten" in found.sentence
    (gone,) = follow(history("Hello", "Hi"), history("Hello"))
    assert "has gone" in gone.sentence


def test_closing_a_playbook_is_known_and_costs_once() -> None:
    opened = Playbook(name="a", trigger="t", body="Steps of a.").opened
    closed = keep_one_body([opened, Playbook(name="b", trigger="t", body="Steps of b.").opened])[0]
    before, after = history("Hello", opened), history("Hello", closed, "more")
    assert [(each.rule, each.severity) for each in follow(before, after)] == [("body-closed", "info")]
    assert miss_reason(before, after) is None


def test_case_10_more_blocks_in_a_turn_than_a_breakpoint_looks_back_is_a_warning() -> None:
    def turns(*blocks: int) -> Layout:
        messages = (piece(f"history[{n}]", "conversation", str(n), "messages", blocks=b) for n, b in enumerate(blocks))
        return layout(piece("rules", "static", "Rules."), *messages, rules=ANTHROPIC)

    (found,) = follow(turns(1), turns(1, 11, 11))
    assert (found.rule, found.severity) == ("breakpoint-distance", "warning")
    assert "distance 22 > 20" in found.sentence
    assert "add a breakpoint" in found.fix
    assert follow(turns(1), turns(1, 10, 10)) == []


def test_case_10_a_breakpoint_between_helps() -> None:
    def message(n: int, blocks: int) -> Piece:
        return piece(f"history[{n}]", "conversation", str(n), "messages", blocks=blocks, breakpoint=True)

    before = layout(message(0, 1), rules=ANTHROPIC)
    assert follow(before, layout(message(0, 1), message(1, 11), message(2, 11), rules=ANTHROPIC)) == []


def test_blocks_are_counted_from_the_content_of_a_message() -> None:
    content = [{"type": "tool_use", "id": str(n)} for n in range(11)]
    prompt: Prompt[Any] = Prompt(
        [
            Segment(
                name="history",
                scope="conversation",
                part="messages",
                make=lambda _: [{"role": "assistant", "content": content}],
            )
        ]
    )
    assert [each.blocks for each in prompt.render(None).pieces] == [11]


def test_case_13_a_parameter_that_changed_is_named_with_what_it_loses() -> None:
    before = history("Hello", rules=ANTHROPIC, parameters={"thinking": {"type": "enabled"}, "tool_choice": "auto"})
    after = history(
        "Hello", "Hi", rules=ANTHROPIC, parameters={"thinking": {"type": "disabled"}, "tool_choice": "auto"}
    )
    (found,) = follow(before, after)
    assert (found.rule, found.severity, found.place) == ("parameter-changed", "error", "parameter thinking")
    assert "from messages on is lost" in found.sentence
    assert miss_reason(before, after) == "parameter-changed: parameter thinking"


def test_a_parameter_of_which_nothing_is_known_is_a_warning() -> None:
    (found,) = follow(history("Hello"), history("Hello", parameters={"flavour": 1}))
    assert (found.severity, found.place) == ("warning", "parameter flavour")


def test_a_shared_segment_that_changed_is_named_with_its_byte_and_maker() -> None:
    before, after = (
        layout(piece("rules", "static", text), piece("q", "turn", "?", "messages")) for text in ("One.", "Oxe.")
    )
    (found,) = follow(before, after)
    assert (found.rule, found.place) == ("segment-changed", "rules")
    assert "at byte 1" in found.sentence


def test_tools_before_system_is_a_warning_for_a_cohort_and_an_error_for_a_company() -> None:
    for scope, severity in (("cohort", "warning"), ("tenant", "error")):
        found = inspect(layout(piece("extra", scope, "[]", "tools"), piece("rules", "static", "Rules.")))
        assert [(each.rule, each.severity) for each in found] == [("scope-order", severity)]


def test_gemini_puts_instructions_before_tools_so_that_cohorts_share_them() -> None:
    turn = SAMPLES.samples["company"].context
    assert [each for each in inspect(PROMPT.render(turn, rules=GEMINI)) if each.rule == "scope-order"] != []
    first = PROMPT.render(turn, rules=GEMINI).pieces[0]
    assert (first.name, first.part) == ("instructions", "system")


def test_breakpoints_are_placed_where_the_scope_gets_narrower_and_at_the_end() -> None:
    found = request("Acme", ANTHROPIC, "claude-sonnet-4-5")
    assert found.breakpoints == (0, 1, 2)
    assert request("Acme", OPENAI, "gpt-5.1").breakpoints == ()


def test_no_more_breakpoints_than_the_provider_takes() -> None:
    every = layout(*(piece(scope, scope, "x") for scope in SCOPES), rules=ANTHROPIC)
    assert len(every.breakpoints) == 4
    assert every.breakpoints[0] == 0
    assert every.breakpoints[-1] == len(SCOPES) - 1
    marked = layout(*(piece(str(n), "static", "x", breakpoint=True) for n in range(5)), rules=ANTHROPIC)
    assert "breakpoints" in named(inspect(marked))


def test_the_event_holds_what_many_requests_share_and_no_text() -> None:
    fields = SAMPLES.render("freelancer").event("claude")
    segments = {each["name"]: each for each in fields["segments"]}
    assert segments["instructions"]["tokens"] > 0
    assert len(segments["instructions"]["hash"]) == 64
    assert segments["company_facts"] == {"name": "company_facts", "scope": "tenant", "hash": None, "tokens": None}
    assert segments["question"]["scope"] == "turn"
    assert "Ada Lehmann" not in str(fields)


def test_the_hash_of_a_layout_changes_with_shared_text_and_not_with_the_company() -> None:
    digests = {name: SAMPLES.render(name).event("claude")["layout_hash"] for name in SAMPLES.samples}
    assert digests["freelancer"] == digests["another freelancer"]
    assert digests["freelancer"] != digests["company"]


def test_a_layout_is_written_to_the_trace_once() -> None:
    first = layout(piece("only-here", "static", f"{random.random()}"))
    with capture() as seen:
        digests = {first.record(), first.record()}
    events = [each for each in seen.events if each["event"] == "layout"]
    assert [each["layout_hash"] for each in events] == list(digests)
    assert events[0]["event_id"] == f"layout-{events[0]['layout_hash']}"


def test_every_row_of_the_rules_has_a_date_and_a_source(tmp_path: Path) -> None:
    for name in ("anthropic", "openai", "openai-5.6", "gemini", "deepseek", "xai"):
        found = rules(name)
        assert found.as_of.year == 2026
        assert found.source
        assert sorted(found.order) == sorted(PARTS)
        assert all(each.source and each.tokens > 0 for _, minimum in found.minimums for each in minimum.sources)
    assert ANTHROPIC.lifetimes[0].write_factor == Decimal("1.25")
    with pytest.raises(UsageError, match="knows anthropic"):
        rules("nobody")
    broken = tmp_path / "rules.yaml"
    broken.write_text("providers: {x: {order: []}}")
    with pytest.raises(UsageError, match="missing or unknown"):
        rules("x", broken)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-opus-5", 2048),
        ("claude-sonnet-5", 1024),
        ("claude-opus-4-7", 4096),
        ("claude-haiku-4-5-20251001", 4096),
        ("claude-sonnet-4-6", 2048),
        ("claude-sonnet-4-20250514", 1024),
        ("claude-3-7-sonnet-latest", 1024),
        ("claude-3-5-haiku-20241022", 2048),
    ],
)
def test_models_are_found_by_their_names(model: str, tokens: int) -> None:
    minimum = ANTHROPIC.minimum(model)
    assert minimum is not None
    assert minimum.tokens == tokens


def test_the_event_meets_its_schema() -> None:
    schema = json.loads((shipped("contracts", "events", "layout") / "v1.schema.json").read_text())
    fresh = layout(piece("x", "static", f"{random.random()}"), piece("y", "turn", "Why?", "messages"))
    with capture() as seen:
        fresh.record("claude")
        SAMPLES.render("company").record("claude")
    events = [each for each in seen.events if each["event"] == "layout"]
    assert len(events) == 2
    for each in events:
        jsonschema.validate(each, schema)


def test_each_tracer_is_told_once() -> None:
    same = layout(piece("x", "static", "the same text"))
    for _ in range(2):
        with capture() as seen:
            same.record()
            same.record()
        assert [each["event"] for each in seen.events] == ["layout"]


@pytest.mark.parametrize("made", [None, b"x"])
def test_a_segment_that_gives_no_text_is_refused(made: Any) -> None:
    prompt: Prompt[Any] = Prompt([Segment(name="a", scope="static", make=lambda _: made)])
    with pytest.raises(UsageError, match="says nothing"):
        prompt.render(None)


def test_a_list_that_grows_by_one_keeps_its_start() -> None:
    prompt: Prompt[list[str]] = Prompt(
        [Segment(name="history", scope="conversation", part="messages", make=lambda c: c)]
    )
    assert follow(prompt.render(["a", "b"]), prompt.render(["a", "b", "c"])) == []


@pytest.mark.parametrize(
    "value", [{"a": float("nan")}, {"b"}, object(), (n for n in "ab"), [{1, 2}], 2**60, b"x", None]
)
def test_what_is_no_json_is_an_error_that_names_segment_and_maker(value: object) -> None:
    prompt: Prompt[object] = Prompt((Segment(name="facts", scope="tenant", make=lambda given: given),))
    with pytest.raises(UsageError, match=r"segment 'facts': .*<lambda>.* gives"):
        prompt.render(value)


@pytest.mark.parametrize(("name", "make"), [("a", None), ("a", 7), ("a\nb", "x"), ("", "x")])
def test_a_segment_needs_a_name_of_one_line_and_something_that_makes_it(name: str, make: Any) -> None:
    with pytest.raises(UsageError, match="segment"):
        Segment(name=name, scope="static", make=make)
