"""DuckDB as the engine of one machine: connections with the settings that exact results need."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import duckdb

MEMORY_LIMIT = "450MB"
"""Keeps the whole process of an ingest below 1 GiB: buffers DuckDB does not count come on top."""


def memory_share() -> str:
    """Memory for computing marts: a quarter of the machine's, at least 600 MB and at most 4 GB."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{min(max(total // 4, 600_000_000), 4_000_000_000) // 1_000_000}MB"


@contextmanager
def connect(
    scratch: Path, *, memory_limit: str = MEMORY_LIMIT, threads: int | None = None
) -> Generator[duckdb.DuckDBPyConnection]:
    """An in-memory connection that spills into a folder of its own under `scratch`.

    The zone is UTC, so a cast from instant to date is the UTC day; cursors of the connection share these
    settings and have temporary tables of their own. Raises DuckDB's own errors,
    for example OutOfMemoryException where a query fits neither memory nor disk.
    """
    try:
        scratch.mkdir(parents=True, exist_ok=True)
        spill = tempfile.mkdtemp(prefix="duckdb-", dir=scratch)
    except OSError:  # one who may only read the installation spills elsewhere
        spill = tempfile.mkdtemp(prefix="beleg-duckdb-")
    con = duckdb.connect(":memory:")
    try:
        con.execute("SET GLOBAL TimeZone = 'UTC'")
        con.execute("SET memory_limit = $1", [memory_limit])
        con.execute("SET temp_directory = $1", [spill])
        con.execute("SET threads = $1", [threads or min(os.cpu_count() or 1, 8)])
        # Order comes from an ORDER BY wherever it matters; keeping it elsewhere costs memory.
        con.execute("SET preserve_insertion_order = false")
        con.execute("SET enable_progress_bar = false")
        con.execute("SET autoinstall_known_extensions = false")
        con.execute("SET autoload_known_extensions = false")
        yield con
    finally:
        con.close()
        shutil.rmtree(spill, ignore_errors=True)


def literal_path(path: str) -> str:
    """A path for DuckDB's readers, in which glob characters stand for themselves."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def quote(text: str) -> str:
    """A SQL string literal, for places where DuckDB takes no parameter (file names in a view)."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
