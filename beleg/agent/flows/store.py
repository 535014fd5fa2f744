"""Where records lie: one row each, replaced only by whoever saw its last content."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from beleg.trace.fingerprint import fingerprint

MOST_CALLS = 100
"""How many of the latest calls a record remembers in order to know a repeated one."""
_REVISION_CHARS = 16


@dataclass(frozen=True)
class Stored:
    """A record as it lies in the store."""

    record: Mapping[str, Any]
    calls: tuple[str, ...] = ()
    """Keys of the latest calls that wrote it, oldest first; a person's edit adds none."""

    @cached_property
    def revision(self) -> str:
        """16 hex digits over the content: an edit made elsewhere changes it without anyone's help."""
        return fingerprint([dict(self.record), list(self.calls)])[:_REVISION_CHARS]

    def with_call(self, record: Mapping[str, Any], call_key: str) -> "Stored":
        """The next content, written by one more call."""
        return Stored(record, (*self.calls, call_key)[-MOST_CALLS:])


_TABLE = "CREATE TABLE IF NOT EXISTS flow_records (id TEXT PRIMARY KEY, record TEXT NOT NULL, calls TEXT NOT NULL)"


class Store(Protocol):
    """What a flow needs of a database; any table with a compare-and-set will do."""

    def read(self, record_id: str) -> Stored | None:
        """The record as it is now; None where there is none."""

    def replace(self, record_id: str, old: Stored | None, new: Stored) -> bool:
        """Write `new` if the record is still `old` (None: does not exist), in one step; False where it is not."""


class SqliteStore:
    """Records in a SQLite file: safe for threads and processes, and an example of what a store has to do."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._opened() as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute(_TABLE)

    def read(self, record_id: str) -> Stored | None:
        """The record as it is now; None where there is none."""
        with self._opened() as database:
            return _found(database, record_id)

    def replace(self, record_id: str, old: Stored | None, new: Stored) -> bool:
        """Write `new` if the record is still `old`; False where it is not."""
        with self._opened() as database:
            database.execute("BEGIN IMMEDIATE")  # from here on nobody else writes
            found = _found(database, record_id)
            if (found and found.revision) != (old and old.revision):
                return False
            row = (record_id, _text(new.record), _text(new.calls))
            database.execute("INSERT OR REPLACE INTO flow_records VALUES (?, ?, ?)", row)
            return True

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self._path, timeout=30)
        try:
            with database:
                yield database
        finally:
            database.close()


def _found(database: sqlite3.Connection, record_id: str) -> Stored | None:
    row = database.execute("SELECT record, calls FROM flow_records WHERE id = ?", (record_id,)).fetchone()
    return None if row is None else Stored(json.loads(row[0]), tuple(json.loads(row[1])))


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False)
