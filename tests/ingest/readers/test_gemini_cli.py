"""Gemini CLI's chats."""

import json
from pathlib import Path

from tests.ingest.readers.samples.gemini_cli import NAME, SESSION, begin, chat, message, sample
from tests.ingest.readers.support import Home, events, stage, write


def test_a_chat_is_a_run_and_thoughts_and_tool_use_stand_beside_the_rest(tmp_path: Path) -> None:
    home = Home(tmp_path)
    report = home.take(write(tmp_path, NAME, sample("a secret sentence")))
    assert report.ingest.quarantined == 0
    assert home.one("SELECT run_id, workflow, team, CAST(units AS JSON) FROM run_costs") == (
        SESSION, "gemini-cli", "79b6fa86e3c0", '{"sessions":1}'
    )  # fmt: skip
    counts = "input_uncached_tokens AS i, cache_read_tokens AS c, output_tokens AS o, reasoning_tokens AS r"
    assert home.rows(f"SELECT kind, status, {counts}, usage_check AS u, priced FROM step_costs ORDER BY kind") == [
        {"kind": "model", "status": "succeeded", "i": 420, "c": 600, "o": 50, "r": 30, "u": "ok", "priced": True},
        {"kind": "tool", "status": "failed", "i": None, "c": None, "o": None, "r": None, "u": None, "priced": True},
    ]


def test_lines_tell_what_the_document_tells_and_a_message_written_again_replaces_the_first(tmp_path: Path) -> None:
    early = message(tokens={"input": 1000, "output": 1, "cached": 600, "thoughts": 0, "tool": 20, "total": 1021})
    rows = [begin(), early, {"$set": {"lastUpdated": "2026-03-05T10:00:09.000Z"}}, message()]
    lined = stage(
        tmp_path / "a", write(tmp_path, "a.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    )
    whole = stage(tmp_path / "b", write(tmp_path, "b.json", chat(message())))
    steps = events(lined, "step")
    assert max(steps, key=lambda step: step["revision"]) == events(whole, "step")[0]
    assert {step["event_id"] for step in steps} == {"m-2"}


def test_the_prompts_beside_the_chats_tell_nothing(tmp_path: Path) -> None:
    rows = [
        {
            "sessionId": SESSION,
            "messageId": 0,
            "type": "user",
            "message": "some text",
            "timestamp": "2026-03-05T10:00:00Z",
        }
    ]
    found = stage(tmp_path / "s", write(tmp_path, "logs.json", rows))
    assert (found.read, found.ignored) == (0, 1)


def test_the_project_is_the_folder_where_it_is_written(tmp_path: Path) -> None:
    path = write(tmp_path, NAME, chat(message(), directories=["/home/me/shop"]))
    (started,) = events(stage(tmp_path / "s", path), "run_started")
    assert started["team"] == "shop"


def test_f8_cached_tokens_are_read_from_where_the_agent_writes_them(tmp_path: Path) -> None:
    """Implicit caching counts: tokens that the API took from its cache are no uncached input."""
    (step,) = events(stage(tmp_path / "s", write(tmp_path, NAME, chat(message()))), "step")
    assert step["buckets"] == {"input_uncached": 420, "cache_read": 600, "output": 50, "reasoning": 30}
