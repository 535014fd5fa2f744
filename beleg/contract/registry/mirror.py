"""Pushes a registry to where readers find it: any file system that fsspec knows, or another folder.

In the order in which it was committed: tools, releases, history, and the heads last. A push that is cut off
leaves the old heads, whose versions are all there; the same push again goes on. Two pushes from one registry
wait for each other; a mirror has one registry, and one that holds another history is refused.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from beleg.contract.encoding import encode
from beleg.contract.registry import catalogue
from beleg.contract.registry.fields import Fields, parse
from beleg.contract.registry.registry import Registry
from beleg.contract.registry.shelf import FIRST, Shelf, entry_path, explained, put
from beleg.core.errors import CheckFailed, DamagedError, UsageError


class Diverged(CheckFailed):
    """The mirror holds a history that is not this registry's, or is ahead of it; nothing was overwritten."""


@dataclass(frozen=True)
class Pushed:
    """What a push did."""

    files: int
    bytes: int
    heads: int
    """Features and workflows whose head moved."""


def push(registry: Registry, dest_url: str) -> Pushed:
    """Bring a mirror up to date. Raises Diverged, DamagedError for either side, UsageError for a bad address."""
    from beleg.core.lock import folder_writer  # noqa: PLC0415 - readers on Windows have no such lock

    place = Place(dest_url)
    with explained(registry.root), folder_writer(registry.root):
        shelves = [Shelf(path.parent) for path in sorted(registry.root.glob("*/*/head.json"))]
        plans = [plan for shelf in shelves if (plan := _plan(shelf, place)) is not None]
        files = [*_tools(registry), *(each for files, _ in plans for each in files), *_indexes(registry)]
        heads = [head for _, head in plans]
        firsts = [f"{head.name.rpartition('/')[0]}/{FIRST}" for head in heads if place.get(head.name) is None]
        for name in firsts:
            place.send(File(name, b"", fixed=False))
        sent = [len(each.data) for each in (*files, *heads) if place.send(each)]
        for name in firsts:
            place.remove(name)
    return Pushed(len(sent), sum(sent), len(heads))


@dataclass(frozen=True)
class File:
    """One file on its way."""

    name: str
    """Below the root."""
    data: bytes
    fixed: bool
    """Whether it never changes: then a file of its name is not sent again."""


def _plan(shelf: Shelf, place: "Place") -> tuple[list[File], File] | None:
    """What a shelf still has to send, and its head; None where the mirror has it all.

    All of it as of one head: a publisher may be at work meanwhile.
    """
    head = shelf.head()
    if head is None:
        return None
    entries = shelf.history(head)
    epoch = _common(shelf, [*(entry.previous for entry in entries[1:]), head["entry"]], place)
    if epoch == head["epoch"]:
        return None
    new = [entry for entry in entries if entry.epoch > epoch]
    shas = sorted({sha for entry in new for sha in entry.releases()})
    files = [File(f"{shelf.name}/releases/{sha}.json", shelf.release(sha), True) for sha in shas]
    paths = [entry_path(shelf.folder, entry.epoch) for entry in new]
    files += [File(f"{shelf.name}/history/{path.name}", path.read_bytes(), False) for path in paths]
    return files, File(f"{shelf.name}/head.json", encode(head) + b"\n", False)


def _common(shelf: Shelf, links: list[str | None], place: "Place") -> int:
    """The mirror's epoch, whose entry must be this registry's; 0 where it has none."""
    name = f"{shelf.name}/head.json"
    there = place.get(name)
    if there is None:
        return 0
    told = f"{place.url}/{name}"
    fields = Fields(parse(there, told), told)
    epoch, sha = fields.count("epoch"), fields.sha("entry")
    if epoch > len(links) or links[epoch - 1] != sha:
        raise Diverged(f"{told} is at epoch {epoch} of another history; push into an empty place, or from its registry")
    return int(epoch)


def _tools(registry: Registry) -> Iterator[File]:
    for path in catalogue.paths(registry.root / "tools"):
        catalogue.entry(path)
        yield File(path.relative_to(registry.root).as_posix(), path.read_bytes(), True)


def _indexes(registry: Registry) -> Iterator[File]:
    for path in sorted((registry.root / "prompts").glob("*/features.json")):
        registry.index(path.parent.name)
        yield File(path.relative_to(registry.root).as_posix(), path.read_bytes(), False)


class Place:
    """Where a mirror lies."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            import fsspec  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise UsageError(f"{url!r} needs fsspec: pip install 'beleg[s3]' and the store's own package") from error
        try:
            self._fs, root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise UsageError(f"{url!r} is no place that fsspec can reach: {error}") from error
        self._root = str(root).rstrip("/")
        self._local = "file" in ([self._fs.protocol] if isinstance(self._fs.protocol, str) else self._fs.protocol)

    def get(self, name: str) -> bytes | None:
        """A file's bytes; None where there is none."""
        with self._told():
            self._fs.invalidate_cache()
            try:
                return bytes(self._fs.cat_file(f"{self._root}/{name}"))
            except FileNotFoundError:
                return None

    def send(self, file: File) -> bool:
        """Make a file appear whole; False where it was there. Object stores swap whole files by themselves."""
        path = f"{self._root}/{file.name}"
        if file.fixed and (there := self.get(file.name)) is not None:
            if there == file.data:
                return False
            if self._local or len(there) == len(file.data):
                raise Diverged(f"{self.url}/{file.name} has other content than here; such a file never changes")
        with self._told():
            if self._local:
                put(Path(path), file.data)
            else:
                self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
                self._fs.pipe_file(path, file.data)
        return True

    def remove(self, name: str) -> None:
        """Take a file away; one that is gone already is no error."""
        with self._told(), suppress(FileNotFoundError):
            self._fs.rm_file(f"{self._root}/{name}")

    @contextmanager
    def _told(self) -> Generator[None]:
        try:
            yield
        except Exception as error:
            todo = "mend that and push again: it goes on where it stopped"
            raise DamagedError(f"{self.url} cannot be read or written: {error}; {todo}") from error
