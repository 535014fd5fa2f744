"""Claude Code's logs: one call is counted once, however often and wherever it is written."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ingest.readers.samples.claude_code import NAME, SESSION, answer, line, lines, sample, time
from tests.ingest.readers.support import Home, assert_adds_up, events, refusals, stage, write

SONNET_PICO_USD = 4 * 3_000_000 + 1000 * 3_750_000 + 2000 * 6_000_000 + 20_000 * 300_000 + 250 * 15_000_000


def taken(folder: Path, *files: bytes) -> Home:
    home = Home(folder)
    home.take(*(write(folder, f"log-{number}.jsonl", content) for number, content in enumerate(files)))
    return home


def calls(folder: Path, *files: bytes) -> list[tuple[Any, ...]]:
    """Id, session and output of the calls that remain, in the order of their times."""
    paths = [write(folder, f"log-{number}.jsonl", content) for number, content in enumerate(files)]
    steps = [event for event in winners(stage(folder / "staged", *paths)).values() if event["event"] == "step"]
    steps.sort(key=lambda step: step["event_time"])
    return [(step["event_id"], step["run_id"], step["buckets"]["output"]) for step in steps if step["kind"] == "model"]


def winners(found: Any) -> dict[str, Any]:
    """What remains of the events, as the lake decides it: the latest revision of each."""
    made: dict[str, Any] = {}
    for event in events(found):
        known = made.get(event["event_id"])
        if known is None or event["revision"] > known["revision"]:
            made[event["event_id"]] = event
    return made


def test_real_logs_load_with_their_costs(test_data: Path, tmp_path: Path) -> None:
    home = Home(tmp_path)
    report = home.take(*sorted((test_data / "coding-agents" / "ccusage").glob("claude*")))
    assert (report.ingest.accepted, report.ingest.quarantined) == (9, 0)
    rows = home.rows("SELECT run_id, cost_pico_usd, unpriced_steps, CAST(units AS JSON) AS u FROM run_costs ORDER BY 1")
    assert [tuple(row.values()) for row in rows] == [
        # 3 / 15 / 3.75 / 0.30 USD per million; the fast call to Opus has no list price of its own
        ("session-alpha", 3_933_750_000, 1, '{"sessions":1}'),
        ("session-beta", 452_750_000, 0, '{"sessions":1}'),
    ]


def test_logs_without_usage_are_calls_without_a_price(test_data: Path, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(test_data / "coding-agents" / "claude-code-transcripts")
    assert home.one("SELECT count(*) FROM run_costs") == (2,)
    assert home.rows("SELECT DISTINCT unpriced_reason AS r FROM step_costs WHERE kind = 'model'") == [
        {"r": "missing_usage"}
    ]
    assert home.one("SELECT count(*) FROM step_costs WHERE kind = 'tool' AND status = 'failed'") == (1,)


def test_a_session_is_a_run_of_its_project_and_costs_what_its_calls_do(tmp_path: Path) -> None:
    home = Home(tmp_path)
    report = home.take(write(tmp_path, NAME, sample("a secret sentence")))
    assert report.ingest.quarantined == 0
    assert report.ingest.unmapped == {}
    run = "workflow, team, status, CAST(started_at AS VARCHAR), CAST(finished_at AS VARCHAR), CAST(units AS JSON)"
    assert home.one(f"SELECT {run} FROM run_costs WHERE run_id = '{SESSION}'") == (
        "claude-code", "shop", "succeeded", "2026-03-05 10:00:00+00", "2026-03-05 10:00:11+00", '{"sessions":1}'
    )  # fmt: skip
    assert home.rows("SELECT kind, name, status, latency_ms AS l FROM step_costs ORDER BY event_time, kind") == [
        {"kind": "model", "name": "assistant", "status": "succeeded", "l": None},
        {"kind": "tool", "name": "Bash", "status": "failed", "l": 4000},
    ]


def test_cache_writes_are_priced_by_lifetime_and_searches_by_number(tmp_path: Path) -> None:
    """f1, f2: an hour's write costs twice the input, not 1.25 times. f13: the split is no second count."""
    home = taken(tmp_path, lines(answer()))
    assert home.one("SELECT cache_write_5m_tokens, cache_write_1h_tokens, cache_write_tokens FROM step_costs") == (
        1000, 2000, None
    )  # fmt: skip
    (found,) = home.rows("SELECT CAST(other_units AS JSON) AS u FROM steps")
    assert found["u"] == '{"web_searches":2}'
    plain = taken(tmp_path / "plain", lines(answer(usage={"server_tool_use": None})))
    assert plain.one("SELECT cost_pico_usd FROM step_costs") == (SONNET_PICO_USD,)


def test_f40_the_last_line_of_an_answer_counts_not_the_placeholder_of_its_stream(tmp_path: Path) -> None:
    blocks = [answer(seconds=n, usage={"output_tokens": count}) for n, count in enumerate((1, 1, 250))]
    expected = [("msg_01ABCDEFGHIJKLMNOP", SESSION, 250)]
    assert calls(tmp_path / "whole", lines(*blocks)) == expected
    for number, order in enumerate(permutations(blocks)):
        assert calls(tmp_path / f"split-{number}", *(lines(block) for block in order)) == expected


def test_growing_counts_at_one_time_are_told_apart_by_their_size(tmp_path: Path) -> None:
    blocks = [answer(seconds=3, usage={"output_tokens": count}) for count in (8, 250, 90)]
    assert calls(tmp_path, lines(*blocks)) == [("msg_01ABCDEFGHIJKLMNOP", SESSION, 250)]


def test_a_resumed_session_that_copies_its_beginning_counts_it_once(tmp_path: Path) -> None:
    old = [answer(identity=f"msg_01ABCDEFGHIJKL{n:04}", seconds=n) for n in range(6)]
    new = answer(identity="msg_01ABCDEFGHIJKL9999", seconds=60)
    copied = [{**each, "sessionId": "another-session"} for each in [*old, new]]
    found = calls(tmp_path, lines(*old), lines(*copied))
    assert len(found) == 7
    # All of the shared beginning stays with one session: it never falls apart.
    assert len({run_id for _, run_id, _ in found[:6]}) == 1


def test_a_fork_that_names_its_origin_leaves_the_copies_there(tmp_path: Path) -> None:
    old = answer(identity="msg_01ABCDEFGHIJKL0001")
    told = {"sessionId": SESSION, "messageUuid": "x"}
    forked = {**old, "sessionId": "fork-of-it", "forkedFrom": told}
    new = {**answer(identity="msg_01ABCDEFGHIJKL0002", seconds=9), "sessionId": "fork-of-it"}
    assert [run for _, run, _ in calls(tmp_path, lines(forked, new), lines(old))] == [SESSION, "fork-of-it"]


def test_f42_a_side_chain_that_replays_its_parent_yields_to_it(tmp_path: Path) -> None:
    """Same message, another request: the parent's line stays even where the replay has more tokens."""
    parent = answer(seconds=1)
    replay = answer(seconds=2, request="req_02", isSidechain=True, usage={"output_tokens": 999})
    home = taken(tmp_path, lines(replay), lines(parent))
    assert home.rows("SELECT name, output_tokens AS o FROM step_costs WHERE counted") == [
        {"name": "assistant", "o": 250}
    ]


def test_f41_a_sub_agent_counts_in_the_session_it_works_for(tmp_path: Path) -> None:
    own = answer(identity="msg_01SUBAGENTSUBAGENT", seconds=5, isSidechain=True, agentId="a1")
    home = taken(tmp_path, lines(answer()), lines(own))
    assert home.one("SELECT count(*), sum(model_steps) FROM run_costs") == (1, 2)


def test_f39_gateway_ids_that_come_again_are_told_apart(tmp_path: Path) -> None:
    """Too strict is wrong as well: a gateway may number its answers, each with a request of its own."""
    rows = [answer(identity="msg_1", request=f"req_{n}", seconds=n) for n in range(3)]
    bare = [answer(identity="chat-1", request=None, seconds=n) for n in range(10, 13)]
    assert len(calls(tmp_path, lines(*rows, *rows, *bare, *bare))) == 6


def test_real_ids_without_a_request_are_one_call_across_their_blocks(tmp_path: Path) -> None:
    assert len(calls(tmp_path, lines(*(answer(request=None, seconds=n) for n in range(3))))) == 1


def test_an_advisor_is_a_call_with_a_price_of_its_own(tmp_path: Path) -> None:
    advice = {"type": "advisor_message", "model": "claude-opus-4-5-20251101", "input_tokens": 10, "output_tokens": 20}
    home = taken(tmp_path, lines(answer(usage={"iterations": [advice]})))
    assert home.rows("SELECT name, model, output_tokens AS o FROM step_costs ORDER BY name") == [
        {"name": "advisor", "model": "claude-opus-4-5-20251101", "o": 20},
        {"name": "assistant", "model": "claude-sonnet-4-5-20250929", "o": 250},
    ]


SELLERS = {"msg_bdrk_01ABCDEFGHIJK": "aws", "msg_vrtx_01ABCDEFGHIJK": "google", "msg_01ABCDEFGHIJKLMN": "anthropic"}


@pytest.mark.parametrize(("identity", "provider"), SELLERS.items())
def test_the_id_tells_who_sells_the_call(tmp_path: Path, identity: str, provider: str) -> None:
    (step,) = events(stage(tmp_path / "s", write(tmp_path, NAME, lines(answer(identity=identity)))), "step")
    assert step["provider"] == provider


def test_what_claude_code_took_a_call_to_cost_is_kept_beside(tmp_path: Path) -> None:
    rows = [answer(costUSD=0.0123), answer(identity="msg_01ABCDEFGHIJKL0002", costUSD=20_000)]
    steps = events(stage(tmp_path / "s", write(tmp_path, NAME, lines(*rows))), "step")
    assert [step["raw_usage"].get("source_cost_pico_usd") for step in steps] == [12_300_000_000, None]
    assert not any("billed_pico_usd" in step for step in steps)


def test_bad_lines_are_refused_and_the_tail_of_a_living_session_is_pending(tmp_path: Path) -> None:
    good, bad_time = lines(answer()), lines({**answer(identity="msg_2"), "timestamp": "yesterday"})
    content = (
        good
        + b'{"broken": \n'
        + bad_time
        + b"17\n"
        + lines(line("user", {"content": "x"}, seconds=9))
        + b'{"type": "ass'
    )
    found = stage(tmp_path / "s", write(tmp_path, NAME, content))
    assert sorted(refusals(found)) == [(2, "not_json"), (3, "no_time"), (4, "unreadable_item")]
    assert found.pending == 1
    assert_adds_up(found)


def test_files_that_lie_beside_the_logs_tell_nothing_and_are_not_refused(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-me-shop"
    write(folder, NAME, lines(answer()))
    write(folder, "a.jsonl", lines({"type": "summary", "summary": "some text", "leafUuid": "1"}))
    write(folder, "b.jsonl", lines({"type": "file-history-snapshot", "messageId": "1", "snapshot": {}}))
    write(folder, "c.jsonl", lines({"type": "custom-title", "customTitle": "some text", "sessionId": SESSION}))
    index = {"version": 1, "entries": [{"sessionId": SESSION, "fullPath": "/x", "firstPrompt": "some text"}]}
    write(folder, "sessions-index.json", json.dumps(index, indent=1))
    write(folder, f"{SESSION}/subagents/agent-1.meta.json", {"agentType": "Explore", "description": "some text"})
    found = stage(tmp_path / "s", folder)
    assert (found.quarantined, found.accepted, found.ignored) == (0, 3, 5)


def test_a_session_that_goes_on_is_told_anew(tmp_path: Path) -> None:
    home, path = Home(tmp_path), write(tmp_path, NAME, lines(answer()))
    home.take(path)
    with path.open("ab") as file:
        file.write(lines(answer(identity="msg_01ABCDEFGHIJKL0002", seconds=3000)))
    home.take(path)
    home.take(path)
    assert home.one("SELECT count(*), sum(model_steps), CAST(max(finished_at) AS VARCHAR) FROM run_costs") == (
        1, 2, "2026-03-05 10:50:00+00"
    )  # fmt: skip


@given(st.lists(st.integers(0, 3), min_size=2, max_size=8), st.integers(0, 8))
def test_any_split_tells_the_same_calls(tmp_path_factory: pytest.TempPathFactory, numbers: list[int], cut: int) -> None:
    folder = tmp_path_factory.mktemp("split")
    rows = [
        answer(identity=f"msg_01ABCDEFGHIJKL{n:04}", seconds=at, usage={"output_tokens": at})
        for at, n in enumerate(numbers)
    ]
    whole = stage(folder / "a", write(folder, "whole.jsonl", lines(*rows)))
    files = [write(folder, f"part-{n}.jsonl", lines(*part)) for n, part in enumerate((rows[cut:], rows[:cut])) if part]
    split = stage(folder / "b", *files)
    assert winners(whole) == winners(split)


def test_times_are_utc_whatever_the_zone_of_the_line(tmp_path: Path) -> None:
    row = {**answer(), "timestamp": "2026-03-06T00:30:00+02:00"}
    assert taken(tmp_path, lines(row)).one("SELECT CAST(day AS VARCHAR) FROM step_costs") == ("2026-03-05",)
    assert time(0).endswith("Z")
