"""A provider of models on this machine that speaks the three wire formats and fails in every way on demand."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Api = Literal["chat", "responses", "messages"]
APIS: tuple[Api, ...] = ("chat", "responses", "messages")
MODEL = {"chat": "gpt-5-mini-2025-08-07", "responses": "gpt-5-mini-2025-08-07", "messages": "claude-sonnet-4-6"}
_ROUTES: dict[str, Api] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}

Act = Callable[["_Handler", Api], None]
"""One answer of the double: writes to the connection whatever it likes."""


@dataclass
class Seen:
    """A request as it arrived."""

    api: Api
    body: dict[str, Any]
    headers: dict[str, str]
    """By lower-case name."""

    @property
    def text(self) -> str:
        """The whole body, for looking for texts in it."""
        return json.dumps(self.body, ensure_ascii=False)


@dataclass
class Double:
    """The server's script and what it saw; acts beyond the script repeat the last one."""

    url: str = ""
    script: list[Act] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    """Set when the first request is there."""
    gate: threading.Event = field(default_factory=threading.Event)
    """Acts that hang do so until this is set."""

    def will(self, *acts: Act) -> "Double":
        """Answer with these, one after the other."""
        self.script = list(acts)
        return self

    def base_url(self, api: Api) -> str:
        """As a contract names it: OpenAI's paths begin behind /v1, Anthropic's hold it."""
        return self.url if api == "messages" else f"{self.url}/v1"

    def next_act(self) -> Act:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    double: Double

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        api = _ROUTES[self.path.partition("?")[0]]
        self.double.seen.append(
            Seen(api, json.loads(body), {name.lower(): value for name, value in self.headers.items()})
        )
        self.double.arrived.set()
        try:
            self.double.next_act()(self, api)
        except OSError:  # the client has had enough
            self.close_connection = True

    def send(
        self, status: int, body: bytes, headers: Mapping[str, str] | None = None, declared: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | dict(headers or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if declared is None else declared))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def says(text: str, *, stop: str | None = None, calls: list[tuple[str, Any]] | None = None) -> Act:
    """A well-formed answer with this text; `calls` are tool calls, `stop` the provider's own word for the end."""
    return lambda handler, api: handler.send(200, json.dumps(envelope(api, text, stop, calls or [])).encode())


def answers(value: Any) -> Act:
    """A well-formed answer whose text is this JSON value."""
    return says(json.dumps(value, ensure_ascii=False))


def calls(*wanted: tuple[str, Any]) -> Act:
    """The model wants tools: (name, arguments); arguments that are a string are sent as they stand."""
    return says("", calls=list(wanted))


def refuses() -> Act:
    """The model declines, in the way of its wire format."""

    def act(handler: _Handler, api: Api) -> None:
        whole = envelope(api, "", None, [])
        if api == "chat":
            whole["choices"][0]["message"] |= {"content": None, "refusal": "PLANTED I cannot help with that."}
        elif api == "responses":
            whole["output"][0]["content"] = [{"type": "refusal", "refusal": "PLANTED I cannot help with that."}]
        else:
            whole["stop_reason"] = "refusal"
        handler.send(200, json.dumps(whole).encode())

    return act


def fails(status: int, code: str = "server_error", **headers: str) -> Act:
    """An error of the provider's, with its own envelope."""
    error = {"type": "error", "error": {"type": code, "code": code, "message": "PLANTED words of the provider"}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, _: handler.send(status, json.dumps(error).encode(), named)


def raw(body: bytes, content_type: str = "application/json") -> Act:
    """Any bytes with status 200."""
    return lambda handler, _: handler.send(200, body, {"Content-Type": content_type})


def cut(text: str = "{}") -> Act:
    """Half an answer: the connection ends in the middle of the body."""

    def act(handler: _Handler, api: Api) -> None:
        whole = json.dumps(envelope(api, text, None, [])).encode()
        handler.send(200, whole[: len(whole) // 2], declared=len(whole))
        handler.close_connection = True

    return act


def hangs(handler: _Handler, _: Api) -> None:
    """Nothing comes, until the test is over."""
    handler.double.gate.wait(30)
    handler.close_connection = True


def drips(handler: _Handler, _: Api) -> None:
    """A byte now and then: no single read ever times out."""
    handler.send(200, b" ", declared=1_000_000)
    while not handler.double.gate.wait(0.05):
        handler.wfile.write(b" ")
    handler.close_connection = True


def floods(handler: _Handler, _: Api) -> None:
    """An answer without end."""
    handler.send(200, b"{", declared=1 << 40)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        handler.wfile.write(b" " * (1 << 16))


def envelope(api: Api, text: str, stop: str | None, wanted: list[tuple[str, Any]]) -> dict[str, Any]:
    """The answer of a provider that speaks this wire format."""
    return {"chat": _chat, "responses": _responses, "messages": _messages}[api](text, stop, wanted)


def _arguments(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _chat(text: str, stop: str | None, wanted: list[tuple[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None}
    if wanted:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": _arguments(value)}}
            for n, (name, value) in enumerate(wanted)
        ]
    finish = stop or ("tool_calls" if wanted else "stop")
    return {
        "id": "chatcmpl-9f2c7d1e5a", "object": "chat.completion", "created": 1, "model": MODEL["chat"],
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }  # fmt: skip


def _responses(text: str, stop: str | None, wanted: list[tuple[str, Any]]) -> dict[str, Any]:
    output: list[dict[str, Any]] = [
        {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": name,
         "arguments": _arguments(value), "status": "completed"}
        for n, (name, value) in enumerate(wanted)
    ]  # fmt: skip
    if not wanted:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        output = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}]
    return {
        "id": "resp_0123456789abcdef", "object": "response", "created_at": 1, "model": MODEL["responses"],
        "status": "incomplete" if stop else "completed", "error": None,
        "incomplete_details": {"reason": stop} if stop else None, "output": output,
        "usage": {"input_tokens": 11, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 7,
                  "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 18},
    }  # fmt: skip


def _messages(text: str, stop: str | None, wanted: list[tuple[str, Any]]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": value} for n, (name, value) in enumerate(wanted)
    ]
    return {
        "id": "msg_0123456789abcdef", "type": "message", "role": "assistant", "model": MODEL["messages"],
        "content": content, "stop_reason": stop or ("tool_use" if wanted else "end_turn"), "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 0},
    }  # fmt: skip


@contextmanager
def double() -> Iterator[Double]:
    """A running double; what still hangs is let go at the end."""
    made = Double()
    handler = type("Handler", (_Handler,), {"double": made})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield made
    finally:
        made.gate.set()
        server.shutdown()
        thread.join()
        server.server_close()
