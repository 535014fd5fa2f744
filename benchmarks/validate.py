"""How much exact validation costs: staged and typed ingest against DuckDB's plain reader.

    python benchmarks/validate.py --lines 1000000 --rounds 5

Three variants take turns, each in a process of its own, over the same lines: `plain` is DuckDB's
read_json with explicit columns into one Parquet file, which validates nothing; `clean` judges every line,
stages and writes Parquet per event; `bad` is the same with one line in a hundred corrupted. Reported is
the median over the rounds of the ratio within a round.
"""

import argparse
import hashlib
import itertools
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import orjson

from beleg.core.contracts import event_tables
from beleg.ingest.sources import find_sources
from beleg.ingest.stage import stage
from beleg.ingest.typed import staged_sql

POLICY = {"retention_policy": "metadata_and_hashes_only", "payload_policy": "hashed_not_stored"}
HASHES = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(997)]
WORKFLOWS = ("ocr", "categorization", "reconciliation", "dunning", "vat return", "copilot")
CORRUPTIONS = (
    lambda line: line[:-7],
    lambda line: line.replace(b'"schema_version":1', b'"schema_version":"1"'),
    lambda line: line.replace(b'"source":"beleg"', b'"source":"beleg","source":"beleg"'),
    lambda line: line.replace(b'"source":"beleg"', b'"source":25'),
    lambda line: line[:-1] + b',"unknown":1}',
    lambda line: line.replace(b"T", b" ", 1),
    lambda line: line.replace(b"beleg", b"bel\xffeg"),
    lambda line: line.replace(b'"source":"beleg"', b'"source":NaN'),
)


def events(lines: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Realistic mixed events of a small company's runs, about 480 bytes a line as compact JSON."""
    rnd = random.Random(seed)
    begin = datetime(2026, 3, 1, tzinfo=UTC)
    made = run = 0
    while made < lines:
        run += 1
        for event in _run(rnd, run, begin + timedelta(seconds=7 * run)):
            made += 1
            if made <= lines:
                yield event


def _run(rnd: random.Random, run: int, start: datetime) -> Iterator[dict[str, Any]]:
    run_id = f"{0x0195_0000_0000 + run:012x}"
    stamp = start.isoformat(timespec="microseconds").replace("+00:00", "Z")

    def event(name: str, number: int, **fields: Any) -> dict[str, Any]:
        common = {"event": name, "schema_version": 1, "source": "beleg", "event_id": f"{run_id}-{number}"}
        return common | {"event_time": stamp, "tenant": f"t{run % 40}", "run_id": run_id} | fields | POLICY

    yield event(
        "run_started",
        0,
        workflow=WORKFLOWS[run % 6],
        purpose="production",
        input_ref=f"doc/{run}",
        input_hash=HASHES[run % 997],
        canon_version="1",
        prompt_version="v12",
        prompt_source="baked",
    )
    for step in range(1 + rnd.randrange(3)):
        yield event("step", step + 1, **_step(rnd, f"{run_id}-s{step}"))
    if rnd.random() < 0.02:
        yield event("run_status", 7, status="needs_input")
    yield event(
        "run_finished",
        9,
        status="succeeded",
        output_hash=HASHES[run * 7 % 997],
        duration_ms=rnd.randrange(10_000),
        units={"transactions": rnd.randrange(100)},
    )
    if rnd.random() < 0.05:
        yield event("feedback", 10, rating=rnd.choice(["like", "dislike"]), author_hash=HASHES[run % 31])
    if rnd.random() < 0.02:
        yield event(
            "artifact",
            11,
            kind="extracted_fields",
            content={"document_type": "invoice", "fields": [{"name": "total", "value": 12.5}]},
            content_hash=HASHES[run % 997],
        )


def _step(rnd: random.Random, step_id: str) -> dict[str, Any]:
    uncached, cached, output = rnd.randrange(5000), rnd.randrange(5000), rnd.randrange(900)
    return {
        "step_id": step_id,
        "kind": "model",
        "provider": "openai",
        "model": rnd.choice(["gpt-5-mini", "gpt-5", "claude-sonnet-4-6"]),
        "attempt": 1,
        "status": "succeeded",
        "latency_ms": rnd.randrange(9000),
        "buckets": {"input_uncached": uncached, "cache_read": cached, "output": output},
        "raw_usage": {"prompt_tokens": uncached + cached, "completion_tokens": output},
        "convention": "inclusive",
        "convention_evidence": "identity",
        "usage_check": "ok",
    }


def write_events(path: Path, lines: int, bad_share: float = 0.0, seed: int = 1) -> int:
    """Write events as newline-delimited JSON, a share of them corrupted; returns how many are bad."""
    rnd, bad = random.Random(seed), 0
    with path.open("wb") as file:
        for event in events(lines, seed):
            line = orjson.dumps(event)
            if rnd.random() < bad_share:
                line, bad = CORRUPTIONS[bad % len(CORRUPTIONS)](line), bad + 1
            file.write(line + b"\n")
    return bad


def _columns_of(source: Path, lines: int = 10_000) -> dict[str, str]:
    """The fields that occur in the file, each with the type it is stored in: the plain reader's best case."""
    seen: dict[str, set[str]] = {}
    with source.open("rb") as file:
        for line in itertools.islice(file, lines):
            for field, value in orjson.loads(line).items():
                seen.setdefault(field, set()).update(value if isinstance(value, dict) else ())
    stored = {c.source or c.name: c.type for t in event_tables().values() for c in t.columns}
    stored.pop("buckets")  # the contract holds whether it is there, the file holds the object
    return {field: stored.get(field) or _other_type(field, inner) for field, inner in seen.items()}


def _other_type(field: str, inner: set[str]) -> str:
    if field == "schema_version":
        return "BIGINT"
    return "STRUCT(" + ", ".join(f"{name} BIGINT" for name in sorted(inner)) + ")" if inner else "VARCHAR"


def plain(source: Path, folder: Path) -> dict[str, int]:
    columns = _columns_of(source)
    con = duckdb.connect(config={"threads": 2})
    read = f"read_json('{source}', format = 'newline_delimited', columns = {columns})"
    con.execute(f"COPY (FROM {read}) TO '{folder}/plain.parquet' (FORMAT parquet, COMPRESSION zstd)").fetchall()
    return {}


def exact(source: Path, folder: Path) -> dict[str, int]:
    begun = time.perf_counter()
    staged = stage(find_sources([source]), folder / "staged", workers=2)
    staging_ms = round((time.perf_counter() - begun) * 1000)
    con = duckdb.connect(config={"threads": 2})
    for event, files in staged.files.items():
        sql = staged_sql(event, files, "bench")
        con.execute(f"COPY ({sql}) TO '{folder}/{event}.parquet' (FORMAT parquet, COMPRESSION zstd)").fetchall()
    return {"read": staged.read, "quarantined": staged.quarantined, "staging_ms": staging_ms}


def _measure(variant: str, source: Path) -> dict[str, Any]:
    """Run one variant in this process and print what it took."""
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        wall, cpu = time.perf_counter(), _cpu_s()
        counts = (plain if variant == "plain" else exact)(source, Path(folder))
        took = {"wall_s": time.perf_counter() - wall, "cpu_s": _cpu_s() - cpu}
    peaks = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return took | counts | {"peak_self_mb": peaks[0], "peak_worker_mb": peaks[1]}


def _cpu_s() -> float:
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in uses)


def _in_process(variant: str, source: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--variant", variant, "--source", str(source)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(answer))


def compare(lines: int, rounds: int, work: Path) -> dict[str, Any]:
    """Measure all variants in turn; returns the medians of the ratios and the last round's figures."""
    clean, bad = work / "clean.jsonl", work / "bad.jsonl"
    write_events(clean, lines)
    write_events(bad, lines, bad_share=0.01)
    taken = [
        {"plain": _in_process("plain", clean), "clean": _in_process("clean", clean), "bad": _in_process("bad", bad)}
        for _ in range(rounds)
    ]

    def ratio(over: str, under: str, unit: str) -> float:
        ratios = [float(t[over][unit] / t[under][unit]) for t in taken]
        return round(statistics.median(ratios), 3)

    return {
        "lines": lines,
        "bytes_per_line": round(clean.stat().st_size / lines),
        "exact_to_plain_wall": ratio("clean", "plain", "wall_s"),
        "exact_to_plain_cpu": ratio("clean", "plain", "cpu_s"),
        "bad_to_clean_wall": ratio("bad", "clean", "wall_s"),
        "bad_to_clean_cpu": ratio("bad", "clean", "cpu_s"),
        "last_round": taken[-1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--variant", choices=["plain", "clean", "bad"])
    parser.add_argument("--source", type=Path)
    options = parser.parse_args()
    if options.variant:
        print(json.dumps(_measure(options.variant, options.source)))
        return
    work = Path(__file__).parent / ".work" / "validate"
    work.mkdir(parents=True, exist_ok=True)
    try:
        print(json.dumps(compare(options.lines, options.rounds, work), indent=2))
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
