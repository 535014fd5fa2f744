"""What a changed `models.yaml` would restate, before it is applied.

The query that prices steps runs once more with the changed prices, over the days that hold a call whose
prices differ; nothing is written.
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb

from beleg.core.contracts import mart_sql
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.cost.book import Call, PriceBook
from beleg.cost.modelfile import load_models
from beleg.cost.money import usd_text
from beleg.cost.policies import load_policies
from beleg.cost.register import price_values, register_calls
from beleg.lake import publication


@dataclass(frozen=True)
class Restatement:
    """Steps of one workflow and business day whose cost would change."""

    business_day: date
    workflow: str | None
    steps: int
    unpriced_before: int
    unpriced_after: int
    before_pico_usd: int
    after_pico_usd: int

    def record(self) -> dict[str, object]:
        """For machines: money as decimal text."""
        return {
            "business_day": self.business_day.isoformat(),
            "workflow": self.workflow,
            "steps": self.steps,
            "unpriced_before": self.unpriced_before,
            "unpriced_after": self.unpriced_after,
            "before_usd": usd_text(self.before_pico_usd),
            "after_usd": usd_text(self.after_pico_usd),
            "difference_usd": usd_text(self.after_pico_usd - self.before_pico_usd),
        }


def restated(con: duckdb.DuckDBPyConnection, settings: Settings, changed: Path) -> list[Restatement]:
    """What the changed file would restate of what is published; raises UsageError where the file is wrong."""
    current, planned = PriceBook(load_policies(settings).models), PriceBook(load_models(changed))
    calls = differing = _calls(con)
    if _is_published(settings, current):  # then the book tells which calls need no look
        differing = [call for call in calls if _prices(current, call) != _prices(planned, call)]
    if not differing:
        return []
    register_calls(con, planned, calls)
    con.execute("CREATE OR REPLACE TEMP TABLE differing (provider VARCHAR, model VARCHAR)")
    con.executemany("INSERT INTO differing VALUES (?, ?)", [[c.provider, c.model] for c in differing])
    con.execute(
        "CREATE OR REPLACE TEMP TABLE targets AS SELECT DISTINCT s.day FROM steps AS s INNER JOIN differing AS d "
        "ON s.provider IS NOT DISTINCT FROM d.provider AND s.model IS NOT DISTINCT FROM d.model"
    )
    con.execute(f"CREATE OR REPLACE TEMP TABLE repriced AS {mart_sql('step_costs')}")
    rows = con.execute(query("beleg.cost", "restated"), {"timezone": settings.timezone}).fetchall()
    return [
        Restatement(day, workflow, steps, unpriced_before, unpriced_after, int(before), int(after))
        for day, workflow, steps, unpriced_before, unpriced_after, before, after in rows
    ]


def _is_published(settings: Settings, book: PriceBook) -> bool:
    """Whether the published costs were made with this book: the file may have been changed since."""
    now = publication.current(settings)
    return now is not None and now.inputs.get("prices") == book.digest


def _calls(con: duckdb.DuckDBPyConnection) -> list[Call]:
    rows = con.execute("SELECT DISTINCT provider, model, service_tier, batch FROM steps ORDER BY ALL").fetchall()
    return [Call(*row) for row in rows]


def _prices(book: PriceBook, call: Call) -> object:
    """Everything about a call's prices but the name of their key."""
    found = book.resolve(call)
    if found.price_key is None or found.unpriced_reason is not None:
        return found.unpriced_reason
    return [price_values(row)[1:] for row in book.rows(found.price_key)]
