"""The examples of the documentation run as they stand, the recipes against a local HTTP server."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import beleg
from beleg.testing import capture
from tests.trace.schemas import assert_valid, read_spool

TEXT = (Path(__file__).parents[2] / "docs" / "tracing.md").read_text(encoding="utf-8")
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
ANSWERS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "id": "chatcmpl-9f2c7d1e5a",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "PLANTED"}}],
        "usage": {**USAGE, "prompt_tokens_details": {"cached_tokens": 4}},
    },
    "/v1/messages": {
        "id": "msg_0123456789abcdef",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [{"type": "text", "text": "PLANTED"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 7, "output_tokens": 7, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 0,
        },
    },
}  # fmt: skip


def _blocks(heading: str) -> list[str]:
    """The Python blocks under a heading, up to the next of any level."""
    section = re.split(rf"^#+ {heading}$", TEXT, flags=re.MULTILINE)[1]
    section = re.split(r"^#+ ", section, flags=re.MULTILINE)[0]
    return re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)


def _run(heading: str, **names: Any) -> dict[str, Any]:
    scope: dict[str, Any] = {"beleg": beleg, "__name__": "recipe", **names}
    for block in _blocks(heading):
        exec(compile(block, f"docs/tracing.md: {heading}", "exec"), scope)
    return scope


@pytest.fixture
def base_url() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.dumps(ANSWERS[self.path.partition("?")[0]]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("heading", ["Quick start", "What may be stored", "Testing your own code"])
def test_examples_of_the_page_run(spool: Path, heading: str) -> None:
    _run(heading)
    assert beleg.health().ok
    if heading != "Testing your own code":
        assert read_spool(spool)[0]["event"] == "run_started"


@pytest.mark.parametrize(
    ("heading", "package", "cached"),
    [("OpenAI", "openai", 4), ("Anthropic", "anthropic", 4)],
)
def test_provider_sdk_recipe_records_the_call(base_url: str, heading: str, package: str, cached: int) -> None:
    pytest.importorskip(package)
    with capture() as captured:
        _run(heading, BASE_URL=base_url)
    for event in captured.events:
        assert_valid(event)
    run = captured.only_run("faq")
    assert (run.tokens("input_uncached"), run.tokens("cache_read"), run.tokens("output")) == (7, cached, 7)
    assert run.steps[0]["provider"] == package
    captured.assert_no_trace_of("PLANTED", "What is a receipt?")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fastapi_recipe_records_run_and_feedback(spool: Path) -> None:
    pytest.importorskip("fastapi")
    testclient = pytest.importorskip("fastapi.testclient")
    client = testclient.TestClient(_run("FastAPI")["app"])
    answered = client.post("/questions", json={"topic": "tax"}).json()
    client.post(f"/feedback/{answered['run_id']}")
    events = {event["event"]: event for event in read_spool(spool)}
    assert events["feedback"]["run_id"] == events["run_finished"]["run_id"] == answered["run_id"]


def test_celery_recipe_records_each_task(spool: Path) -> None:
    pytest.importorskip("celery")
    task = _run("Celery")["categorise"]
    assert task.apply(args=(4711,)).get() == "4400"
    started, finished = read_spool(spool)
    assert started["input_hash"] == beleg.fingerprint({"invoice": 4711})
    assert finished["output_hash"] == beleg.fingerprint("4400")


def test_langgraph_recipe_records_its_nodes() -> None:
    pytest.importorskip("langgraph")
    with capture() as captured:
        _run("LangGraph")
    assert [step["name"] for step in captured.only_run("invoice").steps] == ["extract"]


def test_every_test_file_named_as_proof_exists() -> None:
    named = set(re.findall(r"`(test_\w+\.py)`", TEXT))
    assert named
    assert [name for name in named if not (Path(__file__).parent / name).exists()] == []


def test_every_setting_of_the_tracer_is_documented() -> None:
    from beleg.trace import settings

    assert [name for name in settings._NAMES if name not in TEXT] == []
