"""A lake as years of a company's runs leave it: one file a day and table, ids that tell their day."""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import duckdb

from beleg import flow
from beleg.core.contracts import load
from beleg.core.settings import Settings
from beleg.lake.engine import connect, identifier, memory_share
from beleg.lake.table import LakeTable, stored_type

FIRST_DAY = date(2016, 1, 1)
WORKFLOWS = 20
MODELS = ("gpt-4o", "gpt-4o-mini", "claude-3-5-sonnet-latest", "gpt-4.1")


class Shape(NamedTuple):
    """How large a history is."""

    days: int
    runs_per_day: int


def settings_of(home: Path) -> Settings:
    """Settings of a benchmark's installation."""
    return Settings(home=home, spool=home / "spool")


def build(home: Path, shape: Shape, say: Callable[[str], None]) -> Settings:
    """Make the lake and its marts, or take them as an earlier call left them."""
    settings = settings_of(home)
    marker = home / f"made-{shape.days}-{shape.runs_per_day}"
    if marker.exists():
        return settings
    begun = time.monotonic()
    with connect(home / "scratch", memory_limit=memory_share()) as con:
        for first in range(0, shape.days, 30):
            days = range(first, min(first + 30, shape.days))
            for table in ("runs_started", "steps", "runs_finished"):
                lake_table = LakeTable(settings, table)
                lake_table.commit(lake_table.write(con, rows(table, days, shape.runs_per_day)))
    say(f"  {shape.days * shape.runs_per_day:,} runs stored after {time.monotonic() - begun:.0f} s")
    flow.publish(settings, as_of=datetime(2027, 1, 1, tzinfo=UTC))
    say(f"  marts published after {time.monotonic() - begun:.0f} s")
    marker.touch()
    return settings


def rows(table: str, days: range, runs_per_day: int) -> str:
    """A query for the rows of an event table on some days, counted from FIRST_DAY."""
    start = f"TIMESTAMPTZ '{FIRST_DAY.isoformat()} 00:00:00+00'"
    apart_us, left_us = divmod(86_400_000_000, runs_per_day)
    at = f"{start} + to_microseconds(i * {apart_us} + (i // {runs_per_day}) * {left_us})"
    first, last = days.start * runs_per_day, days.stop * runs_per_day
    number = f"(SELECT i, {at} AS t FROM range({first}, {last}) r(i))"
    of_day = f"i % {runs_per_day}"
    fingerprint = f"sha256(CAST(CASE WHEN {of_day} % {REPEATED} = 7 THEN {of_day} ELSE i END AS VARCHAR))"
    given = COMMON | VALUES[table] | ({HASHED[table]: fingerprint} if table in HASHED else {})
    columns = ", ".join(
        f"CAST({given.get(c.name, 'NULL')} AS {stored_type(c.type)}) AS {identifier(c.name)}"
        for c in load(table).columns
    )
    return f"SELECT {columns} FROM {number}"


def _id(kind: int) -> str:
    """A UUIDv7 of the row's time, different for each kind."""
    ms, more = "printf('%012x', epoch_ms(t))", "md5(CAST(i AS VARCHAR))"
    parts = f"substr({ms}, 1, 8)", f"substr({ms}, 9, 4)", f"'7{kind:03x}'", f"'8' || substr({more}, 1, 3)"
    return " || '-' || ".join([*parts, f"substr({more}, 4, 12)"])


REPEATED = 20
"""One run in so many is a standing job: it has the same input as the run a day before. The others' are their own."""
HASHED = {"runs_started": "input_hash", "runs_finished": "output_hash"}
COMMON = {
    "source": "'beleg'",
    "event_time": "t",
    "tenant": "'tenant-' || (i % 40)",
    "team": "'team-' || (i % 5)",
    "run_id": _id(1),
    "retention_policy": "'metadata_and_hashes_only'",
    "payload_policy": "'hashed_not_stored'",
    "ingest_id": "'bench'",
    "day": "CAST(t AS DATE)",
}
VALUES = {
    "runs_started": {
        "event_id": _id(2),
        "workflow": f"'workflow-' || (i % {WORKFLOWS})",
        "purpose": "'production'",
        "prompt_version": "'v' || (i % 7)",
        "prompt_source": "'registry'",
    },
    "steps": {
        "event_id": _id(3),
        "step_id": _id(4),
        "kind": "'model'",
        "provider": "CASE WHEN i % 4 = 2 THEN 'anthropic' ELSE 'openai' END",
        "model": f"list_extract({list(MODELS)!r}, CAST(i % {len(MODELS)} AS INT) + 1)",
        "status": "'succeeded'",
        "attempt": "1",
        "latency_ms": "200 + i % 9000",
        "input_uncached_tokens": "100 + i % 5000",
        "cache_read_tokens": "i % 3000",
        "output_tokens": "20 + i % 800",
        "has_usage": "true",
        "usage_check": "'ok'",
    },
    "runs_finished": {
        "event_id": _id(5),
        "event_time": "t",
        "status": "CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'succeeded' END",
        "duration_ms": "300 + i % 9000",
        "units": "MAP {'document': i % 3}",
    },
}


def day_events(con: duckdb.DuckDBPyConnection, path: Path, day: int, runs_per_day: int) -> int:
    """Write a day's events as the tracer would, as newline-delimited JSON; returns their number."""
    parts = []
    for event, table in (("run_started", "runs_started"), ("step", "steps"), ("run_finished", "runs_finished")):
        inner = rows(table, range(day, day + 1), runs_per_day)
        parts.append(f"SELECT run_id, json_merge_patch(to_json(e), '{{}}') AS j FROM ({_as_event(event, inner)}) e")
    lines = f"SELECT j FROM ({' UNION ALL '.join(parts)}) ORDER BY run_id"
    con.execute(f"COPY ({lines}) TO '{path}' (FORMAT csv, HEADER false, QUOTE '', DELIMITER '\x01')")
    return 3 * runs_per_day


def _as_event(event: str, inner: str) -> str:
    """Rows of an event table turned back into events of the schema."""
    time_text = "strftime(event_time, '%Y-%m-%dT%H:%M:%S.%fZ') AS event_time"
    policies = "source, event_id, tenant, team, run_id, retention_policy, payload_policy"
    fields = {
        "run_started": "workflow, purpose, prompt_version, input_hash, prompt_source",
        "step": "step_id, kind, provider, model, status, attempt, latency_ms, usage_check, {'input_uncached': "
        "input_uncached_tokens, 'cache_read': cache_read_tokens, 'output': output_tokens} AS buckets",
        "run_finished": "status, output_hash, duration_ms, units",
    }[event]
    return f"SELECT '{event}' AS event, 1 AS schema_version, {time_text}, {policies}, {fields} FROM ({inner})"


def day_of(number: int) -> str:
    """ISO date of a day counted from FIRST_DAY."""
    return (FIRST_DAY + timedelta(days=number)).isoformat()
