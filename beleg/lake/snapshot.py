"""A snapshot: every table at one version, as relations over exact files."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from beleg.core import contracts
from beleg.core.settings import Settings
from beleg.lake.publication import Publication
from beleg.lake.table import DataFile, LakeTable


class Snapshot:
    """The lake at fixed versions. Tables the versions do not name are empty."""

    def __init__(self, tables: Mapping[str, LakeTable], versions: Mapping[str, int]) -> None:
        self.versions = dict(versions)
        self._tables = tables

    @classmethod
    def latest(cls, settings: Settings) -> "Snapshot":
        """Every table at its latest committed version, published or not."""
        return cls(_tables(settings), {}).newest()

    @classmethod
    def published(cls, settings: Settings, publication: Publication | None) -> "Snapshot":
        """What readers see; empty before the first publication."""
        return cls(_tables(settings), {} if publication is None else publication.tables)

    def newest(self) -> "Snapshot":
        """The same tables, already open, at their latest committed versions."""
        with ThreadPoolExecutor() as pool:  # the logs are read without Python's lock
            versions = dict(zip(self._tables, pool.map(LakeTable.version, self._tables.values()), strict=True))
        return Snapshot(self._tables, {name: version for name, version in versions.items() if version is not None})

    def at(self, publication: Publication | None) -> "Snapshot":
        """The same tables, already open, as a publication names them."""
        return Snapshot(self._tables, {} if publication is None else publication.tables)

    def table(self, name: str) -> LakeTable:
        """The table of that name."""
        return self._tables[name]

    def files(self, name: str, partitions: Iterable[str] | None = None) -> list[DataFile]:
        """Files of a table, of all partitions or of those named."""
        version = self.versions.get(name)
        if version is None:
            return []
        table = self.table(name)
        return table.files(version) if partitions is None else table.files_in(version, partitions)

    def partitions(self, name: str) -> set[str]:
        """Partitions of a table that hold a file."""
        return {f.partition for f in self.files(name) if f.partition is not None}

    def rows(self, name: str, partitions: Iterable[str] | None = None) -> int:
        """Rows of a table, of all partitions or of those named, as its log counts them."""
        return sum(f.rows for f in self.files(name, partitions))

    def relation(self, name: str, partitions: Iterable[str] | None = None) -> str:
        """SQL of a relation over a table, of all partitions or of those named."""
        return self.table(name).relation(self.files(name, partitions))

    def advance(self, name: str, version: int) -> None:
        """See a table at a later version."""
        self.versions[name] = version

    def changed(self, other: "Snapshot", name: str) -> set[str]:
        """Partitions whose files differ between the two snapshots."""
        if self.versions.get(name) == other.versions.get(name):
            return set()
        mine, theirs = ({f.path: f.partition for f in s.files(name)} for s in (self, other))
        only = [mine[path] for path in mine.keys() - theirs.keys()]
        only += [theirs[path] for path in theirs.keys() - mine.keys()]
        return {partition for partition in only if partition is not None}


def _tables(settings: Settings) -> dict[str, LakeTable]:
    return {name: LakeTable(settings, name) for name in contracts.names()}
