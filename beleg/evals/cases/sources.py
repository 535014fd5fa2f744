"""What the lake knows about accepted corrections: each becomes a claim about an input, or says why it cannot."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.evals.cases.case import Acceptance
from beleg.evals.cases.claims import Claim
from beleg.evals.cases.decisions import KIND, decisions, records
from beleg.evals.cases.pending import Pending
from beleg.evals.cases.reader import Reader, Row, Started
from beleg.lake.engine import connect
from beleg.lake.snapshot import Snapshot

_PACKAGE = "beleg.evals.cases"


@dataclass(frozen=True)
class Known:
    """Everything about decisions that freezing needs."""

    claims: tuple[Claim, ...]
    withdrawn: Mapping[str, Acceptance]
    """Correction that counts no longer → the word of the person who turned it down, or accepted another instead."""
    pending: tuple[Pending, ...]
    reviews: frozenset[str]
    """Event ids of the decisions about claims and what is withdrawn."""

    @property
    def answered(self) -> frozenset[str]:
        """Corrections of which the lake can tell what they come to."""
        return frozenset({claim.correction for claim in self.claims} | self.withdrawn.keys())


def read(settings: Settings, project: Path) -> Known:
    """Read the latest versions of the lake. Raises UsageError for a feature or policy file that is wrong."""
    lake = Snapshot.latest(settings)
    with connect(settings.home / "scratch") as con:
        decided = {one: each for one, each in decisions(con, lake).items() if KIND not in each.labels}
        said = corrections(con, lake, decided)
        instead = replaced(said, {one for one, decision in decided.items() if decision.verdict == "accept"})
        withdrawn = {one: decided[by].acceptance for one, by in instead.items()}
        withdrawn |= {one: each.acceptance for one, each in decided.items() if each.verdict != "accept"}
        accepted = {one: each for one, each in decided.items() if each.verdict == "accept" and one not in withdrawn}
        bound = bound_runs(con, lake, accepted)
        reader = Reader(settings, project, said, bound, _started(con, lake, bound))
        claims, pending = reader.claims(accepted)
    answered = {*(claim.correction for claim in claims), *withdrawn}
    reviews = frozenset(id_ for one in answered & decided.keys() for id_ in decided[one].reviews)
    return Known(tuple(claims), withdrawn, tuple(pending), reviews)


def corrections(con: duckdb.DuckDBPyConnection, lake: Snapshot, ids: Iterable[str]) -> dict[str, list[Row]]:
    """correction_id → its reports, by source; of those asked for, and of all that replace another."""
    con.execute(f"CREATE OR REPLACE TEMP VIEW corrections AS SELECT * FROM {lake.relation('corrections')}")
    found: dict[str, list[Row]] = {}
    for row in records(con, query(_PACKAGE, "corrections"), {"ids": sorted(ids)}):
        found.setdefault(row["correction_id"], []).append(row)
    return found


def replaced(said: Mapping[str, list[Row]], accepted: set[str]) -> dict[str, str]:
    """Correction → accepted correction in its place, over any chain of corrections that name each other.

    As in the mart `bindings`, the earlier of two never replaces the later, and two that name each other at the
    same instant replace neither.
    """
    first = {one: rows[0] for one, rows in said.items()}
    found: dict[str, set[str]] = {}
    for one in accepted & first.keys():
        seen, at = {one}, one
        while (before := first[at]["supersedes"]) in first and before not in seen and _is_later(first, at, before):
            found.setdefault(before, set()).add(one)
            seen.add(before)
            at = before
    return {one: max(by, key=lambda each: (first[each]["at"], each)) for one, by in found.items()}


def _is_later(first: Mapping[str, Row], one: str, before: str) -> bool:
    mutual = first[before]["supersedes"] == one
    return bool(first[one]["at"] > first[before]["at"] or (first[one]["at"] == first[before]["at"] and not mutual))


def bound_runs(con: duckdb.DuckDBPyConnection, lake: Snapshot, ids: Iterable[str]) -> dict[str, list[Row]]:
    """correction_id → the runs that the mart `bindings` gives it, the one that counts last."""
    con.execute(f"CREATE OR REPLACE TEMP VIEW bindings AS SELECT * FROM {lake.relation('bindings')}")
    bound: dict[str, list[Row]] = {}
    for row in records(con, query(_PACKAGE, "bound"), {"ids": sorted(ids)}):
        bound.setdefault(row["correction_id"], []).append(row)
    return bound


def _started(con: duckdb.DuckDBPyConnection, lake: Snapshot, bound: Mapping[str, list[Row]]) -> dict[str, Started]:
    """run_id → what its start tells."""
    runs = [row for rows in bound.values() for row in rows if row["run_id"] is not None]
    days = {row["run_day"].isoformat() for row in runs}
    con.execute(f"CREATE OR REPLACE TEMP VIEW runs_started AS SELECT * FROM {lake.relation('runs_started', days)}")
    found = records(con, query(_PACKAGE, "started"), {"ids": sorted({row["run_id"] for row in runs})})
    return {row["run_id"]: Started(row["labels"] or {}, row["input_key"], row["canon_version"]) for row in found}


def undecided(settings: Settings, *, limit: int) -> list[Row]:
    """Corrections that stand and that nobody decided on, the newest first, as the mart `bindings` knows them."""
    lake = Snapshot.latest(settings)
    with connect(settings.home / "scratch") as con:
        con.execute(f"CREATE OR REPLACE TEMP VIEW bindings AS SELECT * FROM {lake.relation('bindings')}")
        return records(con, query(_PACKAGE, "undecided"), {"limit": limit})
