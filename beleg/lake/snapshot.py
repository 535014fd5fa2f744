"""A snapshot: every table at one version, as relations over exact files."""

from collections.abc import Iterable, Mapping

from beleg.core import contracts
from beleg.core.settings import Settings
from beleg.lake.publication import Publication
from beleg.lake.table import DataFile, LakeTable


class Snapshot:
    """The lake at fixed versions. Tables the versions do not name are empty."""

    def __init__(self, tables: Mapping[str, LakeTable], versions: Mapping[str, int]) -> None:
        self.versions = dict(versions)
        self._tables = tables
        self._files: dict[str, list[DataFile]] = {}

    @classmethod
    def latest(cls, settings: Settings) -> "Snapshot":
        """Every table at its latest committed version, published or not."""
        tables = _tables(settings)
        versions = {name: table.version() for name, table in tables.items()}
        return cls(tables, {name: version for name, version in versions.items() if version is not None})

    @classmethod
    def published(cls, settings: Settings, publication: Publication | None) -> "Snapshot":
        """What readers see; empty before the first publication."""
        return cls(_tables(settings), {} if publication is None else publication.tables)

    def at(self, publication: Publication | None) -> "Snapshot":
        """The same tables, already open, as a publication names them."""
        return Snapshot(self._tables, {} if publication is None else publication.tables)

    def table(self, name: str) -> LakeTable:
        """The table of that name."""
        return self._tables[name]

    def files(self, name: str, partitions: Iterable[str] | None = None) -> list[DataFile]:
        """Files of a table, of all partitions or of those named."""
        if name not in self._files:
            version = self.versions.get(name)
            self._files[name] = [] if version is None else self.table(name).files(version)
        found = self._files[name]
        if partitions is None:
            return found
        wanted = set(partitions)
        return [f for f in found if f.partition in wanted]

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
        self._files.pop(name, None)

    def changed(self, other: "Snapshot", name: str) -> set[str]:
        """Partitions whose files differ between the two snapshots."""
        if self.versions.get(name) == other.versions.get(name):
            return set()
        mine, theirs = ({(f.partition, f.path) for f in s.files(name)} for s in (self, other))
        return {partition for partition, _ in mine ^ theirs if partition is not None}


def _tables(settings: Settings) -> dict[str, LakeTable]:
    return {name: LakeTable(settings, name) for name in contracts.names()}
