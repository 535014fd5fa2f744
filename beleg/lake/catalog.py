"""The DuckDB file for analysts: views over the exact files of one publication, documented by the contracts.

It is rebuilt beside and renamed in, so readers and the pipeline never block each other: a reader that has
the old file open keeps reading the old publication.
"""

import hashlib
import os
import shutil
from bisect import bisect_left
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import duckdb

from beleg.core import contracts
from beleg.core.contracts import TableContract
from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.lake import dictionary, metrics
from beleg.lake import format as lake_format
from beleg.lake.engine import identifier, literal_path, quote
from beleg.lake.publication import Publication
from beleg.lake.snapshot import Snapshot
from beleg.lake.table import DataFile, typed_nulls

STORAGE_VERSION = "v1.5.0"
"""Oldest DuckDB that opens the file."""
MANY_FILES = 64
"""A table with fewer is named as a whole each time."""
_EXACT = (
    "Internal: the exact files of this publication. Use the view of the same name in main, whose columns are explained."
)


def rebuild(settings: Settings, publication: Publication, lake: Snapshot | None = None) -> None:
    """Make `beleg.duckdb` show a publication, in one atomic step. `lake`, where already open, saves opening it."""
    snapshot = Snapshot.published(settings, publication) if lake is None else lake.at(publication)
    with _beside(settings.database) as beside:
        shutil.copyfile(_base(settings, snapshot), beside)
        _execute(beside, _contents(settings, snapshot, publication))


def _base(settings: Settings, snapshot: Snapshot) -> Path:
    """The template with the files of earlier months, where there are many: they seldom change.

    To name ten years of files takes half a second, so that is done again only where one of them has changed.
    """
    past = {name: files for name in contracts.names() if (files := _split(snapshot, name)[0])}
    if not past:
        return _template(settings)
    parts = [_documentation_digest(), str(settings.lake), *(f.path for files in past.values() for f in files)]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    path = settings.lake / f"_template-past-{digest}.duckdb"
    if not path.exists():
        with _beside(path) as beside:
            shutil.copyfile(_template(settings), beside)
            _execute(beside, (one for name, files in past.items() for one in _view("past", snapshot, name, files)))
        _remove_others(path, "_template-past-*.duckdb")
    return path


def _split(snapshot: Snapshot, name: str) -> tuple[list[DataFile], list[DataFile]]:
    """Files of months before the newest, where a table has many, and the others."""
    files = snapshot.files(name)
    if len(files) < MANY_FILES or files[-1].partition is None:
        return [], files
    # Files are sorted by path, which begins with the partition.
    month = f"{contracts.load(name).partition_column}={files[-1].partition[:7]}"
    cut = bisect_left(files, month, key=lambda f: f.path)
    return files[:cut], files[cut:]


def _view(schema: str, snapshot: Snapshot, name: str, files: list[DataFile]) -> Iterator[str]:
    view = f"{schema}.{identifier(name)}"
    yield f"CREATE OR REPLACE VIEW {view} AS SELECT * FROM {snapshot.table(name).relation(files)}"
    yield f"COMMENT ON VIEW {view} IS {quote(_EXACT)}"


def _remove_others(path: Path, pattern: str) -> None:
    for outdated in path.parent.glob(pattern):
        if outdated != path:
            outdated.unlink(missing_ok=True)


def _template(settings: Settings) -> Path:
    """A file with every documented view and no data, made once for each set of contracts.

    DuckDB drops the comments of a view that is replaced, and setting five hundred of them takes longer
    than all the rest. So the documented views stand on undocumented ones in the schemas `past` and `files`,
    and only those are replaced.
    """
    path = settings.lake / f"_template-{_documentation_digest()}.duckdb"
    if not path.exists():
        with _beside(path) as beside:
            _execute(beside, _documented())
        _remove_others(path, "_template-*.duckdb")
    return path


@cache
def _documentation_digest() -> str:
    """Digest of all that `_documented` depends on: composing its statements takes longer than a small build."""
    tables = sorted(shipped("contracts", "tables").glob("*.yaml"))
    modules = [Path(str(module.__file__)) for module in (contracts, dictionary, metrics)]
    digest = hashlib.sha256(duckdb.__version__.encode())
    for path in (*tables, shipped("contracts", "metrics.yaml"), *modules, Path(__file__)):
        digest.update(path.read_bytes())
    digest.update(query("beleg.lake", "runs").encode())
    return digest.hexdigest()[:16]


@contextmanager
def _beside(path: Path) -> Generator[Path]:
    """A name beside a file; what was written there takes the file's place if all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
        beside.with_name(beside.name + ".wal").unlink(missing_ok=True)


def _execute(path: Path, statements: Iterable[str]) -> None:
    with duckdb.connect(":memory:") as con:
        con.execute("SET TimeZone = 'UTC'")
        con.execute(f"ATTACH {quote(str(path))} AS beleg (STORAGE_VERSION '{STORAGE_VERSION}')")
        con.execute("USE beleg")
        con.execute("BEGIN")
        for statement in statements:
            con.execute(statement)
        con.execute("COMMIT")
        con.execute("USE memory")
        con.execute("DETACH beleg")


def connect(settings: Settings) -> duckdb.DuckDBPyConnection:
    """Open the file as a reader who may read the lake and nothing else of the machine.

    Raises UsageError where nothing was published yet, or the folder was moved since; DamagedError for a
    lake that a newer release wrote.
    """
    lake_format.check_readable(settings)
    if not settings.database.exists():
        msg = f"{settings.database} does not exist yet: run `beleg ingest PATH` or `beleg run` first"
        raise UsageError(msg)
    con = duckdb.connect(str(settings.database), read_only=True)
    # Connections of one process to one file share its settings, and those are locked by the first.
    if con.execute("SELECT current_setting('lock_configuration')").fetchall() == [(True,)]:
        return con
    _check_place(con, settings)
    con.execute("SET GLOBAL TimeZone = 'UTC'")
    con.execute("SET allowed_directories = $1", [[str(settings.lake), literal_path(str(settings.lake))]])
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
    return con


def _check_place(con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    try:
        ((lake,),) = con.execute("SELECT lake FROM publication").fetchall()
    except (duckdb.BinderException, duckdb.CatalogException):
        return  # made by hand, or by an earlier version: there is nothing to compare
    if lake != str(settings.lake):
        con.close()
        msg = f"{settings.database} names files in {lake}; was the folder moved? `beleg run` points it to its new place"
        raise UsageError(msg)


def shows(settings: Settings, publication: Publication) -> bool:
    """Whether the file shows this publication at this place; False where there is no readable file."""
    try:
        with duckdb.connect(str(settings.database), read_only=True) as con:
            found = con.execute("SELECT number, lake FROM publication").fetchall()
    except duckdb.Error:
        return False
    return found == [(publication.number, str(settings.lake))]


def _documented() -> Iterator[str]:
    """Statements for everything that analysts use, with its comments."""
    yield "CREATE SCHEMA past"
    yield "CREATE SCHEMA files"
    for name in contracts.names():
        contract = contracts.load(name)
        view = identifier(name)
        columns = ", ".join(identifier(c.name) for c in contract.columns)
        for schema in ("past", "files"):
            yield f"CREATE VIEW {schema}.{view} AS SELECT {typed_nulls(contract)} WHERE false"
            yield f"COMMENT ON VIEW {schema}.{view} IS {quote(_EXACT)}"
        yield (f"CREATE VIEW {view} AS SELECT {columns} FROM past.{view} UNION ALL SELECT {columns} FROM files.{view}")
    yield query("beleg.lake", "runs")
    yield from dictionary.statements()
    for contract in dictionary.tables():
        yield from _comments(contract, "TABLE" if contract in dictionary.OWN_TABLES else "VIEW")
    yield from metrics.statements()


def _contents(settings: Settings, snapshot: Snapshot, publication: Publication) -> Iterator[str]:
    """Statements that point the views to the files of a publication."""
    for name in contracts.names():
        if files := _split(snapshot, name)[1]:  # else it is empty in the template already
            yield from _view("files", snapshot, name, files)
    zone = publication.inputs.get("timezone", "UTC")
    texts = (publication.published_at, publication.as_of, zone, str(settings.lake))
    yield f"INSERT INTO publication VALUES ({publication.number}, {', '.join(map(quote, texts))})"


def _comments(contract: TableContract, kind: str) -> Iterator[str]:
    name = identifier(contract.table)
    yield f"COMMENT ON {kind} {name} IS {quote(dictionary.summary(contract))}"
    for column in contract.columns:
        unit = f" [{column.unit}]" if column.unit else ""
        yield f"COMMENT ON COLUMN {name}.{identifier(column.name)} IS {quote(column.description + unit)}"
