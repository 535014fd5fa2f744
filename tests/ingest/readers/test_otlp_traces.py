"""Traces put together from spans that come in any order, in parts, twice, from several processes, or not at all."""

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.ingest.readers.events import Maker
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.otlp import Tree, items_of
from tests.ingest.readers.otlp_spans import TRACE, agent, request, span, usage
from tests.ingest.readers.support import Home, events, json_lines, stage, write

Json = dict[str, Any]
REMOTE: Json = {"flags": 0x300}

CALLS = [
    span(5, 4, "chat", given=usage(100, 20)),
    span(6, 4, "chat", given=usage(300, 40)),
    span(4, 3, "attempt"),
    span(3, 2, "loop"),
    span(2, 1, "helper", given=agent(**usage(400, 60))),
    span(1, None, "POST /ask", given={"user.id": "u-1"}),
    span(7, 1, "SELECT"),
]


def read(requests: Sequence[Json], tree: Tree | None = None) -> list[Json]:
    """The events of several requests, each the latest of its identity, as the lake keeps them."""
    tree, made = tree or Tree(), Maker("otlp")
    found: dict[tuple[str, str], Json] = {}
    for one in requests:
        for item in items_of(one, made, Naming(), tree):
            for event in item.events:
                identity = (event["event"], event["event_id"])
                found[identity] = max(event, found.get(identity, event), key=_rank)
    return sorted(found.values(), key=lambda event: (event["event"], event["event_id"]))


def _rank(event: Json) -> tuple[str, str]:
    return event.get("revision") or event["event_time"], json.dumps(event, sort_keys=True)


def test_spans_between_a_call_and_its_agent_hold_the_tree_together() -> None:
    steps = [event for event in read([request(*CALLS)]) if event["event"] == "step"]
    parents = {step["step_id"][-1]: step.get("parent_step_id", "")[-1:] for step in steps}
    assert parents == {"2": "1", "3": "2", "4": "3", "5": "4", "6": "4"}
    assert [step["kind"] for step in steps] == ["other", "other", "other", "model", "model"]
    assert not {"latency_ms", "buckets"} & (steps[1].keys() | steps[2].keys())


@given(order=st.permutations(CALLS), cuts=st.sets(st.integers(1, len(CALLS) - 1)), again=st.integers(0, len(CALLS)))
def test_order_parts_and_repetition_change_no_step(order: list[Json], cuts: set[int], again: int) -> None:
    bounds = [0, *sorted(cuts), len(order)]
    parts = [request(*order[a:b]) for a, b in pairwise(bounds)]
    found = read([*parts, request(*order[:again])])
    expected = read([request(*CALLS)])
    assert [e for e in found if e["event"] == "step"] == [e for e in expected if e["event"] == "step"]
    names = [(event["event"], event["run_id"], event["event_time"]) for event in found if event["event"] != "step"]
    assert names == [
        (event["event"], event["run_id"], event["event_time"]) for event in expected if event["event"] != "step"
    ]


ROOTLESS = [span(n, 1, given=usage(n, 1), at_ms=n * 37) for n in (2, 3, 4, 5)]


@given(order=st.permutations(ROOTLESS), cuts=st.sets(st.integers(1, 3)))
def test_run_without_a_root_begins_with_its_earliest_step_in_any_order(order: list[Json], cuts: set[int]) -> None:
    bounds = [0, *sorted(cuts), len(order)]
    found = read([request(*order[a:b]) for a, b in pairwise(bounds)])
    starts = [event for event in found if event["event"] == "run_started"]
    assert [event["event_time"] for event in starts] == ["2026-05-28T20:26:40.074000Z"]
    assert starts[0]["revision"] < "2000-01-02"
    assert not [event for event in found if event["event"] == "run_finished"]


@pytest.mark.parametrize("first", ["guess", "local root", "root"])
def test_root_outranks_a_local_root_and_that_a_guess(first: str) -> None:
    parts = {
        "guess": request(span(9, 8, given=usage(1, 1), at_ms=50)),
        "local root": request(span(8, 7, "worker", at_ms=40, **REMOTE)),
        "root": request(span(1, None, "web", at_ms=10)),
    }
    order = [parts[first], *(part for name, part in parts.items() if name != first)]
    (started,) = [event for event in read(order) if event["event"] == "run_started"]
    assert started["event_time"] == "2026-05-28T20:26:40.010000Z"
    (started,) = [event for event in read([parts["local root"], parts["guess"]]) if event["event"] == "run_started"]
    assert started["event_time"] == "2026-05-28T20:26:40.040000Z"
    assert started["revision"].startswith("2000-01-02")


def test_span_below_a_remote_parent_keeps_the_way_to_it() -> None:
    here = request(span(5, 4, given=usage(10, 1)), span(4, 2, "worker", **REMOTE))
    there = request(span(2, 1, given=agent(**usage(10, 1))), span(1, None))
    steps = [event for event in read([here, there]) if event["event"] == "step"]
    assert {step["step_id"][-1]: step["parent_step_id"][-1] for step in steps} == {"2": "1", "4": "2", "5": "4"}


def test_trace_without_genai_spans_leaves_nothing() -> None:
    spans = [span(2, 1, "SELECT"), span(1, None, "GET /")]
    found = list(items_of(request(*spans), Maker("otlp"), Naming(), Tree()))
    assert [(item.events, item.refusal) for item in found] == [([], None)] * 2


def test_parents_in_a_circle_end() -> None:
    circle = [
        span(2, 3, "a"),
        span(3, 2, "b"),
        span(4, 4, "c"),
        span(5, 2, given=usage(1, 1)),
        span(6, 6, given=usage(1, 1)),
    ]
    for shuffle in range(20):
        random.Random(shuffle).shuffle(circle)
        steps = [event for event in read([request(*circle)]) if event["event"] == "step"]
        assert [step["step_id"][-1] for step in steps] == ["2", "3", "5", "6"]


def test_same_span_id_in_two_traces_is_two_steps() -> None:
    other = "f" * 32
    found = read([request(span(5, given=usage(1, 1)), span(5, given=usage(1, 1), trace=other))])
    assert {event["event_id"] for event in found if event["event"] == "step"} == {
        f"{TRACE}-0000000000000005", f"{other}-0000000000000005",
    }  # fmt: skip


def test_memory_of_traces_is_bounded() -> None:
    tree = Tree(max_spans=100)
    many = [request(span(n, n + 1, trace=f"{n % 2_000 + 1:032x}")) for n in range(2, 4_000)]
    wide = [request(*(span(n, n + 1, given=usage(1, 1) if n % 2 else {}) for n in range(2, 500)))]
    read([*many, *wide, *many], tree)
    held = [len(trace.wanted) + len(trace.passed) + len(trace.roots) for trace in tree._traces.values()]
    assert len(held) + sum(held) <= 200
    assert tree._held <= 100


def test_usage_of_an_agent_counts_once_through_spans_of_other_kinds(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, "t.json", json_lines(request(*CALLS))))
    rows = home.rows(
        "SELECT right(step_id, 1) AS id, counted, not_counted_reason, total_input_tokens FROM step_costs ORDER BY 1"
    )
    counted = {row["id"]: row["total_input_tokens"] for row in rows if row["counted"] and row["total_input_tokens"]}
    assert counted == {"5": 100, "6": 300}
    assert {row["id"]: row["not_counted_reason"] for row in rows if not row["counted"]} == {"2": "rollup"}
    assert home.one("SELECT workflow, status FROM run_costs") == ("otlp", "succeeded")


def test_usage_of_an_agent_counts_where_no_call_below_was_traced(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.take(write(tmp_path, "t.json", request(*CALLS[3:])))
    assert home.one("SELECT sum(total_input_tokens)::BIGINT FROM step_costs WHERE counted") == (400,)


# -- naming ----------------------------------------------------------------------------------------------


def started(tmp_path: Path, naming: str, *spans: Json, **more: Any) -> Json:
    project = tmp_path / "project"
    write(project, "contracts/policies/naming.yaml", naming)
    path = write(tmp_path, "t.json", request(*spans, **more))
    (found,) = events(stage(tmp_path / "s", path, naming=Naming.load(project)), "run_started")
    return found


@pytest.mark.parametrize(
    "when",
    [
        "{service: shop}",
        "{span: 'POST *'}",
        "{agent: helper}",
        "{session: s-1}",
        "{user: u-1}",
        "{tag: [vip]}",
        "{environment: staging}",
        "{release: 1.2.3}",
        "{project: phoenix}",
        "{prompt.name: ask}",
        "{prompt.version: '7'}",
        "{metadata.order: '42'}",
        "{metadata.plan: gold}",
        "{resource.cloud.region: eu-1}",
        "{scope: test, format: otlp}",
    ],
)
def test_rule_names_a_run_by_what_its_spans_and_their_resource_tell(tmp_path: Path, when: str) -> None:
    call = span(3, 2, given=usage(1, 1, **{"gen_ai.prompt.name": "ask", "langfuse.observation.prompt.version": 7}))
    helper = span(2, 1, given=agent(**{"metadata": '{"plan": "gold"}', "tag.tags": ["new", "vip"]}))
    given = {"session.id": "s-1", "user.id": "u-1", "langfuse.trace.metadata.order": "42"}
    resource = {
        "deployment.environment.name": "staging", "service.version": "1.2.3",
        "openinference.project.name": "phoenix", "cloud.region": "eu-1",
    }  # fmt: skip
    rules = f"naming: 1\nrules:\n  - when: {when}\n    workflow: ordering\n"
    found = started(tmp_path, rules, call, helper, span(1, None, "POST /ask", given=given), resource=resource)
    assert found["workflow"] == "ordering"
    assert (found["environment"], found["prompt_version"], found["conversation_id"]) == ("staging", "7", "s-1")


def test_trace_that_no_rule_names_is_counted_once() -> None:
    naming, tree = Naming(), Tree()
    for one in (request(*CALLS[:3]), request(span(4, 3, **REMOTE)), request(*CALLS[3:]), request(*ROOTLESS)):
        list(items_of(one, Maker("otlp"), naming, tree))
    assert naming.unmapped == {"otlp": 1}


@pytest.mark.parametrize("name", ["gen_ai.workflow.name", "traceloop.workflow.name"])
def test_workflow_that_a_span_declares_is_that_of_its_run(tmp_path: Path, name: str) -> None:
    call = span(2, 1, given=usage(1, 1, **{name: "invoicing"}))
    assert started(tmp_path, "naming: 1\nrules: []\n", call, span(1, None, "root"))["workflow"] == "invoicing"
