"""A CSV of answers: one row per answer, or one column per variant.

Columns: `case_id` or `input_ref`; `answer` (or the column that --variant names); optional `repetition`,
`input_hash`, `latency_ms`, `input_tokens`, `output_tokens`, `cost_usd`, `answered_at`. An empty answer, or n/a,
was not run.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from beleg.core.errors import UsageError
from beleg.evals.exchange import rows
from beleg.evals.exchange.rows import Row
from beleg.evals.scoring.receipt import Receipt

ANSWER = "answer"
MOST_CHARS = 4_000_000
"""Most characters of a cell."""


def read(path: Path, variant: str | None) -> list[Row]:
    """The rows; raises DamagedError with the line for a file that is no such CSV."""
    try:
        text = rows.content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise rows.wrong(path.name, f"byte {error.start}", "no UTF-8: save it as UTF-8") from error
    before = csv.field_size_limit(MOST_CHARS)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        column = _column(reader.fieldnames or (), variant, path.name)
        return [_row(raw, column, path.name, reader.line_num) for raw in reader]
    except csv.Error as error:
        raise rows.wrong(path.name, f"line {reader.reader.line_num}", str(error)) from error
    finally:
        csv.field_size_limit(before)


def _column(names: Sequence[str], variant: str | None, name: str) -> str:
    column = variant or ANSWER
    if column not in names:
        shown = ", ".join(names)[:300] or "none"
        raise UsageError(f"{name} has no column {column!r}; its columns: {shown}. Choose one with --variant")
    if len(set(names)) != len(names):
        raise rows.wrong(name, "line 1", "a column stands there twice")
    if not {"case_id", "input_ref"} & set(names):
        raise UsageError(f"{name} has neither case_id nor input_ref: nothing tells which case a row belongs to")
    return column


def _row(raw: Mapping[str, str | None], column: str, name: str, line: int) -> Row:
    place = f"line {line}"
    if None in raw or None in raw.values():
        raise rows.wrong(name, place, "it has more or fewer cells than the header")
    keys = rows.texts(raw.get("case_id"), raw.get("input_ref"))
    if not keys:
        raise rows.wrong(name, place, "case_id and input_ref are both empty")
    answer = raw[column]
    numbers = {
        each: _number(raw, each, name, place) for each in ("repetition", "latency_ms", "input_tokens", "output_tokens")
    }
    cost = raw.get("cost_usd") or None
    if cost is not None and rows.pico_usd(cost) is None:
        raise rows.wrong(name, place, "cost_usd is no amount")
    at = raw.get("answered_at") or None
    if at is not None and rows.instant(at) is None:
        raise rows.wrong(name, place, "answered_at is no instant with an offset, as 2026-03-01T12:00:00Z")
    took = Receipt(None, numbers["latency_ms"], numbers["input_tokens"], numbers["output_tokens"], rows.pico_usd(cost))
    return Row(
        place,
        keys,
        None if rows.empty(answer) else answer,
        repetition=numbers["repetition"],
        input_hash=raw.get("input_hash") or None,
        took=took,
        at=rows.instant(at),
    )


def _number(raw: Mapping[str, str | None], column: str, name: str, place: str) -> int | None:
    text = (raw.get(column) or "").strip()
    if text and not (text.isascii() and text.isdecimal() and len(text) <= 15):
        raise rows.wrong(name, place, f"{column} is no whole number")
    return int(text) if text else None
