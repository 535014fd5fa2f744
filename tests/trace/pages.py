"""The Python examples of docs/tracing.md, and a provider of models on this machine for them to ask."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import beleg

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


class _Handler(BaseHTTPRequestHandler):
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


@contextmanager
def provider() -> Iterator[str]:
    """A server that answers every model call with a text that must not be stored; yields its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def blocks(heading: str) -> list[str]:
    """The Python blocks under a heading, up to the next of any level."""
    section = re.split(rf"^#+ {heading}$", TEXT, flags=re.MULTILINE)[1]
    section = re.split(r"^#+ ", section, flags=re.MULTILINE)[0]
    return re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)


def execute(heading: str, **names: Any) -> dict[str, Any]:
    """Run the blocks here, one after the other, and return what they defined."""
    scope: dict[str, Any] = {"beleg": beleg, "__name__": "recipe", **names}
    for block in blocks(heading):
        exec(compile(block, f"docs/tracing.md: {heading}", "exec"), scope)
    return scope


def write_module(heading: str, path: Path, base_url: str, more: str = "") -> None:
    """Write the blocks as a module, for a server or worker to load."""
    head = f"import beleg\n\nBASE_URL = {base_url!r}\n"
    path.write_text("\n".join([head, *blocks(heading), more]), encoding="utf-8")
