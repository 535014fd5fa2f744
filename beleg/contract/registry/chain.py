"""A history as far as it can be read: for `verify`, which tells every break and not only the first."""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from beleg.contract.registry.fields import Fields, parse
from beleg.contract.registry.records import Entry
from beleg.contract.registry.shelf import Shelf, entry_path, read
from beleg.core.errors import DamagedError


@dataclass
class Chain:
    """Entries in order, and what is wrong with them, each with the file where it is."""

    epoch: int = 0
    """Of the head; 0 where there is none."""
    entries: list[Entry] = field(default_factory=list)
    problems: list[tuple[Path, str]] = field(default_factory=list)


def read_chain(shelf: Shelf) -> Chain:
    """Read head and history of a folder; damage becomes problems."""
    chain = Chain()
    head = shelf.folder / "head.json"
    named: str | None = None
    try:
        shelf.head()
    except DamagedError as error:
        chain.problems.append((head, str(error)))
    try:
        data = read(head, f"{shelf.name}/head.json")
        if data is not None:
            fields = Fields(parse(data, "head.json"), "head.json")
            chain.epoch, named = fields.count("epoch"), fields.sha("entry")
    except DamagedError:
        chain.epoch = _last_epoch(shelf)
    _links(shelf, chain, named)
    return chain


def _last_epoch(shelf: Shelf) -> int:
    """Without a head that can be read, the files are all there is to go by."""
    numbers = [path.stem for path in (shelf.folder / "history").glob("*.json")]
    return max((int(each) for each in numbers if len(each) == 8 and each.isascii() and each.isdecimal()), default=0)


def _links(shelf: Shelf, chain: Chain, named: str | None) -> None:
    """From the head back: each entry must be the one that the next names."""
    for epoch in range(chain.epoch, 0, -1):
        path = entry_path(shelf.folder, epoch)
        entry, problem = _entry(path, epoch, named)
        if problem is not None:
            chain.problems.append((path, problem))
        named = None if entry is None else entry.previous
        if entry is not None:
            chain.entries.insert(0, entry)
    if named is not None:
        chain.problems.append((entry_path(shelf.folder, 1), "the first entry names one before it"))


def _entry(path: Path, epoch: int, named: str | None) -> tuple[Entry | None, str | None]:
    try:
        data = read(path, f"history/{path.name}")
        if data is None:
            return None, "the entry is missing"
        entry = Entry.from_bytes(data, f"history/{path.name}")
    except DamagedError as error:
        return None, str(error)
    if named is not None and sha256(data).hexdigest() != named:
        return entry, "the entry is not the one that the next entry (or the head) names"
    if epoch > 1 and entry.previous is None:
        return entry, "the entry names none before it"
    if entry.epoch != epoch or entry.head.get("epoch") != epoch:
        return entry, f"the entry is of epoch {entry.epoch}"
    return entry, None
