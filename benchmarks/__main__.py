"""Runs the benchmarks, prints the table and writes RESULTS.md: `python -m benchmarks [--quick] [--only NAME]`."""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from benchmarks import (
    agent_layout,
    agent_toolsets,
    coding_agents,
    compat,
    contract,
    days,
    explain,
    findings,
    ingest,
    lint,
    pipeline,
    queries,
    readers,
    report,
    scoring,
    stats,
    trace,
)

WORK = Path(__file__).parent / ".work"
RESULTS = Path(__file__).parent / "RESULTS.md"


class Row(NamedTuple):
    """One line of the table: what was measured, against what, the bounds, the figure."""

    what: str
    against: str
    at_most: float
    aim: float
    unit: str
    measured: float
    note: str


GROUPS: dict[str, Callable[..., list[tuple[object, ...]]]] = {
    "ingest": ingest.measure,
    "coding_agents": coding_agents.measure,
    "readers": readers.measure,
    "queries": queries.measure,
    "explain": explain.measure,
    "report": report.measure,
    "days": days.measure,
    "pipeline": pipeline.measure,
    "trace": trace.measure,
    "compat": compat.measure,
    "lint": lint.measure,
    "stats": stats.measure,
    "findings": findings.measure,
    "scoring": scoring.measure,
    "agent_toolsets": agent_toolsets.measure,
    "agent_layout": agent_layout.measure,
    "contract": contract.measure,
}


def measure(work: Path, *, quick: bool, only: str | None) -> list[Row]:
    """All rows, or those of one group."""
    chosen = {name: f for name, f in GROUPS.items() if only in {None, name}}
    return [Row(*row) for group in chosen.values() for row in group(work, quick=quick, say=_say)]  # type: ignore[arg-type]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | against | at most | aim | measured | met | details |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        met = "aim" if r.measured <= r.aim else "yes" if r.measured <= r.at_most else "**no**"
        at_most, aim, measured = (f"{n:g} {r.unit}" for n in (r.at_most, r.aim, r.measured))
        lines.append(f"| {r.what} | {r.against} | {at_most} | {aim} | {measured} | {met} | {r.note} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the data: shows that it runs, not how fast")
    parser.add_argument("--only", choices=list(GROUPS))
    options = parser.parse_args()
    WORK.mkdir(exist_ok=True)
    rows = measure(WORK, quick=options.quick, only=options.only)
    text = table(rows)
    print(text)
    if not options.quick and options.only is None:
        machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
        stack = f"duckdb {version('duckdb')}, deltalake {version('deltalake')}"
        head = f"# Results\n`make bench` on {datetime.now(UTC):%Y-%m-%d}: {machine}, {stack}. Ratios are medians of\n"
        head += "interleaved rounds in one run; in brackets the lowest and highest round.\n\n"
        RESULTS.write_text(f"{head}{text}\n", encoding="utf-8")
    sys.exit(1 if any(r.measured > r.at_most for r in rows) else 0)


if __name__ == "__main__":
    main()
