"""What is left of a value beside the lake: replaced files, the tracer's spool, reports, a tenant's key."""

import json
import os
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

from beleg.core.contracts import names
from beleg.core.files import replace_text
from beleg.core.settings import Settings
from beleg.ingest.run import load_marks
from beleg.lake.exclusive import PUT_ASIDE, STAGED
from beleg.lake.table import LakeTable
from beleg.trace.keys import key_ring, ring_of
from beleg.trace.spool_files import open_files, sealed_files


def purge(settings: Settings) -> int:
    """Delete every data file that the latest versions do not name, however young; returns how many.

    An installation that a restore has put aside goes as a whole, since it tells everything.
    The caller holds the writer lock and has published: who reads the previous `beleg.duckdb` loses its files.
    """
    deleted = 0
    for name in names():
        table = LakeTable(settings, name)
        known = {table.root / file.path for file in table.files()}
        for path in table.root.rglob("*.parquet"):
            if path not in known and "_delta_log" not in path.parts:
                path.unlink(missing_ok=True)
                deleted += 1
    for folder in (*settings.home.glob(f"{PUT_ASIDE}*"), *settings.home.glob(f"{STAGED}*")):
        shutil.rmtree(folder)
    return deleted


def clean_spool(settings: Settings, column: str, value: str, runs: Collection[str]) -> tuple[int, tuple[str, ...]]:
    """Take the lines of a value and of its runs out of sealed spool files; lines taken, and what stays in words.

    A file is changed only where all of it was read: what is taken out stands in the lake, without the value.
    """
    if not settings.spool.is_dir():
        return 0, ()
    read = {key: mark.offset for key, mark in load_marks(settings).items()}
    taken, left = 0, []
    for path in sealed_files(settings.spool):
        stat = path.stat()
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not _tells(line, column, value, runs)]
        if len(kept) == len(lines):
            continue
        if read.get(f"{stat.st_dev}:{stat.st_ino}") != stat.st_size:
            left.append(f"{path.name} is not read to its end: run `beleg run`, then this again")
            continue
        _replace(path, b"".join(kept))
        taken += len(lines) - len(kept)
    growing = [path for path in open_files(settings.spool) if _any_tells(path, column, value, runs)]
    left += [f"{path.name} is still written by a living process: run this again after it has ended" for path in growing]
    return taken, tuple(left)


def remove_reports(settings: Settings, value: str) -> tuple[str, ...]:
    """Delete the reports that show the value; their names."""
    found = [
        p for p in sorted((settings.home / "reports").rglob("*")) if p.is_file() and value.encode() in p.read_bytes()
    ]
    for path in found:
        path.unlink()
    return tuple(path.name for path in found)


def destroy_key(tenant: str) -> tuple[str | None, tuple[str, ...]]:
    """Take a tenant's own key out of the key ring's file; its id, and what remains to do in words."""
    ring_of.cache_clear()
    ring = key_ring()
    key_id = ring.tenants.get(tenant)
    if key_id is None or key_id not in ring.keys:
        return None, ()
    if key_id == ring.active or [t for t, k in ring.tenants.items() if k == key_id] != [tenant]:
        return None, (f"key {key_id} is not the tenant's alone and stays; its fingerprints were removed",)
    setting = os.environ["BELEG_HASH_KEYS"].strip()
    if setting.startswith("{"):
        return None, (f"BELEG_HASH_KEYS holds its keys itself: take key {key_id} out of it",)
    path = Path(setting)
    raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    del raw["keys"][key_id]
    mode = path.stat().st_mode
    replace_text(path, json.dumps(raw, indent=1))
    path.chmod(mode)
    ring_of.cache_clear()
    return key_id, ("every process that writes events must read the key ring anew: restart it",)


def _any_tells(path: Path, column: str, value: str, runs: Collection[str]) -> bool:
    with path.open("rb") as file:
        return any(_tells(line, column, value, runs) for line in file)


def _tells(line: bytes, column: str, value: str, runs: Collection[str]) -> bool:
    """Whether a line names the value, or is of a run that does."""
    try:
        event = json.loads(line)
    except ValueError:
        return value.encode() in line
    if not isinstance(event, dict):
        return value.encode() in line
    named = (event.get(column), event.get("by") if column == "author_hash" else None)
    return value in named or event.get("run_id") in runs


def _replace(path: Path, content: bytes) -> None:
    if not content:
        path.unlink()
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
