"""Whether the spool holds anything that no ingest has read yet: looks at file sizes and unread tails only."""

import hashlib
from collections.abc import Iterator

from beleg.core.settings import Settings
from beleg.ingest.run import load_marks
from beleg.ingest.sources import Source, find_sources

_BLOCK = 1024 * 1024


def unread(settings: Settings) -> str | None:
    """A key for exactly what is unread now, 16 hex digits; None where nothing is.

    A file that still grows counts up to its last line feed: a line being written is not there yet. The same
    unread bytes give the same key, so whoever asks twice can tell.
    """
    if not settings.spool.is_dir():
        return None
    found = find_sources([settings.spool], spool=settings.spool, marks=load_marks(settings))
    lines = sorted(_unread(found))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] if lines else None


def _unread(found: tuple[Source, ...]) -> Iterator[str]:
    for source in found:
        end = _last_line_feed(source) if source.growing else source.size
        if end > source.start:
            yield f"{source.key} {source.start} {end} {source.digest}"


def _last_line_feed(source: Source) -> int:
    """Offset behind the last line feed of what is unread; its start where there is none."""
    end = source.size
    try:
        with source.path.open("rb") as file:
            while end > source.start:
                begin = max(source.start, end - _BLOCK)
                file.seek(begin)
                at = file.read(end - begin).rfind(b"\n")
                if at >= 0:
                    return begin + at + 1
                end = begin
    except FileNotFoundError:  # sealed meanwhile, under another name
        pass
    return source.start
