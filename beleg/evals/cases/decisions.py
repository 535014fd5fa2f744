"""What people decided about corrections, findings and cases, as the lake knows it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import duckdb

from beleg.core.sql import query
from beleg.evals.cases.case import Acceptance
from beleg.lake.snapshot import Snapshot

Verdict = Literal["accept", "reject", "retire"]
CRITICAL, FAMILY, SETTLES, SLICE = "critical", "family", "settles", "slice."
"""Labels of a `review`: what the case is to be beside what the correction says."""
KIND, FINDING = "kind", "finding"
"""Labels of a `review`: what its subject is, where it is no correction; the finding that a correction belongs to."""


@dataclass(frozen=True)
class Decision:
    """The last word on a subject."""

    verdict: Verdict
    acceptance: Acceptance
    labels: Mapping[str, str]
    """Of all acceptances since it was last turned down, the later over the earlier."""
    reviews: tuple[str, ...]
    """Event ids of all that was decided about it."""

    @property
    def slices(self) -> dict[str, str]:
        """Slice tags that people gave."""
        return {name.removeprefix(SLICE): value for name, value in self.labels.items() if name.startswith(SLICE)}


def decisions(
    con: duckdb.DuckDBPyConnection, lake: Snapshot, subjects: Iterable[str] | None = None
) -> dict[str, Decision]:
    """Subject → the last word on it, of all subjects or some."""
    con.execute(f"CREATE OR REPLACE TEMP VIEW reviews AS SELECT * FROM {lake.relation('reviews')}")
    bound = {"subjects": None if subjects is None else sorted(set(subjects))}
    found: dict[str, Decision] = {}
    for row in records(con, query("beleg.evals.cases", "decisions"), bound):
        before = found.get(row["subject"])
        goes_on = before is not None and before.verdict == "accept" == row["decision"]
        labels = {**(before.labels if before and goes_on else {}), **(row["labels"] or {})}
        told = Acceptance(row["by"], row["why"], row["at"], row["event_id"])
        reviews = (*(before.reviews if before else ()), row["event_id"])
        found[row["subject"]] = Decision(row["decision"], told, labels, reviews)
    return found


def records(con: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of a query as records."""
    result = con.execute(sql, dict(parameters))
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
