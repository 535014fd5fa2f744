"""A link in the place of a binding verb: nothing happens when it is looked at, and it logs nobody in."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from beleg.agent.toolsets import Group, Toolset
from beleg.agent.verbs import Link, link_tool, prove_inert
from beleg.core.errors import CheckFailed, UsageError


def offering(url: str) -> Toolset[None]:
    group = Group("core", rank=1)

    @link_tool(group, hosts=["app.example"])
    def get_submission_link(registration_id: str) -> Link:
        """Address of the page on which the user decides."""
        return Link(url.format(registration_id), ready=False, missing=("iban",))

    return Toolset([group])


def test_the_last_step_hands_over_a_door_and_says_what_is_missing() -> None:
    offer = offering("https://app.example/registrations/{}/preview?lang=de").for_context(None)
    assert offer.call("get_submission_link", {"registration_id": "r1"}) == {
        "url": "https://app.example/registrations/r1/preview?lang=de",
        "readyToSubmit": False,
        "missing": ["iban"],
    }
    assert offer.tools[0].effect == "read"


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example/r1",
        "https://evil.example/r1",
        "https://app.example.evil.example/r1",
        "https://app.example@evil.example/r1",
        "https://user:pass@app.example/r1",
        "javascript:alert(1)",
        "//app.example/r1",
        "https://app.example/r1?token=abc",
        "https://app.example/r1?access_token=abc",
        "https://app.example/r1?X-Amz-Signature=abc",
        "https://app.example/r1#session=abc",
        "https://app.example/r1?next=eyJhbGciOi.eyJzdWIiOi.c2ln",
        "https://app.example/r1?code=",
        "https://app.example/r1?accessToken=abc",
        "https://app.example/r1?%74oken=abc",
        "https://app.example/eyJhbGciOi.eyJzdWIiOi.c2ln",
        "https://app.example:8443/r1",
        "https://app.exa\nmple/r1",
        "https://app.example\\@evil.example/r1",
        "https://app.ex\u0430mple/r1",
        "https://[::1/r1",
    ],
)
def test_a_link_that_leads_elsewhere_or_logs_somebody_in_is_refused_and_not_shown(url: str) -> None:
    offer = offering(url).for_context(None)
    with pytest.raises(UsageError, match="a link must") as refused:
        offer.call("get_submission_link", {"registration_id": "r1"})
    assert "abc" not in str(refused.value)


class _App(BaseHTTPRequestHandler):
    submitted: list[str]
    acting: str

    def answer(self) -> None:
        if self.command == self.acting:
            self.submitted.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD = do_OPTIONS = answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def app(acting: str) -> Iterator[tuple[str, list[str]]]:
    """A web app that submits on one method."""
    submitted: list[str] = []
    handler = type("App", (_App,), {"submitted": submitted, "acting": acting})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/registrations/r1", submitted
        finally:
            server.shutdown()
            thread.join()


def prefetch(method: str, url: str) -> None:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=5)
    connection.request(method, parts.path)
    connection.getresponse().read()
    connection.close()


def test_a_page_that_does_nothing_until_a_person_acts_is_inert() -> None:
    with app("POST") as (url, submitted):
        prove_inert(url, prefetch, lambda: list(submitted))
        assert submitted == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_case_33_a_page_that_acts_on_being_looked_at_is_found(method: str) -> None:
    with app(method) as (url, submitted), pytest.raises(CheckFailed, match=f"{method} on the link changes the state"):
        prove_inert(url, prefetch, lambda: list(submitted))
