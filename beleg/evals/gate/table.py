"""The tables `eval_scores` and `gate_reports`, for analysts: what versions scored, and what the gate found.

The next publication shows them. Both are made anew from what is true elsewhere: results in the lake, evidence files.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from beleg.contract import draft, evidence
from beleg.contract.evidence import Evidence
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.lake.engine import connect
from beleg.lake.exclusive import exclusive
from beleg.lake.snapshot import Snapshot
from beleg.lake.table import arrow_schema

SCORES, REPORTS = "eval_scores", "gate_reports"


def tabulate(settings: Settings) -> dict[str, int]:
    """Bring both tables up to date; table → rows.

    Holds the writer lock; commits nothing where nothing changed. Raises DamagedError for evidence that cannot be read.
    """
    with exclusive(settings), connect(settings.home / "scratch") as con:
        lake = Snapshot.latest(settings)
        con.execute(f"CREATE TEMP VIEW eval_results AS SELECT * FROM {lake.relation('eval_results')}")
        con.execute(f"CREATE TEMP TABLE {SCORES}_now AS {query('beleg.evals.gate', SCORES)}")
        found = [] if settings.project is None else list(_reports(settings.project))
        con.register("found", pa.Table.from_pylist(found, schema=arrow_schema(lake.table(REPORTS).contract)))
        con.execute(f"CREATE TEMP TABLE {REPORTS}_now AS SELECT * FROM found")
        return {name: _bring_up(con, lake, name) for name in (SCORES, REPORTS)}


def _bring_up(con: duckdb.DuckDBPyConnection, lake: Snapshot, name: str) -> int:
    now, there = f"SELECT * FROM {name}_now", f"SELECT * FROM {lake.relation(name)}"
    differs = f"(({now}) EXCEPT ({there})) UNION ALL (({there}) EXCEPT ({now}))"
    if con.execute(f"SELECT 1 FROM ({differs}) LIMIT 1").fetchall():
        table = lake.table(name)
        table.commit(table.write(con, now), lake.files(name), note=name)
    return int(con.execute(f"SELECT count(*) FROM {name}_now").fetchall()[0][0])


def _reports(project: Path) -> Iterator[dict[str, Any]]:
    for feature in draft.features(project):
        for path in sorted((feature.folder / "evidence").glob("*.json")):
            yield _row(evidence.read(path))


def _row(found: Evidence) -> dict[str, Any]:
    by_verdict = {
        verdict: [each.name for each in found.criteria if each.verdict == verdict]
        for verdict in ("fail", "inconclusive")
    }
    return {
        "feature": found.feature,
        "candidate_digest": found.candidate_digest,
        "baseline_digest": found.baseline_digest,
        "baseline_version": found.baseline_version,
        "verdict": found.verdict,
        "failed_criteria": by_verdict["fail"],
        "inconclusive_criteria": by_verdict["inconclusive"],
        "cases": found.cases,
        "missing": found.missing,
        "attempt": found.attempt,
        "dataset": found.dataset,
        "dataset_digest": found.dataset_digest,
        "policy_digest": found.policy_digest,
        "prices_digest": found.prices_digest,
        "made_at": found.made_at,
    }
