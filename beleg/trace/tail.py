"""Follows a spool: yields the events that are written from now on, by any process."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beleg.trace import spool_files


class Tail:
    """Reads what is new in a spool folder; files may appear, grow, be sealed and vanish meanwhile."""

    def __init__(self, spool: Path, *, from_start: bool = False) -> None:
        self._spool = spool
        self._offsets: dict[str, int] = {}
        if not from_start:
            for _ in self.new_lines():
                pass

    def new_events(self) -> Iterator[dict[str, Any]]:
        """Events since the last call; lines that cannot be read are passed over."""
        for line in self.new_lines():
            try:
                event = json.loads(line)
            except ValueError:  # torn: its writer lost it and counted it
                continue
            if isinstance(event, dict):
                yield event

    def new_lines(self) -> Iterator[bytes]:
        """Whole lines since the last call, file by file."""
        paths = sorted(self._spool.glob(f"*{spool_files.SEALED}")) if self._spool.is_dir() else []
        for path in paths:
            # A file keeps its offset when it is sealed.
            key = path.name.removesuffix(spool_files.OPEN).removesuffix(spool_files.SEALED)
            try:
                chunk = self._read(path, key)
            except FileNotFoundError:
                continue
            yield from (line for line in chunk.split(b"\n") if line)

    def _read(self, path: Path, key: str) -> bytes:
        begin = self._offsets.get(key, 0)
        with path.open("rb") as file:
            file.seek(begin)
            chunk = file.read()
        whole = chunk[: chunk.rfind(b"\n") + 1]
        self._offsets[key] = begin + len(whole)
        return whole
