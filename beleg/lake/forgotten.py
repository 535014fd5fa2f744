"""What was forgotten, so that it does not come back: tombstones in the ledger, and what they blank in a row.

A tombstone holds no value in clear: a digest under a secret of the installation, and a label. Of forgotten
runs their ids are kept. Money and counts stay; what leads to a person, a tenant or a document goes.
"""

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb

from beleg.core.contracts import TableContract, load
from beleg.core.files import replace_text
from beleg.core.settings import Settings
from beleg.lake.engine import quote
from beleg.lake.publication import append_fact, facts
from beleg.lake.table import stored_type

Kind = Literal["ref", "tenant", "person"]
KINDS: tuple[Kind, ...] = ("ref", "tenant", "person")
COLUMN_OF: Mapping[Kind, str] = {"ref": "input_ref", "tenant": "tenant", "person": "author_hash"}

NOTHING = "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"
"""Fingerprint of JSON's null."""
INSTEAD: Mapping[str, str] = {"by": "'forgotten'", "content": "'null'", "content_hash": f"'{NOTHING}'"}
"""SQL of what stands in place of a value that must be there; of all others, null."""
BLANKED: Mapping[str, tuple[str, ...]] = {
    "runs_started": ("labels", "conversation_id", "input_key", "input_ref", "input_hash", "hash_key_id"),
    "run_statuses": ("labels",),
    "runs_finished": ("labels", "output_hash"),
    "steps": ("labels", "response_id", "input_hash", "output_hash"),
    "feedback": ("labels", "input_hash", "output_hash", "author_hash"),
    "corrections": ("labels", "input_hash", "output_hash", "input_ref", "expected", "expected_hash", "author_hash"),
    "reviews": ("labels", "why", "by"),
    "outcomes": ("labels",),
    "artifacts": ("labels", "content", "content_hash"),
    "eval_results": ("labels", "expected_hash", "actual_hash"),
    "toolsets": ("labels", "cohort"),
    "layouts": ("labels",),
    "bindings": ("author_hash", "input_ref", "input_hash", "hash_key_id"),
}
"""Event table, and the mart of days that may be sealed → columns blanked in every row of a forgotten run, reference or
tenant."""
PERSONAL: Mapping[str, tuple[str, ...]] = {
    "feedback": ("author_hash",),
    "corrections": ("author_hash",),
    "reviews": ("why", "by"),
    "bindings": ("author_hash",),
}
"""The same of a forgotten person."""


@dataclass(frozen=True)
class Forgotten:
    """All tombstones of an installation."""

    settings: Settings
    digests: Mapping[tuple[Kind, str], str]
    """(kind, digest) → label."""

    @classmethod
    def load(cls, settings: Settings) -> "Forgotten":
        """Read the ledger; without tombstones it costs one look at a file."""
        records = facts(settings.ledger / "forgotten.jsonl")
        return cls(settings, {(r["kind"], r["digest"]): r["label"] for r in records})

    def __bool__(self) -> bool:
        return bool(self.digests)

    def digest(self, value: str) -> str:
        """The digest of a value, under this installation's secret: nobody else can confirm a guess."""
        return hashlib.sha256((self._secret() + value).encode()).hexdigest()

    def bury(self, kind: Kind, value: str) -> "Forgotten":
        """Set a tombstone; one that stands already is not set twice."""
        digest = self.digest(value)
        if (kind, digest) in self.digests:
            return self
        label = f"forgotten-{len(self.digests) + 1}"
        append_fact(self.settings.ledger / "forgotten.jsonl", {"kind": kind, "digest": digest, "label": label})
        return Forgotten.load(self.settings)

    def prepare(self, con: duckdb.DuckDBPyConnection) -> None:
        """Make the temporary tables that `masked` and `renamed` read; nothing without tombstones."""
        if not self:
            return
        con.execute("CREATE OR REPLACE TEMP TABLE tombstones (kind VARCHAR, digest VARCHAR, label VARCHAR)")
        con.executemany(
            "INSERT INTO tombstones VALUES (?, ?, ?)", [(k, d, label) for (k, d), label in self.digests.items()]
        )
        con.execute(
            f"CREATE OR REPLACE TEMP MACRO tombstone(asked, value) AS (SELECT min(label) FROM tombstones "
            f"WHERE kind = asked AND digest = sha256({quote(self._secret())} || value))"
        )
        paths = ", ".join(quote(str(path)) for path in sorted(self._runs.glob("*.parquet")))
        rows = f"read_parquet([{paths}])" if paths else "(SELECT CAST(NULL AS VARCHAR) AS run_id WHERE false)"
        con.execute(f"CREATE OR REPLACE TEMP TABLE forgotten_runs AS SELECT DISTINCT run_id FROM {rows}")

    def learn(self, con: duckdb.DuckDBPyConnection, starts: str, *, keep: bool = True) -> None:
        """Find the runs of forgotten references and tenants among some starts, for their other events.

        Unless told not to `keep` them, the ledger remembers them.
        """
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE learned AS SELECT DISTINCT run_id FROM ({starts}) "
            f"WHERE ({_matches(load('runs_started'))}) AND run_id NOT IN (SELECT run_id FROM forgotten_runs)"
        )
        con.execute("INSERT INTO forgotten_runs SELECT run_id FROM learned")
        if not keep or not con.execute("SELECT 1 FROM learned LIMIT 1").fetchall():
            return
        self._runs.mkdir(parents=True, exist_ok=True)
        name = f"{secrets.token_hex(8)}.parquet"
        con.execute(f"COPY (SELECT run_id FROM learned ORDER BY run_id) TO {quote(str(self._runs / f'.{name}'))}")
        (self._runs / f".{name}").replace(self._runs / name)

    def masked(self, table: str, rows: str) -> str:
        """Query of the rows of an event table without what was forgotten; the query itself without tombstones."""
        if not self or table not in BLANKED:
            return rows
        contract = load(table)
        hit, person = _hit(contract), _person(table)
        columns = ["coalesce(tombstone('tenant', tenant), tenant) AS tenant"]
        for name in BLANKED[table]:
            also = f" OR {person}" if person and name in PERSONAL.get(table, ()) else ""
            instead = INSTEAD.get(name, f"CAST(NULL AS {stored_type(contract.column(name).type)})")
            columns.append(f'CASE WHEN {hit}{also} THEN {instead} ELSE "{name}" END AS "{name}"')
        return f"SELECT * REPLACE ({', '.join(columns)}) FROM ({rows})"

    def renamed(self, rows: str) -> str:
        """A relation with a column `tenant`, in which forgotten tenants bear their label."""
        if not any(kind == "tenant" for kind, _ in self.digests):
            return rows
        return f"(SELECT * REPLACE (coalesce(tombstone('tenant', tenant), tenant) AS tenant) FROM {rows})"

    @property
    def _runs(self) -> Path:
        return self.settings.ledger / "forgotten"

    def _secret(self) -> str:
        path = self.settings.ledger / "forgotten.secret"
        if not path.exists():
            replace_text(path, secrets.token_hex(32))
            path.chmod(0o600)
        return path.read_text(encoding="utf-8")


def _matches(contract: TableContract) -> str:
    """Condition on a row that itself names what was forgotten."""
    names = {c.name for c in contract.columns}
    found = [
        f"tombstone('{kind}', {COLUMN_OF[kind]}) IS NOT NULL" for kind in ("ref", "tenant") if COLUMN_OF[kind] in names
    ]
    # A label set here earlier says the same: the row was masked and its tenant is gone.
    return " OR ".join([*found, "tenant IN (SELECT label FROM tombstones)"])


def _hit(contract: TableContract) -> str:
    names = {c.name for c in contract.columns}
    runs = " OR run_id IN (SELECT run_id FROM forgotten_runs)" if "run_id" in names else ""
    if "run_ids" in names:
        of_runs = "SELECT 1 FROM (SELECT unnest(run_ids) AS run_id) WHERE run_id IN (SELECT run_id FROM forgotten_runs)"
        runs = f" OR EXISTS ({of_runs})"
    return f"({_matches(contract)}{runs})"


def _person(table: str) -> str | None:
    if table not in PERSONAL:
        return None
    column = '"by"' if table == "reviews" else "author_hash"
    return f"tombstone('person', {column}) IS NOT NULL"


def to_mask(table: str) -> str:
    """Condition on the rows of an event table that `masked` would change or drop."""
    blank = [f"{_hit(load(table))} AND ({_any_known(BLANKED[table])})", "tombstone('tenant', tenant) IS NOT NULL"]
    if (person := _person(table)) is not None:
        blank.append(person)
    return " OR ".join(f"({condition})" for condition in blank)


def _any_known(columns: Iterable[str]) -> str:
    return " OR ".join(f'"{name}" IS DISTINCT FROM {INSTEAD.get(name, "NULL")}' for name in columns)
