"""One table of the lake: immutable Parquet files written by DuckDB, committed to a Delta log.

A commit is atomic: readers of a version see all of its files and none of a later one. Files that no
commit names, left by a killed writer, are invisible and removed by `vacuum`.
"""

import json
import re
import time
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Field, Schema
from deltalake.transaction import AddAction, RemoveAction

from beleg.core.contracts import Column, TableContract, load
from beleg.core.errors import DamagedError
from beleg.core.settings import Settings
from beleg.lake.engine import identifier, literal_path, quote

COMPRESSION = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 122880"

_SINCE = "beleg.since_version"
"""In the metadata of a column that a table gained later: earlier files lack it."""


class DataFile(NamedTuple):
    """One Parquet file of a table. `partition` is None for a table without partitions."""

    path: str
    """Relative to the table's folder."""
    partition: str | None
    rows: int
    size_bytes: int


class LakeTable:
    """A table of the lake, known by its contract.

    Columns, units and grain are those of `contracts/tables/<name>.yaml`.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        self.contract = load(name)
        self.root = settings.lake / name
        self._head: DeltaTable | None = None
        self._opened: DeltaTable | None = None
        """An earlier version that was opened last."""
        self._behind = False
        """Whether a commit was made since the log was read."""
        self._files: dict[int, list[DataFile]] = {}
        self._by_partition: tuple[int, dict[str | None, list[DataFile]]] = (-1, {})
        self._mixed: bool | None = None
        self._evolved = False

    def version(self) -> int | None:
        """Latest committed version; None where nothing was ever committed."""
        return None if (table := self._latest()) is None else int(table.version())

    def files(self, version: int | None = None) -> list[DataFile]:
        """Files of a version (default: the latest), sorted by path; empty for a table not yet made."""
        wanted = self.version() if version is None else version
        if wanted is None:
            return []
        if wanted not in self._files:
            self._files[wanted] = self._read_files(wanted)
        return self._files[wanted]

    def files_in(self, version: int, partitions: Iterable[str]) -> list[DataFile]:
        """Files of a version in some partitions, sorted by path."""
        known, groups = self._by_partition
        if known != version:
            groups = {}
            for file in self.files(version):
                groups.setdefault(file.partition, []).append(file)
            self._by_partition = (version, groups)
        return [file for partition in sorted(set(partitions)) for file in groups.get(partition, ())]

    def _read_files(self, version: int) -> list[DataFile]:
        actions = pa.table(self._at(version).get_add_actions(flatten=True))
        nulls = pa.nulls(len(actions), pa.string())
        names = actions.column_names
        partition = f"partition.{self.contract.partition_column}"
        partitions = actions[partition].cast(pa.string()) if partition in names else nulls
        rows = actions["num_records"] if "num_records" in names else nulls.cast(pa.int64())
        columns = actions["path"], partitions, rows.fill_null(0), actions["size_bytes"]
        return sorted(map(DataFile._make, zip(*(column.to_pylist() for column in columns), strict=True)))

    def write(
        self,
        con: duckdb.DuckDBPyConnection,
        query: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        ordered: bool = True,
        partition: str | None = None,
    ) -> list[DataFile]:
        """Write a query's rows as new files, one a partition; commits nothing.

        `query` yields the contract's columns by name. The files are invisible until `commit`. `ordered`
        sorts them as the contract says, so that the same rows give the same bytes. `partition` promises
        that all rows belong to that one: sorting them out costs as much again as writing them.
        """
        column = self.contract.partition_column
        split = column is not None and partition is None
        columns = self.contract.columns if split else self.contract.stored_columns
        order = ", ".join(map(identifier, [*([column] if split and column else []), *self.contract.order_by]))
        names = ", ".join(identifier(c.name) for c in columns)
        rows = f"SELECT {names} FROM ({query})" + (f" ORDER BY {order}" if ordered else "")
        target, layout = self.root, ""
        if split and column is not None:
            layout = f", PARTITION_BY ({identifier(column)}), APPEND, FILENAME_PATTERN '{{uuidv7}}'"
            target.mkdir(parents=True, exist_ok=True)
        else:
            target = (target / f"{column}={partition}" if column else target) / f"{uuid.uuid4()}.parquet"
            target.parent.mkdir(parents=True, exist_ok=True)
        copy = f"COPY ({rows}) TO {quote(str(target))} ({COMPRESSION}{layout}, RETURN_STATS)"
        copied = con.execute(copy, dict(parameters or {})).fetchall()
        written = [self._written(Path(str(row[0])), int(row[1]), int(row[2])) for row in copied]
        self.discard(file for file in written if not file.rows)
        return [file for file in written if file.rows]

    def commit(self, add: Iterable[DataFile], remove: Iterable[DataFile] = (), *, note: str = "") -> int:
        """Add and remove files in one atomic step; returns the new version.

        `note` is kept in the log, for example the id of the ingest.
        """
        table = (None if self._behind else self._head) or self._latest() or self._create()
        self.evolve()
        now_ms = time.time_ns() // 1_000_000
        added, removed = list(add), list(remove)
        actions = [self._add(f, now_ms) for f in added] + [self._remove(f, now_ms) for f in removed]
        if actions:
            before = int(table.version())
            table.create_write_transaction(
                actions,
                "append",
                schema=table.schema(),  # known already: to derive it from the contract takes longer than the commit
                partition_by=self._partition_by,
                commit_properties=CommitProperties(custom_metadata={"beleg": note}),
            )
            self._behind = True
            return self._remember(before, added, removed)
        return int(table.version())

    def _remember(self, before: int, added: list[DataFile], removed: list[DataFile]) -> int:
        """The version that was just made after `before`, and its files, without reading them back."""
        if self._logged(before + 2):  # somebody else has committed as well
            return self.version() or 0
        version = before + 1
        if before in self._files:
            gone = {f.path for f in removed}
            self._files[version] = sorted([*(f for f in self._files[before] if f.path not in gone), *added])
        return version

    def _logged(self, version: int) -> bool:
        return (self.root / "_delta_log" / f"{version:020}.json").exists()

    def notes(self, *, after: int, upto: int) -> set[str]:
        """The notes of the commits behind one version up to another that changed rows; empty text for none."""
        table = self._latest()
        if table is None:
            return set()
        entries = table.history(int(table.version()) - after)
        changes = (e for e in entries if after < e["version"] <= upto and e.get("operation") in {"WRITE", "DELETE"})
        return {str(entry.get("beleg", "")) for entry in changes}

    def relation(self, files: Collection[DataFile], *, addresses: bool = False) -> str:
        """SQL of a relation over exactly these files, with the contract's columns and types.

        `addresses` adds where each row lies: `filename` and `file_row_number`.
        """
        where = {"filename": "VARCHAR", "file_row_number": "BIGINT"} if addresses else {}
        if not files:
            nulls = "".join(f", CAST(NULL AS {kind}) AS {name}" for name, kind in where.items())
            return f"(SELECT {typed_nulls(self.contract)}{nulls} WHERE false)"
        folder = f"{self.root}/"  # joined as text: a history has thousands of files
        paths = ", ".join(quote(literal_path(folder + f.path)) for f in files)
        options = [f"{name} = true" for name in where]
        if self._is_mixed():
            options.append(f"schema = {_file_schema(self.contract)}")
        if (column := self.contract.partition_column) is not None:
            types = f"{{{quote(column)}: {self.contract.column(column).type}}}"
            options += ["hive_partitioning = true", f"hive_types = {types}"]
        return f"read_parquet({', '.join([f'[{paths}]', *options])})"

    def gained(self) -> list[Column]:
        """Columns of the contract that the table does not have yet.

        Raises DamagedError where the contract differs in more than that.
        """
        if changed := self.changed_columns():
            way = (
                "run `beleg migrate`" if self.contract.kind == "mart" else "it was written by another release: use that"
            )
            msg = f"{self.root} differs from its contract in {', '.join(changed)}; {way}"
            raise DamagedError(msg)
        there = self._fields()
        return [c for c in self.contract.columns if there and c.name not in there]

    def changed_columns(self) -> list[str]:
        """Names of columns that the table holds otherwise than its contract says, or lacks where null is a fault."""
        there, wanted = self._fields(), {f.name: f for f in _delta_schema(self.contract).fields}
        changed = [name for name, f in there.items() if name not in wanted or wanted[name].type != f.type]
        if there and self.contract.kind != "mart":  # a mart is computed again whenever its contract changes
            changed += [c.name for c in self.contract.columns if c.required and c.name not in there]
        return sorted(changed)

    def evolve(self) -> None:
        """Give the table the columns its contract has gained: null in the files that are there, which stay."""
        if self._evolved:
            return
        names = {c.name for c in self.gained()}
        if names and self._head is not None:
            self._head.alter.add_columns(self._marked(names))
            self._head.update_incremental()
        self._evolved = True

    def start_anew(self) -> None:
        """Empty a mart and give it the columns of its contract, in one commit; what is published stays as it is."""
        table = self._latest() or self._create()
        schema = Schema(self._marked(set(self.schema.names)))
        table.create_write_transaction([], "overwrite", schema=schema, partition_by=self._partition_by)
        table.update_incremental()

    def _fields(self) -> dict[str, Field]:
        table = self._head or self._opened or self._latest()
        return {} if table is None else {f.name: f for f in table.schema().fields}

    def _marked(self, names: Collection[str]) -> list[Field]:
        """Fields of the contract, marked as ones that files of earlier versions lack or hold otherwise."""
        since = {_SINCE: str((self.version() or 0) + 1)}
        fields = [f for f in _delta_schema(self.contract).fields if f.name in names]
        return [Field(f.name, f.type, nullable=True, metadata=since) for f in fields]

    def _is_mixed(self) -> bool:
        """Whether files may lack columns: reading them by name costs a bit, so only then."""
        if self._mixed is None:
            late = any(_SINCE in (f.metadata or {}) for f in self._fields().values())
            self._mixed = late or bool(self.gained())
        return self._mixed

    def discard(self, files: Iterable[DataFile]) -> None:
        """Delete written files that will not be committed."""
        for file in files:
            (self.root / file.path).unlink(missing_ok=True)

    def vacuum(self, *, keep_versions: Sequence[int], retention_hours: int = 24) -> list[str]:
        """Delete files no kept version names and that are older than the retention; returns their paths."""
        table = self._latest()
        if table is None:
            return []
        return list(
            table.vacuum(
                retention_hours,
                dry_run=False,
                enforce_retention_duration=False,
                full=True,
                keep_versions=list(keep_versions),
            )
        )

    def checkpoint(self) -> None:
        """Sum up the log in one file, so that opening the table need not read every commit."""
        if (table := self._latest()) is not None:
            table.create_checkpoint()

    @property
    def schema(self) -> Any:
        """Arrow schema of the table, made by DuckDB from the contract's types."""
        return arrow_schema(self.contract)

    @property
    def _partition_by(self) -> list[str]:
        return [] if self.contract.partition_column is None else [self.contract.partition_column]

    def _latest(self) -> DeltaTable | None:
        """The table at its latest version; reading on is cheaper than opening again."""
        self._behind = False
        if self._head is not None:
            self._head.update_incremental()
        elif (self.root / "_delta_log").is_dir() and DeltaTable.is_deltatable(str(self.root)):
            self._head = DeltaTable(str(self.root))
        return self._head

    def _at(self, version: int) -> DeltaTable:
        if self._head is not None and self._head.version() == version:
            return self._head
        if self._opened is None or self._opened.version() != version:
            self._opened = DeltaTable(str(self.root), version=version)
        return self._opened

    def _create(self) -> DeltaTable:
        self.root.mkdir(parents=True, exist_ok=True)
        self._head = DeltaTable.create(
            str(self.root),
            schema=self.schema,
            mode="ignore",
            partition_by=self._partition_by,
            name=self.contract.table,
            description=self.contract.description,
        )
        return self._head

    def _written(self, path: Path, rows: int, size_bytes: int) -> DataFile:
        relative = path.relative_to(self.root)
        value = relative.parent.name.partition("=")[2] or None
        return DataFile(relative.as_posix(), value, rows, size_bytes)

    def _values(self, file: DataFile) -> dict[str, str | None]:
        column = self.contract.partition_column
        return {} if column is None else {column: file.partition}

    def _add(self, file: DataFile, now_ms: int) -> AddAction:
        stats = json.dumps({"numRecords": file.rows})
        return AddAction(file.path, file.size_bytes, self._values(file), now_ms, data_change=True, stats=stats)

    def _remove(self, file: DataFile, now_ms: int) -> RemoveAction:
        return RemoveAction(file.path, True, now_ms, size=file.size_bytes, partition_values=self._values(file))


@cache
def _delta_schema(contract: TableContract) -> Any:
    return Schema.from_arrow(arrow_schema(contract))


@cache
def _file_schema(contract: TableContract) -> str:
    """DuckDB's map of the columns to read by name, with null for those that a file does not have."""
    columns = (
        f"{quote(c.name)}: {{name: {quote(c.name)}, type: {quote(stored_type(c.type))}, default_value: NULL}}"
        for c in contract.stored_columns
    )
    return f"MAP{{{', '.join(columns)}}}"


def stored_type(type_: str) -> str:
    """DuckDB type as it is stored: JSON is text in Parquet, so that every engine reads it."""
    return re.sub(r"\bJSON\b", "VARCHAR", type_)


@cache
def arrow_schema(contract: TableContract) -> Any:
    """Arrow schema of a contract, partition column included."""
    with typing_connection().cursor() as con:
        return con.sql(f"SELECT {typed_nulls(contract)}").to_arrow_table().schema


@cache
def typing_connection() -> duckdb.DuckDBPyConnection:
    """A connection that only ever makes types; to open one takes longer than to ask it."""
    con = duckdb.connect(":memory:")
    con.execute("SET GLOBAL TimeZone = 'UTC'")
    return con


def typed_nulls(contract: TableContract) -> str:
    """SQL select list of nulls with the names and types of a contract's columns."""
    return ", ".join(f"CAST(NULL AS {stored_type(c.type)}) AS {identifier(c.name)}" for c in contract.columns)
