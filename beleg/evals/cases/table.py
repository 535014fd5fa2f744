"""The table `eval_cases`: what the datasets of a project hold now, for analysts; never an expected value."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from beleg.core.settings import Settings
from beleg.evals.cases.case import Case
from beleg.evals.cases.dataset import Dataset, history, names
from beleg.evals.cases.files import project_of
from beleg.lake.engine import connect
from beleg.lake.exclusive import exclusive
from beleg.lake.snapshot import Snapshot
from beleg.lake.table import arrow_schema

TABLE = "eval_cases"


def tabulate(settings: Settings) -> int:
    """Bring the table up to the manifests; the next publication shows it. Returns its rows.

    Holds the writer lock; commits nothing where nothing changed. Raises DamagedError for a damaged dataset.
    """
    rows = list(_rows(project_of(settings)))
    with exclusive(settings), connect(settings.home / "scratch") as con:
        lake = Snapshot.latest(settings)
        table = lake.table(TABLE)
        con.register("made", pa.Table.from_pylist(rows, schema=arrow_schema(table.contract)))
        there = f"SELECT * FROM {lake.relation(TABLE)}"
        differs = f"(SELECT * FROM made EXCEPT {there}) UNION ALL ({there} EXCEPT SELECT * FROM made)"
        if con.execute(f"SELECT 1 FROM ({differs}) LIMIT 1").fetchall():
            table.commit(table.write(con, "SELECT * FROM made"), lake.files(TABLE), note="eval_cases")
    return len(rows)


def _rows(project: Path) -> Iterator[dict[str, Any]]:
    for name in names(project):
        versions = list(history(project, name))
        now = Dataset.load(project, name)
        for case in now.cases():
            yield _row(now, case)
        for case_id in (one for one, each in now.retired.items() if not each.is_forgotten):
            held = next((each for each in reversed(versions) if case_id in each.members), None)
            if held is not None:
                yield _row(now, held.case(case_id))


def _row(dataset: Dataset, case: Case) -> dict[str, Any]:
    retired = dataset.retired.get(case.case_id)
    accepted = case.provenance.accepted
    return {
        "dataset": dataset.name,
        "case_id": case.case_id,
        "feature": case.feature,
        "workflow": case.workflow,
        "dataset_version": dataset.version,
        "dataset_digest": dataset.digest,
        "case_digest": case.digest,
        "state": "in" if retired is None else "retired",
        "input_ref": case.input_ref,
        "input_hash": case.input_hash,
        "hash_key_id": case.hash_key_id,
        "fields": sorted(case.expected),
        "stores_values": any(known.hash is None for known in case.expected.values()),
        "family": case.family,
        "slices": list(case.slices.items()),
        "critical": case.critical,
        "reasons": list(case.reasons),
        "corrections": len(case.provenance.corrections),
        "runs": len(case.provenance.runs),
        "accepted_by": sorted({each.by for each in accepted}),
        "accepted_at": pa.scalar(accepted[-1].at).cast(pa.timestamp("us", "UTC")).as_py() if accepted else None,
        "retired_by": None if retired is None else retired.by,
        "retired_why": None if retired is None else retired.why,
    }
