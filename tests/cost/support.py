"""A lake in memory: event relations as the builder makes them, and all marts computed over them."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from beleg.core import contracts
from beleg.core.contracts import load, mart_sql
from beleg.cost import surroundings
from beleg.cost.book import PriceBook
from beleg.cost.modelfile import load_models
from beleg.cost.policies import Policies
from beleg.cost.register import register_cache_rules, register_policies, register_prices
from beleg.cost.workflows import load_workflows

EVENT_TABLES = (
    "steps",
    "runs_started",
    "run_statuses",
    "runs_finished",
    "outcomes",
    "feedback",
    "corrections",
    "reviews",
    "toolsets",
    "layouts",
)
MARTS = (
    "step_costs",
    "run_costs",
    "unit_costs",
    "flags",
    "reconciliation",
    "run_lookup",
    "workflow_traffic",
    "cache_efficiency",
    "drift",
    "bindings",
    "prompt_versions",
    "tool_usage",
    "held_tokens",
    "playbook_hits",
    "cache_misses",
)
NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
GPT = {"provider": "openai", "model": "gpt-4o"}
"""2.50 in, 1.25 cached, 10.00 out, USD per million tokens, with no other price in the book."""

_ids = itertools.count()


def policies(tmp_path: Path, models: str = "models: []", workflows: str = "workflows: {}") -> Policies:
    """Policies from the text of the two files."""
    (tmp_path / "models.yaml").write_text(models, encoding="utf-8")
    (tmp_path / "workflows.yaml").write_text(workflows, encoding="utf-8")
    return Policies(load_models(tmp_path / "models.yaml"), load_workflows(tmp_path / "workflows.yaml"))


@dataclass
class Lake:
    """Events put in one by one; `build` computes the marts."""

    policies: Policies = field(default_factory=Policies)
    timezone: str = "UTC"
    as_of: datetime = NOON + timedelta(days=365)
    database: str = ":memory:"
    con: duckdb.DuckDBPyConnection = field(init=False)
    _pending: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.con = duckdb.connect(self.database)
        self.con.execute("SET TimeZone = 'UTC'")
        for name in EVENT_TABLES:
            columns = ", ".join(f'"{c.name}" {c.type}' for c in load(name).columns)
            self.con.execute(f"CREATE TABLE {name} ({columns})")

    def start(self, run_id: str = "run", /, **values: Any) -> None:
        self._add("runs_started", {"workflow": "ocr", "purpose": "production", "run_id": run_id, **values})

    def finish(self, run_id: str = "run", /, **values: Any) -> None:
        self._add("runs_finished", {"status": "succeeded", "run_id": run_id, **values})

    def state(self, status: str, run_id: str = "run", at: datetime = NOON) -> None:
        self._add("run_statuses", {"status": status, "run_id": run_id, "at": at})

    def step(self, run_id: str = "run", /, **values: Any) -> None:
        """A model call of the run; token counts by bucket, for example `output=7`."""
        tokens = {f"{b}_tokens": values.pop(b) for b in _buckets() if b in values}
        given = {
            "kind": "model",
            "status": "succeeded",
            "run_id": run_id,
            "has_usage": bool(tokens),
            **tokens,
            **values,
        }
        given.setdefault("step_id", f"s{next(_ids)}")
        self._add("steps", given)

    def outcome(self, outcome_id: str, /, **values: Any) -> None:
        at = values.get("at", NOON)
        given = {"workflow": "ocr", "kind": "document", "count": 1, "outcome_id": outcome_id, "occurred_at": at}
        self._add("outcomes", {**given, **values})

    def feedback(self, rating: str, /, **values: Any) -> None:
        self._add("feedback", {"rating": rating, **values})

    def correct(self, reason: str, /, **values: Any) -> None:
        given = {"reason": reason, "correction_id": f"c{next(_ids)}", "field": ""}
        self._add("corrections", {**given, **values})

    def review(self, subject: str, decision: str, /, **values: Any) -> None:
        self._add("reviews", {"subject": subject, "decision": decision, "by": "lead", **values})

    def toolset(self, digest: str, /, *tools: tuple[str, int | None], **values: Any) -> None:
        """A toolset of tools with their tokens, in the order offered."""
        listed = [{"name": name, "tokens": tokens, "binding": False} for name, tokens in tools]
        self._add("toolsets", {"toolset_hash": digest, "tools": listed, **values})

    def layout(self, digest: str, /, *segments: tuple[str, int | None], **values: Any) -> None:
        """A layout of segments with their tokens, each hashed by name and tokens; without tokens it is of the turn."""
        listed = [
            {"name": name, "scope": "turn", "hash": None, "tokens": None}
            if tokens is None
            else {"name": name, "scope": "static", "hash": f"{name}-{tokens}", "tokens": tokens}
            for name, tokens in segments
        ]
        self._add("layouts", {"layout_hash": digest, "segments": listed, **values})

    def build(self, marts: tuple[str, ...] = MARTS) -> "Lake":
        """Compute marts over all days and months, as the builder would."""
        self._flush()
        register_policies(self.con, self.policies)
        register_prices(self.con, PriceBook(self.policies.models))
        surroundings.register(self.con)
        self.con.execute(
            "CREATE OR REPLACE TEMP TABLE targets AS "
            "SELECT day, strftime(day + n, '%Y-%m') AS month FROM ("
            + " UNION ".join(f"SELECT day FROM {name}" for name in EVENT_TABLES)
            + "), (VALUES (-1), (0), (1)) AS near (n)"
        )
        for name in marts:
            if name == "cache_misses":
                register_cache_rules(self.con)
            sql = mart_sql(name)
            values = {"timezone": self.timezone, "as_of": self.as_of}
            named = {key: value for key, value in values.items() if f"${key}" in sql}
            self.con.execute(f"CREATE OR REPLACE TABLE {name} AS {sql}", named)
            self._check(name)
        return self

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.con.execute(sql).fetchall()

    def one(self, sql: str) -> Any:
        """The only value of a query."""
        ((value,),) = self.rows(sql)
        return value

    def cost(self) -> int | None:
        """Pico-USD of the only step."""
        found: int | None = self.one("SELECT cost_pico_usd FROM step_costs")
        return found

    def _check(self, name: str) -> None:
        """Every mart has its contract's columns, types, order, key and rules, whatever the test is about."""
        contract = load(name)
        described = [(row[0], row[1]) for row in self.rows(f"DESCRIBE {name}")]
        assert described == [(c.name, c.type) for c in contract.columns]
        rules = dict([*(c for c in contract.checks if c[0] not in contract.notices), *_required(contract)])
        broken = ", ".join(f"count(*) FILTER (WHERE NOT ({condition}))" for condition in rules.values())
        assert dict(zip(rules, self.rows(f"SELECT {broken} FROM {name}")[0], strict=True)) == dict.fromkeys(rules, 0)
        key = ", ".join(contract.primary_key)
        assert not self.rows(f"SELECT {key} FROM {name} GROUP BY ALL HAVING count(*) > 1"), (name, "primary key")
        order = ", ".join(contract.order_by)
        assert self.rows(f"SELECT {order} FROM {name}") == self.rows(f"SELECT {order} FROM {name} ORDER BY {order}")

    def _add(self, table: str, values: Mapping[str, Any]) -> None:
        """Add an event; `at` is its time, NOON unless given."""
        fixed = {"source": "test", "event_id": f"e{next(_ids)}", "event_time": values.get("at", NOON), "ingest_id": "i"}
        policy = {"retention_policy": "metadata_and_hashes_only", "payload_policy": "hashed_not_stored"}
        row = {**fixed, **policy, **{key: value for key, value in values.items() if key != "at"}}
        row["day"] = row.get("occurred_at", row["event_time"]).astimezone(UTC).date()
        unknown = row.keys() - {column.name for column in load(table).columns}
        assert not unknown, unknown
        self._pending.setdefault(table, []).append(row)

    def _flush(self) -> None:
        for table, rows in self._pending.items():
            schema = self.con.table(table).to_arrow_table().schema
            self.con.register("pending", pa.Table.from_pylist(rows, schema=schema))
            self.con.execute(f"INSERT INTO {table} SELECT * FROM pending")
        self._pending.clear()


def _required(contract: contracts.TableContract) -> list[tuple[str, str]]:
    return [(c.name, f'"{c.name}" IS NOT NULL') for c in contract.columns if c.required]


def _buckets() -> list[str]:
    return [c.name.removesuffix("_tokens") for c in load("steps").columns if c.name.endswith("_tokens")]
