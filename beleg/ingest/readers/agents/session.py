"""What readers of coding agents share: sessions told line by line, and calls that are reported several times.

A session is a run. It has a start and a last sign of life, but no end: each file tells the first and the last
it knows of, and of all files the earliest start and the latest end win.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from beleg.ingest.readers.calls import run_of_calls
from beleg.ingest.readers.events import Maker, key
from beleg.ingest.readers.files import File
from beleg.ingest.readers.item import Event, Item, Origin, item
from beleg.ingest.readers.naming import Naming
from beleg.ingest.readers.parsing import member
from beleg.trace.usage import Reported

SESSIONS = "sessions"
"""What one run of a coding agent is counted as."""
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_HALF = timedelta(days=18_000)
"""Half of the years that revisions may have."""
_TOKEN_BITS, _KNOWN_BITS, _SESSION_BITS, _TIME_BITS = 22, 3, 10, 15
"""Together 50 bits: as many microseconds fit into that half."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass
class _Session:
    origin: Origin
    first: str
    last: str
    facts: dict[str, Any] = field(default_factory=dict)
    parent: str | None = None


@dataclass
class Sessions:
    """The sessions of one file, as far as its lines tell them."""

    make: Maker
    naming: Naming
    _known: dict[str, _Session] = field(default_factory=dict)

    def seen(self, session: str, at: str, origin: Origin, parent: str | None = None, **facts: Any) -> None:
        """Note that a session was alive at an `instant`; of each fact for its name the first that is known stays."""
        known = self._known.get(session)
        if known is None:
            known = self._known[session] = _Session(origin._replace(line=None), at, at)
        elif at < known.first:
            known.first = at
        elif at > known.last:
            known.last = at
        known.parent = known.parent or parent
        for name, value in facts.items():
            if value is not None:
                known.facts.setdefault(name, value)

    def items(self) -> Iterator[Item]:
        """Start and end of every session."""
        for session, known in self._known.items():
            yield item(known.origin, self._events, session, known)

    def _events(self, session: str, known: _Session) -> Iterator[Event]:
        agent = self.make.source
        facts = {name.replace("__", "."): value for name, value in known.facts.items()}
        named = self.naming.name({"format": agent, "workflow": agent, "agent": agent, "session": session, **facts})
        more = {"parent_run_id": known.parent, "team": named.fields.get("team") or known.facts.get("project")}
        told = run_of_calls(self.make, named, session, start=known.first, end=known.last, status="succeeded", **more)
        for event in told:
            counted = {"units": {SESSIONS: 1, **named.units}} if event["event"] == "run_finished" else {}
            yield event | counted


def project(cwd: Any) -> str | None:
    """The last part of a working folder, by which its project is known."""
    if not isinstance(cwd, str) or not cwd:
        return None
    path = PureWindowsPath(cwd) if "\\" in cwd else PurePosixPath(cwd)
    return path.name or None


def session_of(file: File) -> str | None:
    """The id of the session that stands in a file's name, as agents name their files; None for other names."""
    found = _UUID.findall(file.path.name.lower())
    return found[-1] if found else None


def growing(reported: Reported, session: str, at: str, *, copied: bool = False) -> str:
    """Revision of a report of a call that its log repeats while its counts grow.

    Of all reports of one call the last one wins, which is the one with the most tokens, since counts of a
    stream only grow; among equal ones the one that tells most, then always that of the same session, so that
    a session whose beginning was copied into another does not fall apart. One that is known to be `copied`
    yields to all others. Times come last: blocks of one answer may have the same, copies may have others.
    """
    counts = [reported.input, reported.cache_read, reported.cache_write, reported.output]
    ranked = (
        (max(sum(count or 0 for count in counts), 0), _TOKEN_BITS),
        (sum(count is not None for count in (*counts, reported.cache_write_5m)), _KNOWN_BITS),
        (int(hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:4], 16) >> 6, _SESSION_BITS),
        (int(datetime.fromisoformat(at).timestamp() * 1000) % 2**_TIME_BITS, _TIME_BITS),
    )
    steps = 0
    for value, bits in ranked:
        steps = steps << bits | min(value, 2**bits - 1)
    revision = _EPOCH + (timedelta() if copied else _HALF) + timedelta(microseconds=steps)
    return revision.isoformat(timespec="microseconds")


def known_key(value: Any, *more: Any) -> str | None:
    """An id made of several of the source's; None where the first is none."""
    parts = [value, *more]
    return None if key(value) is None else key(".".join(str(part) for part in parts if part is not None))


def mapping(value: Any, *keys: str) -> Mapping[str, Any]:
    """The object below the keys; an empty one where there is none."""
    found = member(value, *keys)
    return found if isinstance(found, dict) else {}
