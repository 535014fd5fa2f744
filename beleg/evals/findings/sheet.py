"""Review sheets: a CSV of corrections. Good rows are taken, bad ones named; the same sheet again changes nothing."""

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from beleg.core.errors import DamagedError, UsageError
from beleg.evals.findings.saying import UNKNOWN, Desk, Word, value_of

COLUMNS = (*(f.name for f in fields(Word) if f.name not in {"rating", "said_at"}), "at")
"""What a sheet may hold; which run, field and reason are needed."""
_DELIMITERS = ",;\t"


class Refused(NamedTuple):
    """A row that was not taken."""

    line: int
    """Physical line it begins on, from 1."""
    reason: str
    """Never a value of the row."""


@dataclass(frozen=True)
class Taken:
    """What became of a sheet."""

    ids: tuple[str, ...]
    """Ids of the corrections, in the order of the sheet; rows that say the same share one."""
    refused: tuple[Refused, ...]
    unknown_runs: int
    """Taken rows whose run is not published yet: they are bound when it is."""


def take(desk: Desk, path: Path, *, as_text: bool = False) -> Taken:
    """Turn the rows of a sheet into corrections in the spool.

    A row's id is a digest of what it says, its time that of its column `at`, else of the file's last change: so
    the same file gives the same events. Raises UsageError for a file that is no sheet, DamagedError for one that
    cannot be read.
    """
    content, changed = _read(path)
    rows, refused = _words(content, changed, as_text=as_text)
    desk.look_up(word for _, word, _ in rows)
    ids: dict[str, bool] = {}
    for line, word, id_ in rows:
        try:
            if id_ not in ids:
                ids[desk.take(word, event_id=id_)] = desk.is_known(word)
        except UsageError as error:
            refused.append(Refused(line, str(error)))
    desk.write()
    return Taken(tuple(ids), tuple(sorted(refused)), sum(not known for known in ids.values()))


def _read(path: Path) -> tuple[str, datetime]:
    try:
        with path.open("rb") as file:
            data, changed = file.read(), path.stat().st_mtime
        return data.decode("utf-8-sig"), datetime.fromtimestamp(changed, UTC).replace(microsecond=0)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name} is no UTF-8 from byte {error.start + 1} on: save it as CSV in UTF-8") from error
    except OSError as error:
        raise DamagedError(f"{path}: {error.strerror or error}") from error


def _words(content: str, changed: datetime, *, as_text: bool) -> tuple[list[tuple[int, Word, str]], list[Refused]]:
    """(line, word, id) of the rows that can be read, and the others."""
    words: list[tuple[int, Word, str]] = []
    refused: list[Refused] = []
    for line, cells in _rows(content, refused):
        try:
            words.append((line, _word(cells, changed, as_text=as_text), _id(cells, as_text=as_text)))
        except UsageError as error:
            refused.append(Refused(line, str(error)))
    return words, refused


def _rows(content: str, refused: list[Refused]) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows as cells by column, empty ones left out; what is no row goes to `refused`."""
    first = content.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        head = _head(next(reader, []))
        line = reader.line_num + 1
        for cells in reader:
            at, line = line, reader.line_num + 1
            if len(cells) > len(head):
                refused.append(Refused(at, f"has {len(cells)} cells where the head has {len(head)}"))
            elif any(cell.strip() for cell in cells):
                yield at, {name: cell for name, cell in zip(head, cells, strict=False) if cell != ""}
    except csv.Error as error:
        refused.append(Refused(line, f"is no CSV ({error}); nothing from here on was read"))


def _head(cells: list[str]) -> list[str]:
    head = [cell.strip().lower() for cell in cells]
    if unknown := sorted(set(head) - set(COLUMNS)):
        raise UsageError(f"the sheet has a column {unknown[0]!r}; columns are {', '.join(COLUMNS)}")
    if len(set(head)) != len(head):
        raise UsageError("the sheet has a column twice")
    if missing := {"field", "reason"} - set(head):
        raise UsageError(f"the sheet has no column {min(missing)!r}; columns are {', '.join(COLUMNS)}")
    return head


def _word(cells: Mapping[str, str], changed: datetime, *, as_text: bool) -> Word:
    given: dict[str, Any] = {name: cell for name, cell in cells.items() if name not in {"at", "expected"}}
    given.setdefault("field", "")  # an empty cell is the whole result
    given["expected"] = value_of(cells["expected"], as_text=as_text) if "expected" in cells else UNKNOWN
    return Word(**given, said_at=_instant(cells["at"]) if "at" in cells else changed)


def _instant(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.utcoffset() is None or not 2000 <= moment.year < 2100:
        raise UsageError("at is no instant with a zone such as 2026-03-01T12:00:00Z")
    return moment


def _id(cells: Mapping[str, str], *, as_text: bool) -> str:
    """The same for rows that say the same, wherever they stand."""
    told = json.dumps([sorted(cells.items()), as_text], ensure_ascii=True)
    return f"sheet-{hashlib.sha256(told.encode()).hexdigest()[:32]}"
