"""The unit-cost query over a year of runs: through the view, by hand over the same files, and from the mart."""

from collections.abc import Callable
from pathlib import Path

import duckdb

from beleg.lake import catalog, publication
from beleg.lake.snapshot import Snapshot
from benchmarks.timing import in_turn
from benchmarks.year import Shape, build

BASE = """
SELECT CAST(started_at AS DATE) AS day, workflow, sum(cost_pico_usd) AS cost, count(*) AS runs
FROM {runs} WHERE purpose = 'production' GROUP BY ALL
"""
MART = """
SELECT business_day AS day, workflow, sum(cost_pico_usd) AS cost, sum(runs) AS runs
FROM unit_costs WHERE purpose = 'production' GROUP BY ALL
"""


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about queries."""
    shape = Shape(365, 2_740 if quick else 27_400)
    say(f"queries: a year of {shape.days * shape.runs_per_day:,} runs")
    settings = build(work / f"year-{shape.runs_per_day}", shape, say)
    lake = Snapshot.published(settings, publication.current(settings))
    by_hand = duckdb.connect(config={"threads": 2})
    by_hand.execute("SET TimeZone = 'UTC'")
    hand_sql = BASE.format(runs=lake.relation("run_costs"))
    with catalog.connect(settings) as con:
        view_sql = BASE.format(runs="run_costs")
        _same(con, view_sql, MART)
        view = in_turn(lambda: con.execute(view_sql).fetchall(), lambda: by_hand.execute(hand_sql).fetchall(), 9)
        mart = in_turn(lambda: con.execute(MART).fetchall(), lambda: con.execute(view_sql).fetchall(), 9)
    runs = f"{shape.days * shape.runs_per_day:,} runs"
    return [
        (
            f"unit-cost query through the view, {runs}",
            "hand-written DuckDB over the same files",
            1.2,
            1.05,
            "×",
            round(view.median, 2),
            f"[{view.low:.2f}, {view.high:.2f}] {view.subject_s * 1000:.0f} ms against {view.limit_s * 1000:.0f} ms",
        ),
        (
            "the same from the mart",
            "the base aggregate",
            0.15,
            0.05,
            "×",
            round(mart.median, 3),
            f"[{mart.low:.3f}, {mart.high:.3f}] {mart.subject_s * 1000:.1f} ms against {mart.limit_s * 1000:.0f} ms",
        ),
    ]


def _same(con: duckdb.DuckDBPyConnection, one: str, other: str) -> None:
    """Both queries must give the same rows, or their times say nothing."""
    rows = [sorted(con.execute(sql).fetchall()) for sql in (one, other)]
    if rows[0] != rows[1]:
        msg = f"the mart differs from the base: {rows[0][:2]} against {rows[1][:2]}"
        raise AssertionError(msg)
