"""Who asks, and the books that the example's tools work on."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from beleg.core.errors import UsageError

Row = dict[str, Any]


@dataclass(frozen=True)
class User:
    """The person who is signed in."""

    role: Literal["owner", "tax_adviser"] = "owner"


@dataclass(frozen=True)
class Company:
    """What is known of the company whose books are open."""

    is_incorporated: bool = False
    is_founding: bool = False
    is_new: bool = True
    """Its first registration for taxes is not through yet."""
    has_employees: bool = False


class Books:
    """The company's records by kind: nothing but rows, so that the recipe is about tools."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Row]] = {}
        self._numbers = itertools.count(1)

    def add(self, kind: str, values: Mapping[str, Any]) -> Row:
        """A new row with an id of its own; what is None is left out."""
        row = {"id": f"{kind}-{next(self._numbers)}", **_known(values)}
        self._rows.setdefault(kind, {})[row["id"]] = row
        return dict(row)

    def one(self, kind: str, row_id: str) -> Row:
        """A row; raises UsageError where there is none."""
        row = self._rows.get(kind, {}).get(row_id)
        if row is None:
            raise UsageError(f"there is no {kind} {row_id!r}")
        return dict(row)

    def change(self, kind: str, row_id: str, values: Mapping[str, Any]) -> Row:
        """The row with the values that are not None in place of its own."""
        self._rows[kind][row_id] = {**self.one(kind, row_id), **_known(values)}
        return self.one(kind, row_id)

    def find(self, kind: str, values: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows in which every value that is not None stands, in the order they came."""
        wanted = _known(values or {}).items()
        return [dict(row) for row in self._all(kind) if wanted <= row.items()]

    def total(self, kind: str, name: str) -> int:
        """The sum of a column."""
        return sum(row.get(name, 0) for row in self._all(kind))

    def _all(self, kind: str) -> Iterator[Row]:
        yield from self._rows.get(kind, {}).values()


def _known(values: Mapping[str, Any]) -> Row:
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Context:
    """What decides on the tools of a request, and what they work on."""

    user: User = field(default_factory=User)
    company: Company = field(default_factory=Company)
    books: Books = field(default_factory=Books, compare=False)
