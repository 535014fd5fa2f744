"""Ingest against DuckDB's plain reader on the same file, each variant in a process of its own."""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from beleg.core.progress import silent
from beleg.ingest.run import ingest
from beleg.lake.snapshot import Snapshot
from benchmarks import validate
from benchmarks.timing import Ratio, ratio
from benchmarks.year import settings_of

Figures = dict[str, Any]


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about ingest."""
    lines, rounds = (100_000, 2) if quick else (1_000_000, 5)
    clean, bad, large = work / "clean.jsonl", work / "bad.jsonl", work / "large.jsonl"
    say(f"ingest: making {lines:,} lines")
    validate.write_events(clean, lines)
    validate.write_events(bad, lines, bad_share=0.01)
    _repeat(lines, large)
    taken = []
    for number in range(rounds):
        say(f"ingest: round {number + 1} of {rounds}")
        each = {"plain": clean, "clean": clean, "bad": bad, "full": clean}
        taken.append({variant: in_process(variant, source) for variant, source in each.items()})
    big = in_process("full", large)
    for path in (clean, bad, large):
        path.unlink()
    exact, with_bad, full = (_ratio(taken, a, b) for a, b in (("clean", "plain"), ("bad", "clean"), ("full", "plain")))
    peaks = [t["full"]["peak_mb"] for t in taken]
    plain = "DuckDB plain `read_json` → Parquet"
    return [
        ("exact validation, quarantine, Parquet", plain, 3.0, 2.2, "×", *_shown(exact, lines)),
        ("the same with 1 % bad lines", "own clean time", 1.15, 1.1, "×", *_shown(with_bad, lines)),
        ("full ingest: validate, deduplicate, partition, commit", plain, 5.0, 4.0, "×", *_shown(full, lines)),
        (
            "peak memory of ingest",
            "any file size",
            1024,
            700,
            "MB",
            max(*peaks, big["peak_mb"]),
            f"all processes: {max(peaks)} MB at {lines:,} lines, {big['peak_mb']} MB at {3 * lines:,}",
        ),
    ]


def _repeat(lines: int, path: Path) -> None:
    """Three times as many lines, all different."""
    validate.write_events(path, 3 * lines, seed=2)


def _ratio(taken: list[dict[str, Figures]], over: str, under: str) -> Ratio:
    return ratio([(t[over]["wall_s"], t[under]["wall_s"]) for t in taken])


def _shown(found: Ratio, lines: int) -> tuple[float, str]:
    spread = f"[{found.low:.2f}, {found.high:.2f}]"
    return round(found.median, 2), f"{spread} {found.subject_s:.1f} s against {found.limit_s:.1f} s, {lines:,} lines"


def in_process(variant: str, source: Path) -> Figures:
    """Run a variant in a fresh process; returns wall seconds and peak memory of its processes."""
    command = [sys.executable, "-m", "benchmarks.ingest", variant, str(source)]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)
    return dict(json.loads(done.stdout))


def _run(variant: str, source: Path) -> Figures:
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        begun = time.perf_counter()
        if variant == "full":
            settings = settings_of(Path(folder))
            ingest(settings, [source], lake=Snapshot.latest(settings), on_progress=silent)
        else:
            (validate.plain if variant == "plain" else validate.exact)(source, Path(folder))
        wall_s = time.perf_counter() - begun
    own, worker = (resource.getrusage(w).ru_maxrss // 1024 for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    # The kernel tells the largest child; two of them run at once.
    return {"wall_s": wall_s, "peak_mb": own + 2 * worker}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("variant")
    parser.add_argument("source", type=Path)
    options = parser.parse_args()
    print(json.dumps(_run(options.variant, options.source)))
