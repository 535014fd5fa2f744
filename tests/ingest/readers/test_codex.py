"""Codex's logs: sums that grow, and copies of a parent's history that are no usage of the child's."""

from pathlib import Path
from typing import Any

from tests.ingest.readers.samples.codex import (
    NAME,
    SESSION,
    TURNS,
    context,
    counted,
    event,
    line,
    lines,
    meta,
    sample,
    usage,
)  # fmt: skip
from tests.ingest.readers.support import Home, events, refusals, stage, write

CHILD = "019b0000-0000-7000-8000-00000000c41d"
GRANDCHILD = "019b0000-0000-7000-8000-00000000c41e"


def calls(folder: Path, **files: bytes) -> list[tuple[Any, ...]]:
    """Session, time and output with reasoning of the calls that remain, in the order of their times."""
    paths = [write(folder, f"{name}.jsonl", content) for name, content in files.items()]
    made: dict[str, Any] = {}
    for step in events(stage(folder / "staged", *paths), "step"):
        if step["event_id"] not in made or step["revision"] > made[step["event_id"]]["revision"]:
            made[step["event_id"]] = step
    steps = sorted((step for step in made.values() if step["kind"] == "model"), key=lambda step: step["event_time"])
    return [(step["run_id"], step["event_time"][14:19], output(step["buckets"])) for step in steps]


def output(buckets: dict[str, int]) -> int:
    return buckets["output"] + buckets.get("reasoning", 0)


def history(at: int = 0, *, turn: str | None = TURNS[0]) -> list[dict[str, Any]]:
    """Three calls of a turn, 100 tokens each."""
    begun = {} if turn is None else {"turn_id": turn}
    sums = [counted(at + n, total=usage(1000 * n, 0, 100 * n), last=usage(1000, 0, 100)) for n in (1, 2, 3)]
    return [context(at), event(at, "task_started", **begun), event(at, "user_message", message="do it"), *sums]


def test_the_real_log_loads_and_its_total_says_where_the_reasoning_stands(test_data: Path, tmp_path: Path) -> None:
    home = Home(tmp_path)
    (path,) = (test_data / "coding-agents" / "ccusage").glob("codex*")
    report = home.take(path)
    assert (report.ingest.quarantined, report.ingest.accepted_by_event["step"]) == (0, 2)
    counts = "model, input_uncached_tokens AS i, cache_read_tokens AS c, output_tokens AS o, reasoning_tokens AS r"
    assert home.rows(f"SELECT {counts}, cost_pico_usd AS p FROM step_costs ORDER BY event_time") == [
        # total = input + output + reasoning: outside, though Codex usually counts it inside
        {"model": "gpt-5.2-codex", "i": 750, "c": 250, "o": 125, "r": 75, "p": 4_156_250_000},
        {"model": "gpt-5.3-codex", "i": 2000, "c": 500, "o": 300, "r": 200, "p": 10_587_500_000},
    ]


def test_a_session_is_a_run_with_its_calls_and_tools(tmp_path: Path) -> None:
    home = Home(tmp_path)
    report = home.take(write(tmp_path, NAME, sample("a secret sentence")))
    assert report.ingest.quarantined == 0
    assert home.one("SELECT run_id, workflow, status, CAST(units AS JSON) FROM run_costs") == (
        SESSION, "codex", "succeeded", '{"sessions":1}'
    )  # fmt: skip
    counts = "name, input_uncached_tokens AS i, cache_read_tokens AS c, output_tokens AS o, reasoning_tokens AS r"
    assert home.rows(f"SELECT {counts}, usage_check AS u FROM step_costs ORDER BY event_time") == [
        {"name": "shell", "i": None, "c": None, "o": None, "r": None, "u": None},
        {"name": "assistant", "i": 600, "c": 400, "o": 40, "r": 60, "u": "ok"},
    ]


def test_a_report_that_comes_again_with_the_same_sum_is_no_usage(tmp_path: Path) -> None:
    again = counted(9, total=usage(3000, 0, 300), last=usage(1000, 0, 100))
    assert len(calls(tmp_path, a=lines(meta(), *history(), again, again))) == 3


def test_equal_calls_are_two_calls(tmp_path: Path) -> None:
    """f39: too strict is wrong as well; equal counts are the same report only where their sum is the same."""
    turns = [history(turn=TURNS[0]), history(20, turn=TURNS[1])]
    assert len(calls(tmp_path, a=lines(meta(), *turns[0]), b=lines(meta(CHILD), *turns[1]))) == 6


def test_sums_alone_are_taken_apart(tmp_path: Path) -> None:
    sums = [counted(n, total=usage(1000 * n, 500 * n, 100 * n * n), last=None) for n in (1, 2, 3)]
    assert [count for *_, count in calls(tmp_path, a=lines(meta(), context(), *sums))] == [100, 300, 500]


def test_f37_a_fork_that_copies_its_parent_counts_only_what_is_new(tmp_path: Path) -> None:
    """The copies are stamped with the time of the fork: the calls stay on their first day, with their session."""
    parent = [meta(), *history()]
    new = counted(1900, total=usage(4000, 0, 450), last=usage(1000, 0, 150))
    fork = [
        meta(CHILD, seconds=1800, forked_from_id=SESSION),
        meta(),
        *history(1800),
        event(1810, "task_started", turn_id=TURNS[1]),
        new,
    ]
    expected = [(SESSION, f"00:0{n}", 100) for n in (1, 2, 3)] + [(CHILD, "31:40", 150)]
    assert calls(tmp_path / "1", a=lines(*parent), b=lines(*fork)) == expected
    assert calls(tmp_path / "2", a=lines(*fork), b=lines(*parent)) == expected


def test_f38_sub_agents_without_their_parents_meta_count_its_history_once(tmp_path: Path) -> None:
    def child(identity: str, turn: str, seconds: int) -> bytes:
        spawned: Any = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": SESSION}}}}
        new = counted(seconds, total=usage(3500, 0, 320), last=usage(500, 0, 20))
        return lines(meta(identity, **spawned), *history(), event(9, "task_started", turn_id=turn), new)

    children = {"a": child(CHILD, TURNS[1], 10), "b": child(GRANDCHILD, f"{TURNS[1]}-b", 11)}
    found = calls(tmp_path, **children, c=lines(meta(), *history()))
    # Equal turns of two children are two calls; the parent's three stay the parent's.
    assert [(run, count) for run, _, count in found] == [(SESSION, 100)] * 3 + [(CHILD, 20), (GRANDCHILD, 20)]


def test_forks_of_versions_without_turn_ids_are_told_by_what_was_asked(tmp_path: Path) -> None:
    parent, fork = [meta(), *history(turn=None)], [meta(CHILD, forked_from_id=SESSION), meta(), *history(60, turn=None)]
    assert [run for run, *_ in calls(tmp_path / "1", a=lines(*parent), b=lines(*fork))] == [SESSION] * 3
    other = [meta(CHILD), *history(60, turn=None)]
    assert len(calls(tmp_path / "2", a=lines(*parent), b=lines(*other))) == 6


def test_a_spawned_session_names_the_run_that_started_it(tmp_path: Path) -> None:
    spawned: Any = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": SESSION}}}}
    (started,) = events(stage(tmp_path / "s", write(tmp_path, "a.jsonl", lines(meta(CHILD, **spawned)))), "run_started")
    assert (started["run_id"], started["parent_run_id"], started["team"]) == (CHILD, SESSION, "shop")


def test_the_tier_is_that_of_the_last_setting(tmp_path: Path) -> None:
    def tier(settings: Any) -> dict[str, Any]:
        return event(0, "thread_settings_applied", thread_settings=settings)

    sums = [counted(n, total=usage(n, 0, n), last=usage(1, 0, 1)) for n in range(1, 6)]
    settings = [tier({"service_tier": "fast"}), tier({}), tier({"service_tier": "flex"}), tier({"service_tier": "new"})]
    rows = [row for pair in zip(sums, settings, strict=False) for row in pair] + [sums[-1]]
    steps = events(stage(tmp_path / "s", write(tmp_path, NAME, lines(meta(), context(), *rows))), "step")
    assert [step.get("service_tier") for step in steps] == [None, "priority", "priority", "flex", None]


def test_a_model_that_is_not_named_is_not_guessed(tmp_path: Path) -> None:
    rows = [meta(), counted(1, total=usage(9, 0, 9), last=usage(9, 0, 9))]
    (step,) = events(stage(tmp_path / "s", write(tmp_path, NAME, lines(*rows))), "step")
    assert "model" not in step


def test_what_is_no_line_of_the_format_is_refused_alone(tmp_path: Path) -> None:
    bad = [
        line(3, "event_msg", {"type": "token_count", "info": {"last_token_usage": usage(-5, 0, 9)}}),
        {**context(), "timestamp": None},
    ]
    found = stage(tmp_path / "s", write(tmp_path, NAME, lines(meta(), *history(), *bad) + b"nonsense\n"))
    assert sorted(reason for _, reason in refusals(found)) == ["contradicted_usage", "no_time", "not_json"]
    assert len(events(found, "step")) == 3


COMPACTED = line(5, "compacted", {"message": "short", "compaction_response_id": "resp_000000000000000c"})
RECORD = line(4, "token_usage_record", {"response_id": "resp_000000000000000c", "usage": usage(900, 0, 70)})


def test_a_compaction_is_a_call_whose_tokens_stand_in_no_sum(tmp_path: Path) -> None:
    for number, order in enumerate(([RECORD, COMPACTED], [COMPACTED, RECORD])):
        assert calls(tmp_path / str(number), a=lines(meta(), *history(), *order, COMPACTED))[3:] == [
            (SESSION, "00:04", 70)
        ]
    other = line(4, "token_usage_record", {"response_id": "resp_000000000000000d", "usage": usage(900, 0, 70)})
    assert len(calls(tmp_path / "other", a=lines(meta(), *history(), other, COMPACTED))) == 3


def test_a_compaction_that_the_sum_counts_too_is_one_call(tmp_path: Path) -> None:
    local = counted(5, total=usage(3900, 0, 370), last=usage(900, 0, 70))
    assert len(calls(tmp_path, a=lines(meta(), *history(), RECORD, local, COMPACTED))) == 4
