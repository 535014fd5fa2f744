"""How every command shows its answer: a table for people, plain text in a pipe, JSON and CSV for machines."""

import csv
import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from rich.box import HEAVY_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

JSON_HELP = "Print JSON for machines: money as decimal strings, unknown as null."
CSV_HELP = "Print CSV with a header, safe to open in a spreadsheet; unknown is empty."
_PIPE_COLUMNS = 10_000
"""A pipe has no width: one row stays one line."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FORMULA = re.compile(r"[=@\t\r]|[-+](?!\d+(\.\d+)?\Z)")
"""How a formula begins; a number with a sign is none."""
_COLUMN_WIDTH = 10
"""Narrower than this on average a column is no longer read but deciphered."""


class _Console(Console):
    """Prints texts as they are: a name from an event is neither markup nor a command to the terminal."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(printable(o) if isinstance(o, str) else o for o in objects), **options)


def console(*, stderr: bool = False) -> Console:
    """A console that respects NO_COLOR and is plain where no terminal reads it."""
    width = None if (sys.stderr if stderr else sys.stdout).isatty() else _PIPE_COLUMNS
    return _Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)


def printable(value: object) -> str:
    """A value as text without control characters; unknown is a dash, never zero."""
    return "—" if value is None else _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", str(value))


def print_json(value: Any) -> None:
    """Print a value as one JSON document."""
    sys.stdout.write(json_text(value))


def json_text(value: Any) -> str:
    """A value as one JSON document that ends in a newline."""
    return json.dumps(_finite(value), indent=2, ensure_ascii=False, default=_plain, allow_nan=False) + "\n"


def print_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Print rows as CSV, nulls empty; a text that a spreadsheet would take for a formula gets a `'` before it."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([["" if row[c] is None else _cell(_plain(row[c])) for c in columns] for row in rows])


def _cell(value: Any) -> Any:
    """Names come from events: one such as `=HYPERLINK(…)` must stay a text wherever the file is opened."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def show_rows(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, numbers: Sequence[str] = ()
) -> None:
    """Print rows as a table that folds in a narrow terminal, or one below the other where folding is not enough."""
    out = console()
    made = table(title, columns, rows, numbers=numbers)
    natural = Measurement.get(out, out.options.update(max_width=_PIPE_COLUMNS), made).maximum
    if natural <= out.width or len(columns) * _COLUMN_WIDTH <= out.width:
        out.print(made)
        return
    if title:
        out.print(title, style="bold")
    out.print(records(columns, rows))


def records(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Rows one below the other, a line a column, for rows wider than a screen; numbered where there are several."""
    made = Table.grid(padding=(0, 2))
    for _ in range(2):
        made.add_column(overflow="fold")
    for number, row in enumerate(rows, start=1):
        if len(rows) > 1:
            made.add_row(Text(f"row {number}", style="bold"), "")
        for name, cell in zip(columns, row, strict=True):
            made.add_row(f"  {name}", Text(printable(cell)))
    return made


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, numbers: Sequence[str] = ()) -> Table:
    """A table whose number columns are right-aligned; unknown is shown as a dash, never as zero."""
    box = HEAVY_HEAD if sys.stdout.isatty() else None
    made = Table(
        title=Text(printable(title)) if title else None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=box,
    )
    for name in columns:
        made.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(printable(cell)) for cell in row))
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, int | float | str | bool) else str(value)


def _finite(value: Any) -> Any:
    """The value with null where JSON has no number for it (NaN, infinity)."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value
