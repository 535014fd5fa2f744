"""What the receiver answers, as OTLP/HTTP defines it."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from typer.testing import CliRunner

from beleg.cli.main import app
from tests.collect.conftest import Collector, collecting, request, span

MIB = 1024 * 1024
TOKEN = "0123456789abcdef0123456789abcdef"


def test_an_accepted_request_stands_in_the_spool_when_it_is_answered(collector: Collector) -> None:
    answer = collector.post(request(span(1), span(2)))
    assert (answer.status_code, answer.json()) == (200, {})
    assert answer.headers["content-type"] == "application/json"
    steps = [event for event in collector.events() if event["event"] == "step"]
    assert [step["buckets"]["output"] for step in steps] == [100, 100]


def test_what_can_never_be_taken_is_partial_success_and_the_rest_is_kept(collector: Collector) -> None:
    before = httpx.get(f"{collector.url}/health").json()["rejected"].get("contradicted_usage", 0)
    contradicted = span(2, **{"gen_ai.usage.cache_read.input_tokens": 5000, "gen_ai.usage.input_tokens": -1})
    answer = collector.post(request(span(1), contradicted, span(3)))
    partial = answer.json()["partialSuccess"]
    assert (answer.status_code, partial["rejectedSpans"]) == (200, "1")
    assert "contradicted_usage" in partial["errorMessage"]
    assert len([event for event in collector.events() if event["event"] == "step"]) == 2
    assert httpx.get(f"{collector.url}/health").json()["rejected"]["contradicted_usage"] == before + 1


def test_the_same_request_twice_gives_the_same_events(collector: Collector) -> None:
    collector.post(request(span(1)))
    collector.post(request(span(1)))
    identities = [(event["event"], event["event_id"]) for event in collector.events()]
    assert len(identities) == 2 * len(set(identities))


def test_an_empty_request_is_a_success(collector: Collector) -> None:
    assert collector.post(b"").status_code == 200
    assert collector.post({}).json() == {}
    answer = httpx.post(f"{collector.url}/v1/traces", headers={"content-type": "application/x-protobuf"})
    assert answer.status_code == 200
    assert ExportTraceServiceResponse.FromString(answer.content) == ExportTraceServiceResponse()


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"resourceSpans": 3}', b"[" * 5000, b"\xff\xfe"])
def test_a_body_that_is_no_request_is_a_bad_request_that_nobody_sends_again(collector: Collector, body: bytes) -> None:
    answer = collector.post(body)
    assert (answer.status_code, answer.json()["code"]) == (400, 3)
    assert collector.events() == []


def test_a_broken_protobuf_body_is_answered_in_protobuf(collector: Collector) -> None:
    answer = httpx.post(
        f"{collector.url}/v1/traces", content=b"\x0a\xff", headers={"content-type": "application/x-protobuf"}
    )
    assert answer.status_code == 400
    assert Status.FromString(answer.content).code == 3


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"content-type": "text/plain"}, 415), ({"content-encoding": "br"}, 415), ({"content-encoding": "gzip"}, 400)],
)
def test_encodings_that_are_not_otlps_are_refused(collector: Collector, headers: dict[str, str], status: int) -> None:
    assert collector.post(request(span(1)), **headers).status_code == status


def test_gzip_of_several_members_is_unpacked(collector: Collector) -> None:
    whole = json.dumps(request(span(1))).encode()
    packed = gzip.compress(whole[:100]) + gzip.compress(whole[100:])
    assert collector.post(packed, **{"content-encoding": "gzip"}).status_code == 200
    assert len(collector.events()) > 0


def test_a_gzip_that_grows_past_the_limit_is_refused(collector: Collector) -> None:
    bomb = gzip.compress(b"[" + b" " * (64 * MIB) + b"]")
    assert len(bomb) < MIB
    assert collector.post(bomb, **{"content-encoding": "gzip"}).status_code == 413
    cut = gzip.compress(json.dumps(request(span(1))).encode())[:-9]
    assert collector.post(cut, **{"content-encoding": "gzip"}).status_code == 400


def test_a_body_past_the_limit_is_refused_with_and_without_its_length(collector: Collector) -> None:
    large = b"[" + b" " * (20 * MIB) + b"]"
    assert collector.post(large).status_code == 413

    def pieces() -> Iterator[bytes]:
        yield from (b" " * MIB for _ in range(22))

    headers = {"content-type": "application/json"}
    assert httpx.post(f"{collector.url}/v1/traces", content=pieces(), headers=headers).status_code == 413


def test_other_signals_are_told_where_they_are(collector: Collector) -> None:
    answer = httpx.post(f"{collector.url}/v1/logs", json={})
    assert answer.status_code == 404
    assert "traces alone" in answer.json()["message"]
    assert httpx.get(f"{collector.url}/v1/traces").status_code == 405


def test_a_web_page_cannot_reach_it_under_another_name(collector: Collector) -> None:
    assert collector.post(request(span(1)), host="evil.example").status_code == 403
    assert collector.events() == []


def test_with_a_token_nobody_else_may_send(tmp_path: Path) -> None:
    with collecting(tmp_path / "home", BELEG_COLLECT_TOKEN=TOKEN) as running:
        assert running.post(request(span(1))).status_code == 401
        assert running.post(request(span(1)), authorization=f"Bearer {TOKEN}x").status_code == 401
        assert running.post(request(span(1)), authorization=f"Basic {TOKEN}").status_code == 401
        assert httpx.get(f"{running.url}/health").status_code == 401
        assert running.events() == []
        assert running.post(request(span(1)), authorization=f"Bearer {TOKEN}").status_code == 200
        assert running.events() != []


def test_another_address_needs_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path))
    monkeypatch.delenv("BELEG_COLLECT_TOKEN", raising=False)
    answer = CliRunner().invoke(app, ["collect", "--host", "0.0.0.0", "--port", "0"])
    assert isinstance(answer.exception, Exception)
    assert "bearer token" in str(answer.exception)


@pytest.mark.parametrize("token", ["short", "with a blank in the middle", "ümlaut-and-more-characters"])
def test_a_token_that_is_none_is_refused(tmp_path: Path, token: str) -> None:
    file = tmp_path / "token"
    file.write_text(token, encoding="utf-8")
    answer = CliRunner().invoke(app, ["collect", "--token-file", str(file), "--port", "0"])
    assert "token" in str(answer.exception)


def test_a_port_in_use_is_said(tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HOME", str(tmp_path))
    port = collector.url.rsplit(":", 1)[1]
    answer = CliRunner().invoke(app, ["collect", "--port", port])
    assert "cannot listen" in str(answer.exception)
