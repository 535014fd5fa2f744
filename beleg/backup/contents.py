"""What of an installation belongs into a backup: all that cannot be made again, at one moment."""

from collections.abc import Iterator
from pathlib import Path

from beleg.core import contracts
from beleg.core.settings import Settings
from beleg.lake import publication
from beleg.lake.table import LakeTable

REMADE = ("scratch", "beleg.duckdb", "beleg.duckdb.wal", "writer.lock", "backup.lock")
"""Made again by whoever needs them; never in a backup, as is all that begins with a dot."""
SPOOL = "spool"
_TEMPLATE = "_template-"


def data_files(settings: Settings) -> dict[str, int]:
    """Parquet files that the latest versions or the publication name → bytes. Such a file never changes."""
    published = publication.current(settings)
    found: dict[str, int] = {}
    for name in contracts.names():
        table = LakeTable(settings, name)
        if (latest := table.version()) is None:
            continue
        versions = {latest, latest if published is None else published.tables.get(name, latest)}
        for version in sorted(versions):
            found |= {f"lake/{name}/{file.path}": file.size_bytes for file in table.files(version)}
    return found


def other_files(settings: Settings, *, spool: bool) -> Iterator[str]:
    """Paths of everything else: logs, records, ledgers, the registry, whatever lies in the installation's folder.

    A table that this release does not know is taken as it lies there.
    """
    for path in _walk(settings.home):
        top, *inner = path.parts
        if top in REMADE or top == SPOOL or path.name.startswith(_TEMPLATE):
            continue
        if top == "lake" and inner[0] in contracts.names() and "_delta_log" not in inner:
            continue
        yield path.as_posix()
    if spool and settings.spool.is_dir():
        yield from (f"{SPOOL}/{path.as_posix()}" for path in _walk(settings.spool))


def where(settings: Settings, path: str) -> Path:
    """Where a file of a backup lies in this installation; the spool may lie elsewhere."""
    top, _, rest = path.partition("/")
    return settings.spool / rest if top == SPOOL else settings.home / path


def _walk(folder: Path) -> Iterator[Path]:
    """Files below a folder, relative to it, in order; what begins with a dot is half-written or put aside."""
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if not any(part.startswith(".") for part in relative.parts) and path.is_file():
            yield relative
