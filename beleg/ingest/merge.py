"""Merges accepted events into the lake: one row per identity, work in proportion to what is new.

Events are written to their days at once, invisibly. Only then is looked for earlier versions, reading no
more than the identities of days that may hold one. A day without any is committed as it was written; a
day with a contested identity is written again with the winners. The latest revision of an identity wins.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import duckdb

from beleg.core.sql import query
from beleg.lake.engine import identifier
from beleg.lake.snapshot import Snapshot
from beleg.lake.table import DataFile, LakeTable

FILES_PER_DAY = 8
"""A day with more files is rewritten as one: opening a file costs about 0.1 ms."""

KEY_FILES = 32
SMALL_FILE_BYTES = 16 * 1024 * 1024
"""Files of `keys` below this size are joined once there are KEY_FILES of them."""


@dataclass(frozen=True)
class Merge:
    """What a merge is about to change in one table; nothing is visible before `commit`."""

    table: str
    accepted: int
    duplicates: int = 0
    superseded: int = 0
    add: tuple[DataFile, ...] = ()
    remove: tuple[DataFile, ...] = ()
    keys: tuple[DataFile, ...] = ()


def prepare(
    con: duckdb.DuckDBPyConnection, lake: Snapshot, table: str, events: str, *, likely_day: str | None = None
) -> Merge:
    """Write the rows of the query `events` to their days and decide over repeated identities.

    `events` yields the columns of the table's contract. Where all of them seem to be of one day, naming it
    saves time; that it is so is checked. Raises DuckDB's errors, for example when the disk
    is full; the lake is then as it was.
    """
    return _Merging(con, lake, lake.table(table)).prepare(events, likely_day)


def commit(con: duckdb.DuckDBPyConnection, lake: Snapshot, merges: Collection[Merge], ingest_id: str) -> None:
    """Commit prepared merges, keys first: a key without its row costs a look, a row without its key a double."""
    keys = [file for merge in merges for file in merge.keys]
    if keys:
        _commit_keys(con, lake.table("keys"), keys, ingest_id)
    for merge in merges:
        if merge.add or merge.remove:
            lake.table(merge.table).commit(merge.add, merge.remove, note=ingest_id)


def _commit_keys(con: duckdb.DuckDBPyConnection, table: LakeTable, keys: list[DataFile], ingest_id: str) -> None:
    """Add keys; once there are many small files, they become one."""
    small = [file for file in table.files() if file.size_bytes < SMALL_FILE_BYTES]
    if len(small) < KEY_FILES:
        table.commit(keys, note=ingest_id)
        return
    whole = table.write(con, f"SELECT * FROM {table.relation([*small, *keys])}")
    table.discard(keys)
    table.commit(whole, small, note=ingest_id)


@dataclass
class _Merging:
    """The merge of one table; its relations are temporary views and tables of the connection."""

    con: duckdb.DuckDBPyConnection
    lake: Snapshot
    table: LakeTable

    def prepare(self, events: str, likely_day: str | None) -> Merge:
        written = self._write(events, likely_day)
        merge = Merge(self.table.contract.table, sum(f.rows for f in written), add=tuple(written))
        self._run("macros")
        self._view("incoming", written)
        self._find_earlier()
        self._run("suspects")
        merge = replace(merge, keys=self._keys())
        if self._rows("SELECT h FROM suspects"):
            merge = self._decide(merge)
        return self._compact(merge)

    def _write(self, events: str, likely_day: str | None) -> list[DataFile]:
        if likely_day is not None:
            files = self.table.write(self.con, events, ordered=False, partition=likely_day)
            self._view("incoming", files)
            day = f"CAST({identifier(self.table.contract.partition_of or 'event_time')} AS DATE)"
            if not self._rows(f"SELECT 1 FROM incoming WHERE day <> {day}"):
                return files
            self.table.discard(files)
        return self.table.write(self.con, events, ordered=False)

    def _find_earlier(self) -> None:
        self.con.execute(f"CREATE OR REPLACE TEMP VIEW keys AS SELECT * FROM {self.lake.relation('keys')}")
        days = self._texts(query("beleg.ingest", "candidate_days"), event_table=self.table.contract.table)
        self._view("stored", self.lake.files(self.table.contract.table, days))
        self._run("earlier")

    def _decide(self, merge: Merge) -> Merge:
        """Write the days with contested identities again, winners only."""
        self._run("contest")
        duplicates, superseded = self.con.execute(query("beleg.ingest", "contest_counts")).fetchall()[0]
        contested = self._texts("SELECT DISTINCT CAST(day AS VARCHAR) FROM contest WHERE is_new")
        lost = self._texts("SELECT DISTINCT CAST(day AS VARCHAR) FROM contest WHERE NOT is_new AND NOT wins")
        self.con.execute(
            "CREATE OR REPLACE TEMP TABLE contested_days AS SELECT unnest($1::VARCHAR[]) AS day", [contested]
        )
        old = self.lake.files(merge.table, lost)
        self._view("rewritten", old)
        gained, kept = (query("beleg.ingest", name) for name in ("gained", "kept"))
        decided = self.table.write(self.con, f"{gained} UNION ALL BY NAME {kept}")
        as_written = [f for f in merge.add if f.partition not in set(contested)]
        self.table.discard(f for f in merge.add if f not in as_written)
        return replace(
            merge, duplicates=duplicates, superseded=superseded, add=(*as_written, *decided), remove=tuple(old)
        )

    def _compact(self, merge: Merge) -> Merge:
        """Write days that would have gathered many files as one file each."""
        days = {f.partition for f in merge.add if f.partition is not None}
        stay = [f for f in self.lake.files(merge.table, days) if f not in merge.remove]
        crowded = {day for day in days if sum(f.partition == day for f in (*stay, *merge.add)) > FILES_PER_DAY}
        if not crowded:
            return merge
        old = [f for f in stay if f.partition in crowded]
        new = [f for f in merge.add if f.partition in crowded]
        whole = self.table.write(self.con, f"SELECT * FROM {self.table.relation([*old, *new])}")
        self.table.discard(new)
        kept = [f for f in merge.add if f.partition not in crowded]
        return replace(merge, add=(*kept, *whole), remove=(*merge.remove, *old))

    def _keys(self) -> tuple[DataFile, ...]:
        self.con.execute(query("beleg.ingest", "new_keys"), {"event_table": self.table.contract.table})
        if not self._rows("SELECT key_hash FROM new_keys"):
            return ()
        return tuple(self.lake.table("keys").write(self.con, "SELECT * FROM new_keys"))

    def _run(self, name: str) -> None:
        self.con.execute(query("beleg.ingest", name))

    def _view(self, name: str, files: Collection[DataFile]) -> None:
        relation = self.table.relation(files, addresses=True)
        self.con.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM {relation}")

    def _rows(self, sql: str) -> int:
        return int(self.con.execute(f"SELECT count(*) FROM ({sql})").fetchall()[0][0])

    def _texts(self, sql: str, **parameters: str) -> list[str]:
        return [str(row[0]) for row in self.con.execute(sql, parameters).fetchall()]
