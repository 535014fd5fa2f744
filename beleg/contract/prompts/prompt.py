"""`beleg.prompt`: never raises, never waits longer than its budget, never serves a text older than `ttl_s`."""

import contextlib
import logging
import os
import re
import stat
from typing import TypeVar

from beleg.contract.client.clock import SYSTEM, Clock
from beleg.contract.client.errors import Forbidden, Outdated, Unreachable
from beleg.contract.client.refresh import Refresher
from beleg.contract.client.sources import address_of, source_of
from beleg.contract.prompts.resolve import Found, Resolver
from beleg.contract.prompts.text import Prompt, Reason
from beleg.core.errors import UsageError

TTL_S = 30.0
"""Longest that a text is used without the registry confirming it: what is activated or taken back holds by then."""
BUDGET_S = 0.2
"""Longest that a call waits for the registry."""
MAX_CHARS = 2_000_000

T = TypeVar("T")
_held: dict[tuple[object, ...], "_Slot"] = {}
_files: dict[tuple[object, ...], Refresher[str]] = {}
_logged: set[tuple[str, str]] = set()


def prompt(
    workflow: str,
    *,
    default: str,
    registry: str | os.PathLike[str] | None = None,
    ttl_s: float = TTL_S,
    budget_s: float = BUDGET_S,
    clock: Clock = SYSTEM,
) -> Prompt:
    """The text that holds for a workflow: that of the registry, else `default`, the one baked into the code.

    An empty, missing, broken or unreachable text means the baked-in one; `.reason` says which it was. The
    worst that a wrong row can do is to use the shipped prompt. `BELEG_PROMPT_<WORKFLOW>` names a file whose
    text is used instead, for development.

    Raises TypeError for a `default` that is no string, in every state of the registry; nothing else.
    """
    if not isinstance(default, str):
        raise TypeError(f"default is a {type(default).__name__}; it must be the prompt's text")
    try:
        found = _override(workflow, default, budget_s, clock)
        if found is not None:
            return found
        return _slot(workflow, registry, ttl_s=ttl_s, budget_s=budget_s, clock=clock).prompt(default)
    except Exception as error:  # noqa: BLE001 - a prompt never stops its workflow
        return _baked(str(workflow)[:100], default, "name" if isinstance(error, UsageError) else "broken", error)


def _override(workflow: str, default: str, budget_s: float, clock: Clock) -> Prompt | None:
    """The developer's text, read anew each time; a file that does not answer in time is as good as none."""
    name = "BELEG_PROMPT_" + re.sub(r"\W", "_", workflow, flags=re.ASCII).upper()
    path = os.environ.get(name)
    if not path:
        return None
    key = ("override", path, budget_s, clock)
    reader = _files.get(key) or _files.setdefault(key, _file_reader(path, budget_s, clock))
    text = _confirmed(reader, clock)
    if text is None:
        return _baked(workflow, default, "override_broken", reader.error)
    if not text.strip():
        return _baked(workflow, default, "override_broken", ValueError("it is empty"))
    return Prompt(text, source="override")


def _file_reader(path: str, budget_s: float, clock: Clock) -> Refresher[str]:
    return Refresher(
        lambda: _text_of(path), ttl_s=0, max_age_s=-1, timeout_s=budget_s, retry_s=0, monotonic_s=clock.monotonic_s
    )


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8", opener=_regular) as file:
        text = file.read(MAX_CHARS + 1)
    if len(text) > MAX_CHARS:
        raise ValueError(f"{path} holds more than {MAX_CHARS} characters")
    return text


def _regular(path: str, flags: int) -> int:
    """Open a file that has an end; a FIFO would wait for its writer, a device never stop."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no regular file")
    return descriptor


def _confirmed(refresher: Refresher[T], clock: Clock) -> T | None:
    """What is held after asking where that is due: young enough, or confirmed by this very question."""
    begun_s = clock.monotonic_s()
    refresher.poll()
    is_new = refresher.error is None and refresher.confirmed_s >= begun_s
    return refresher.value if is_new or refresher.usable else None


def _slot(
    workflow: str, registry: str | os.PathLike[str] | None, *, ttl_s: float, budget_s: float, clock: Clock
) -> "_Slot":
    """Kept by registry too: the same name elsewhere is another prompt."""
    address = address_of(registry)
    key = (workflow, address, ttl_s, budget_s, clock)
    found = _held.get(key)
    return found or _held.setdefault(key, _Slot(workflow, address, ttl_s, budget_s, clock))


class _Slot:
    """What is known about one workflow in one registry."""

    def __init__(self, workflow: str, address: str, ttl_s: float, budget_s: float, clock: Clock) -> None:
        self._workflow, self._clock = workflow, clock
        self._resolver = Resolver(source_of(address), workflow, timeout_s=max(budget_s, 2.0), clock=clock)
        self._refresher: Refresher[Found] = Refresher(
            # Asked again at half its time, so that the registry may be away for a moment.
            self._resolver.resolve, ttl_s=ttl_s / 2, max_age_s=ttl_s, timeout_s=budget_s, monotonic_s=clock.monotonic_s,
        )  # fmt: skip

    def prompt(self, default: str) -> Prompt:
        """The text that holds."""
        found, error = _confirmed(self._refresher, self._clock), self._refresher.error
        if found is None:
            if self._refresher.value is not None:
                self._resolver.forget()
            return _baked(self._workflow, default, _reason(error), error)
        if found.text is None:
            return _baked(self._workflow, default, "missing", None)
        if not found.text.strip() or len(found.text) > MAX_CHARS:
            return _baked(self._workflow, default, "empty" if not found.text.strip() else "broken", None)
        return Prompt(found.text, found.version, "registry")


def _reason(error: Exception | None) -> Reason:
    if error is None or isinstance(error, Unreachable):
        return "unreachable"
    if isinstance(error, Forbidden):
        return "forbidden"
    return "outdated" if isinstance(error, Outdated) else "broken"


def _baked(workflow: str, default: str, reason: Reason, error: Exception | None) -> Prompt:
    """The shipped text; why is logged once per workflow and reason, unless nobody ever made another."""
    if reason != "missing" and (workflow, reason) not in _logged:
        _logged.add((workflow, reason))
        _log(workflow, reason, error)
    return Prompt(default, source="baked", reason=reason)


def _log(workflow: str, reason: str, error: Exception | None) -> None:
    with contextlib.suppress(Exception):  # handlers and filters of the application raise what they like
        logging.getLogger("beleg").warning("prompt of %r: the baked-in text is used, %s (%s)", workflow, reason, error)
