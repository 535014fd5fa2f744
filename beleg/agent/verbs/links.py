"""Links in the place of binding verbs: the agent's last act is to hand the user a door.

A link is safe only if looking at it changes nothing and it carries no authority of its own.
"""

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ParamSpec
from urllib.parse import parse_qsl, unquote, urlsplit

from beleg.agent.toolsets.declare import Group
from beleg.core.errors import CheckFailed, UsageError

P = ParamSpec("P")
_AUTHORITY = re.compile(
    r".*(?:token|jwt|signature|secret|passw|session|credential|apikey|api_key|ticket).*|(?:.*[_-])?(?:sig|sid|auth|code|key|otp)s?"
)
_ODD = re.compile(r"[^\x21-\x7e]|[\\<>\"]")
"""What browsers and this parser may read differently."""
_JWT = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]*")


@dataclass(frozen=True)
class Link:
    """Where a person does what the agent cannot, and whether all is there for it."""

    url: str
    ready: bool
    missing: tuple[str, ...] = ()

    def answer(self) -> dict[str, Any]:
        """What the model gets."""
        return {"url": self.url, "readyToSubmit": self.ready, "missing": list(self.missing)}


def link_tool(
    group: Group, *, hosts: Iterable[str], version: str = "1.0.0"
) -> Callable[[Callable[P, Link]], Callable[P, dict[str, Any]]]:
    """Declare a function that gives a Link as a reading tool; each link is checked before the model gets it.

    `hosts` are those a link may lead to. A call raises UsageError for a link elsewhere, without TLS, or with
    anything in it that logs somebody in.
    """
    allowed = frozenset(host.lower() for host in hosts)

    def declare(function: Callable[P, Link]) -> Callable[P, dict[str, Any]]:
        @functools.wraps(function)
        def hand_over(*args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
            link = function(*args, **kwargs)
            check_link(link.url, allowed)
            return link.answer()

        group.tool(binding=False, effect="read", version=version)(hand_over)
        hand_over.gives_link = True  # type: ignore[attr-defined]
        return hand_over

    return declare


def check_link(url: str, hosts: frozenset[str]) -> None:
    """Raises UsageError for a link that leads elsewhere or carries authority; never repeats the link."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise UsageError("a link must be an address; this one cannot be read") from None
    if _ODD.search(url) or parts.scheme != "https" or parts.netloc.lower() not in hosts:
        raise UsageError(f"a link must be https, plain ASCII, without a user, and lead to {', '.join(sorted(hosts))}")
    if _JWT.search(unquote(url)):
        raise UsageError("a link must not carry authority: there is a signed token in it")
    for name, _ in (*parse_qsl(parts.query, True), *parse_qsl(parts.fragment, True)):
        if _AUTHORITY.fullmatch(name.lower()):
            raise UsageError(f"a link must not carry authority: its parameter {name[:40]!r} looks like a credential")


def prove_inert(url: str, fetch: Callable[[str, str], object], observe: Callable[[], object]) -> None:
    """Look at a link as prefetchers, scanners and the agent itself do, and see that nothing changed.

    `fetch(method, url)` asks without the user's login; `observe()` gives the state that must not change, in a
    form that compares. Raises CheckFailed naming the request that changed it.
    """
    before = observe()
    for method in ("HEAD", "GET", "GET", "OPTIONS"):
        fetch(method, url)
        if observe() != before:
            raise CheckFailed(f"{method} on the link changes the state: whoever prefetches it, acts")
