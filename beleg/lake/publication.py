"""Publications: the one record that says which version of every table readers see.

The record is swapped atomically after all tables were written, so a reader never sees a half-written
lake; what an unpublished version holds is invisible, and the difference between the published and the
latest version is exactly what the marts still have to catch up with.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from beleg.core.errors import DamagedError
from beleg.core.files import replace_text
from beleg.core.settings import Settings
from beleg.lake import format as lake_format
from beleg.lake.format import LAKE_FORMAT

_TAIL_BYTES = 1024 * 1024
"""Longer than any fact."""


@dataclass(frozen=True)
class Publication:
    """What readers see."""

    number: int
    """Counts up by one with each publication."""
    published_at: str
    """UTC instant, RFC 3339."""
    as_of: str
    """Instant the marts were computed for: runs silent for too long by then are abandoned."""
    tables: Mapping[str, int]
    """Table → Delta version."""
    inputs: Mapping[str, str]
    """What the marts depend on beside the tables: digests of prices, policies, queries, and the zone."""
    open_days: Mapping[str, str] = field(default_factory=dict)
    """UTC day → earliest instant at which a run of that day will count as abandoned."""
    lake_format: int = LAKE_FORMAT
    """Format of the lake when this was published."""


def current(settings: Settings) -> Publication | None:
    """The publication readers see; None before the first.

    Raises DamagedError for an unreadable record and for a lake of a format this release cannot read.
    """
    lake_format.check_readable(settings)
    path = settings.lake / "_publication.json"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        publication = Publication(**json.loads(text))
    except (ValueError, TypeError) as error:
        msg = f"{path} is damaged ({error}); restore it from the last line of {settings.ledger / 'publications.jsonl'}"
        raise DamagedError(msg) from error
    lake_format.check(publication.lake_format, str(path))
    return publication


def publish(settings: Settings, publication: Publication) -> None:
    """Make a publication the one readers see, in one atomic step, and remember it in the ledger."""
    ledger = settings.ledger / "publications.jsonl"
    before = current(settings)
    # A writer killed between the two steps below has left the ledger one publication behind.
    if before is not None and last_fact(ledger).get("number") != before.number:
        append_fact(ledger, asdict(before))
    replace_text(settings.lake / "_publication.json", json.dumps(asdict(publication), indent=1, sort_keys=True))
    append_fact(ledger, asdict(publication))


def append_fact(path: Path, fact: Mapping[str, Any]) -> None:
    """Append one line to a ledger with a single write; a torn last line of a killed writer is closed first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        line = json.dumps(fact, sort_keys=True, separators=(",", ":")).encode() + b"\n"
        os.write(fd, b"\n" + line if torn else line)
    finally:
        os.close(fd)


def last_fact(path: Path) -> dict[str, Any]:
    """The last whole fact of a ledger, found from its end; empty where there is none."""
    if not path.exists():
        return {}
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
        lines = file.read().splitlines()
    for line in reversed(lines):
        try:
            return dict(json.loads(line))
        except ValueError:
            continue
    return {}


def facts_backwards(path: Path, *, block_bytes: int = _TAIL_BYTES) -> Iterator[dict[str, Any]]:
    """The whole facts of a ledger from the newest to the oldest, reading no more of it than is asked for."""
    if not path.exists():
        return
    with path.open("rb") as file:
        end, rest = file.seek(0, os.SEEK_END), b""
        while end > 0:
            start = max(0, end - block_bytes)
            file.seek(start)
            rest, *lines = (file.read(end - start) + rest).split(b"\n")
            yield from _parsed(reversed(lines))
            end = start
        yield from _parsed([rest])


def _parsed(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        with suppress(ValueError):
            yield dict(json.loads(line))


def facts(path: Path) -> list[dict[str, Any]]:
    """All whole facts of a ledger, in order; a line a killed writer left torn is passed over."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found
