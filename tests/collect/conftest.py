"""A running `beleg collect` and requests to it."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

NOW_NS = 1_795_000_000_000_000_000


@dataclass
class Collector:
    """A receiver in a process of its own."""

    url: str
    spool: Path
    process: subprocess.Popen[str]
    seen: int = 0
    """Events of earlier tests."""

    def post(self, body: Any, **headers: str) -> httpx.Response:
        """Send an OTLP/JSON request."""
        sent = {"content-type": "application/json", **headers}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx.post(f"{self.url}/v1/traces", content=content, headers=sent, timeout=30)

    def events(self) -> list[dict[str, Any]]:
        """The events in the spool, but for those of earlier tests."""
        return self.every_event()[self.seen :]

    def every_event(self) -> list[dict[str, Any]]:
        """Every event in the spool."""
        files = sorted(self.spool.glob("*.jsonl")) if self.spool.is_dir() else []
        return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


@contextmanager
def collecting(home: Path, *options: str, **env: str) -> Iterator[Collector]:
    """Run `beleg collect` on a free port."""
    command = [sys.executable, "-m", "beleg.cli.main", "collect", "--port", "0", "--json", *options]
    environ = {"PATH": "/usr/bin:/bin", "BELEG_HOME": str(home), **env}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ)
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert told, process.stderr.read() if process.stderr else ""
        ready = json.loads(told)
        yield Collector(ready["url"], Path(ready["spool"]), process)
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A receiver without a token, for all tests of a process: starting one takes a second."""
    with collecting(tmp_path_factory.mktemp("collect") / "home") as running:
        yield running


@pytest.fixture
def collector(shared: Collector) -> Collector:
    """The receiver without a token, as if nothing had been sent yet."""
    return replace(shared, seen=len(shared.every_event()))


def attribute(name: str, value: Any) -> dict[str, Any]:
    """An attribute as OTLP/JSON writes it."""
    kind = {bool: "boolValue", int: "intValue", float: "doubleValue"}.get(type(value), "stringValue")
    return {"key": name, "value": {kind: str(value) if kind == "intValue" else value}}


def span(number: int = 1, **more: Any) -> dict[str, Any]:
    """A model call as OTLP/JSON writes it."""
    attributes: Mapping[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
        "gen_ai.response.id": f"chatcmpl-{number:024d}",
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 100,
        **more,
    }
    return {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "chat gpt-4o-mini",
        "kind": 3,
        "startTimeUnixNano": str(NOW_NS),
        "endTimeUnixNano": str(NOW_NS + 250_000_000),
        "attributes": [attribute(name, value) for name, value in attributes.items()],
        "status": {},
    }


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    """An export request."""
    resource = {"attributes": [attribute("service.name", "shop")]}
    scope = {"name": "opentelemetry.instrumentation.openai_v2", "version": "2.4b0"}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": list(spans)}]}]}
