"""One scan a table: how many rows break which rule, over the partitions that differ from the publication."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import duckdb

from beleg.checks.rules import COLUMNS, KEY, Rule, Severity, rules
from beleg.core.contracts import TableContract, load
from beleg.lake.engine import identifier
from beleg.lake.snapshot import Snapshot
from beleg.lake.table import DataFile, stored_type, typed_nulls, typing_connection

EXAMPLES = 3
"""Keys of broken rows that are shown with a finding."""


@dataclass(frozen=True)
class Finding:
    """What one rule found."""

    rule: str
    severity: Severity
    violations: int | None
    """Rows that break the rule, or the difference of two sums; None where nothing could be compared."""
    detail: str = ""
    """Keys of the first broken rows, or what was compared; never a payload, since none is stored."""


@dataclass(frozen=True)
class Scanned:
    """What the rules of one table found."""

    rows: int
    partitions: int
    findings: tuple[Finding, ...]


def scan(con: duckdb.DuckDBPyConnection, lake: Snapshot, published: Snapshot, name: str) -> Scanned:
    """Check the changed partitions of a table; of a table without partitions, the files that were added.

    A file that cannot be read breaks `columns`. Raises DuckDB's errors for a query that runs out of memory.
    """
    contract = load(name)
    files = _changed(lake, published, name)
    partitions = len({f.partition for f in files})
    if not files:
        return Scanned(0, 0, ())
    relation = lake.table(name).relation(files)
    wrong = _wrong_columns(con, contract, relation)
    asked = rules(contract)
    if wrong:
        found = (Finding(r.name, r.severity, *((len(wrong), "; ".join(wrong)) if r.name == COLUMNS else (None, "")))
                 for r in asked)  # fmt: skip
        return Scanned(0, partitions, tuple(found))
    rows, *counts = con.execute(_query(contract, asked, relation)).fetchall()[0]
    by_rule = dict(zip([r.name for r in asked if r.name != COLUMNS], counts, strict=True)) | {COLUMNS: 0}
    if by_rule[KEY]:  # two keys may share a hash
        by_rule[KEY] = con.execute(_exact_key(contract, relation)).fetchall()[0][0]
    findings = (_finding(con, contract, relation, rule, int(by_rule[rule.name])) for rule in asked)
    return Scanned(int(rows), partitions, tuple(findings))


def _changed(lake: Snapshot, published: Snapshot, name: str) -> list[DataFile]:
    if load(name).partition_column is None:
        known = {f.path for f in published.files(name)}
        return [f for f in lake.files(name) if f.path not in known]
    return lake.files(name, lake.changed(published, name))


def _wrong_columns(con: duckdb.DuckDBPyConnection, contract: TableContract, relation: str) -> list[str]:
    """What differs between the columns of the files and those of the contract."""
    try:
        found = {row[0]: row[1] for row in con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()}
    except (duckdb.IOException, duckdb.InvalidInputException) as error:
        return [str(error).partition("\n")[0]]
    wanted = _types(contract)
    missing = (f"{name} is missing" for name in wanted if name not in found)
    others = (f"{name} is {kind}" for name, kind in found.items() if wanted.get(name) != stored_type(kind))
    return [*missing, *others]


@cache
def _types(contract: TableContract) -> dict[str, str]:
    """Column → type as DuckDB spells it."""
    with typing_connection().cursor() as con:
        return {row[0]: row[1] for row in con.execute(f"DESCRIBE SELECT {typed_nulls(contract)}").fetchall()}


def _query(contract: TableContract, asked: Sequence[Rule], relation: str) -> str:
    """One row: the number of rows, then what breaks each rule but `columns`."""
    key = ", ".join(map(identifier, contract.primary_key))
    counts = [f"count(*) - count(DISTINCT hash({key}))"]
    counts += [f"count(*) FILTER (WHERE {r.broken_by})" for r in asked if r.broken_by is not None]
    return f"SELECT count(*), {', '.join(counts)} FROM {relation}"


def _exact_key(contract: TableContract, relation: str) -> str:
    key = ", ".join(map(identifier, contract.primary_key))
    return f"SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM {relation} GROUP BY {key} HAVING n > 1)"


def _finding(
    con: duckdb.DuckDBPyConnection, contract: TableContract, relation: str, rule: Rule, violations: int
) -> Finding:
    if not violations or rule.name == COLUMNS:
        return Finding(rule.name, rule.severity, violations)
    return Finding(rule.name, rule.severity, violations, "; ".join(_examples(con, contract, relation, rule)))


def _examples(con: duckdb.DuckDBPyConnection, contract: TableContract, relation: str, rule: Rule) -> Iterator[str]:
    """Keys of the first rows that break a rule."""
    key = ", ".join(map(identifier, contract.primary_key))
    which = f"GROUP BY {key} HAVING count(*) > 1" if rule.broken_by is None else f"WHERE {rule.broken_by}"
    rows = con.execute(f"SELECT {key} FROM {relation} {which} ORDER BY ALL LIMIT {EXAMPLES}").fetchall()
    for row in rows:
        yield ", ".join(f"{name} {value}" for name, value in zip(contract.primary_key, row, strict=True))
