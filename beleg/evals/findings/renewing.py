"""Makes the table `findings` anew while a publication is made: small, so as a whole."""

from collections.abc import Mapping
from typing import Any

import duckdb
import pyarrow as pa

from beleg.core.sql import query
from beleg.evals.findings.rule import Finding, Group, Rule, Status, judge
from beleg.lake.snapshot import Snapshot
from beleg.lake.table import arrow_schema

TABLE = "findings"
_STATUS: Mapping[str, Status] = {"accept": "accepted", "reject": "rejected"}


def renew(con: duckdb.DuckDBPyConnection, lake: Snapshot, *, rule: Rule | None = None, note: str = "") -> int:
    """Commit the findings of what the lake holds now, where they differ; returns how many rows there are.

    Does nothing where nobody corrected anything. The caller holds the writer lock.
    """
    if not lake.rows("bindings") and not lake.rows(TABLE):
        return 0
    table = lake.table(TABLE)
    made = pa.Table.from_pylist([_row(found) for found in judged(con, lake, rule)], schema=arrow_schema(table.contract))
    con.register("found", made)
    try:
        names = ", ".join(column.name for column in table.contract.columns)
        now, before = f"(SELECT {names} FROM found)", f"(SELECT {names} FROM {lake.relation(TABLE)})"
        differ = con.execute(f"({now} EXCEPT {before}) UNION ALL ({before} EXCEPT {now}) LIMIT 1").fetchall()
        if differ or made.num_rows != lake.rows(TABLE):
            add = table.write(con, "SELECT * FROM found") if made.num_rows else []
            lake.advance(TABLE, table.commit(add, lake.files(TABLE), note=note))
    finally:
        con.unregister("found")
    return int(made.num_rows)


def judged(con: duckdb.DuckDBPyConnection, lake: Snapshot, rule: Rule | None = None) -> list[Finding]:
    """The verdict on every group of corrections that a lake holds."""
    for name in ("bindings", "prompt_versions", "reviews"):
        con.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM {lake.relation(name)}")
    con.execute(f"CREATE OR REPLACE TEMP VIEW said AS {query('beleg.evals.findings', 'said')}")
    places = query("beleg.evals.findings", "version_places")
    con.execute(f"CREATE OR REPLACE TEMP TABLE version_places AS {places}")
    groups = [Group(*row) for row in con.execute(query("beleg.evals.findings", "groups")).fetchall()]
    if not groups:
        return []
    decided = dict(con.execute(query("beleg.evals.findings", "decided")).fetchall())
    versions = con.execute("SELECT * FROM version_places").fetchall()
    return judge(
        groups,
        {subject: _STATUS[decision] for subject, decision in decided.items()},
        {(workflow, place): (version, runs) for workflow, place, version, runs in versions},
        rule,
    )


def _row(found: Finding) -> dict[str, Any]:
    group, previous = found.group, found.previous
    own = {name: getattr(group, name) for name in vars(group)} | {"finding_id": group.finding_id}
    verdict = {name: value for name, value in vars(found).items() if name not in {"group", "previous"}}
    before = {
        "previous_version": previous and previous.prompt_version,
        "previous_inputs": None if previous is None else previous.inputs,
        "previous_of_runs": previous and previous.of_runs,
    }
    return own | verdict | before
