"""What was published about people's words: findings with what stands behind them, and words bound to nothing."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb

from beleg.core.errors import CheckFailed, UsageError
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.lake import publication
from beleg.lake.snapshot import Snapshot

Record = dict[str, Any]
_TABLES = ("bindings", "corrections", "feedback", "findings")


@dataclass(frozen=True)
class Shown:
    """A finding and what stands behind it."""

    finding: Record
    """The row of the table `findings`."""
    corrections: list[Record]
    """The corrections of its group, earliest first, with the run each counts for."""
    people: list[Record]
    """Person (fingerprint; None for those without a name) → inputs and corrections, most inputs first."""


@dataclass(frozen=True)
class Unbound:
    """A word that is bound to no run."""

    kind: str
    source: str
    event_id: str
    event_time: Any
    workflow: str | None
    tenant: str | None
    run_id: str | None
    """As the word names them."""
    input_hash: str | None
    output_hash: str | None
    reason: str
    """Why: a code that docs/corrections.md explains."""


@dataclass(frozen=True)
class WordCount:
    """How many words of a kind there are, and what became of them."""

    kind: str
    words: int
    bound: int
    ambiguous: int
    """Bound, but several runs fitted."""
    holding: int
    """Neither superseded nor rejected nor thought over."""
    unbound: Mapping[str, int]
    """Reason → words bound to nothing."""


def findings(settings: Settings, *, workflow: str | None = None, everything: bool = False) -> list[Record]:
    """Rows of the table `findings`: open and accepted findings, or `everything`; the most inputs first.

    Raises UsageError where nothing was published yet.
    """
    with _published(settings) as con:
        return _ask(con, "listed", workflow=workflow, everything=everything)


def show(settings: Settings, finding_id: str) -> Shown:
    """A finding by its id or the first digits of it; raises CheckFailed for none or several."""
    with _published(settings) as con:
        found = _ask(con, "one", finding_id=finding_id)
        if len(found) != 1:
            what = "no finding has" if not found else f"{len(found)} findings have"
            raise CheckFailed(f"{what} the id {finding_id!r}: `beleg findings --all` lists them")
        asked = {"finding_id": found[0]["finding_id"]}
        return Shown(found[0], _ask(con, "corrections", **asked), _ask(con, "people", **asked))


def members(settings: Settings, finding_id: str) -> list[str]:
    """Ids of the corrections that make up a finding and still hold; none for an id that no finding has."""
    with _published(settings) as con:
        found = _ask(con, "corrections", finding_id=finding_id)
    return sorted({row["correction_id"] for row in found if row["holds"]})


def unbound(settings: Settings, *, workflow: str | None = None) -> list[Unbound]:
    """Words that are bound to no run, latest first."""
    with _published(settings) as con:
        return [Unbound(**row) for row in _ask(con, "unbound", workflow=workflow)]


def spoken(settings: Settings) -> list[WordCount]:
    """How many words there are of each kind, and what became of them."""
    with _published(settings) as con:
        rows = _ask(con, "counts")
    return [_counted(kind, [row for row in rows if row["kind"] == kind]) for kind in sorted({r["kind"] for r in rows})]


def _counted(kind: str, rows: list[Record]) -> WordCount:
    words, bound, ambiguous, holding = (
        sum(row[name] for row in rows) for name in ("words", "bound", "ambiguous", "holding")
    )
    why = {row["unbound_reason"]: row["words"] for row in rows if row["unbound_reason"] is not None}
    return WordCount(kind, words, bound, ambiguous, holding, why)


@contextmanager
def _published(settings: Settings) -> Generator[duckdb.DuckDBPyConnection]:
    """A connection with views over what was published."""
    published = publication.current(settings)
    if published is None:
        msg = f"{settings.home} holds no figures yet: run `beleg ingest PATH` or `beleg run` first"
        raise UsageError(msg)
    lake = Snapshot.published(settings, published)
    with duckdb.connect(":memory:") as con:
        con.execute("SET TimeZone = 'UTC'")
        for name in _TABLES:
            con.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM {lake.relation(name)}")
        con.execute(f"CREATE TEMP VIEW said AS {query('beleg.evals.findings', 'said')}")
        yield con


def _ask(con: duckdb.DuckDBPyConnection, name: str, **parameters: Any) -> list[Record]:
    """Rows of a query as records."""
    result = con.execute(query("beleg.evals.findings", name), parameters)
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
