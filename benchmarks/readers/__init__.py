"""`beleg ingest` on other tools' traces against loading the same spans into a local Phoenix and a local MLflow.

The peers live in an environment of their own, whose Python `BELEG_PEERS` names:

    python -m venv DIR && DIR/bin/pip install arize-phoenix mlflow
    BELEG_PEERS=DIR/bin/python python -m benchmarks --only readers

Ours is all that `beleg ingest` does in an installation that is there: read, judge, store, marts, checks, publication.
The peers are running servers with their default SQLite store; they get protobuf over HTTP, which is the fastest they
take, and are timed until they hold every span. All see the same traces: a root, three model calls with 1 KB in and 1 KB
out and tokens, a tool.
"""

from collections.abc import Callable
from pathlib import Path

from benchmarks.readers import corpus, ours, peers
from benchmarks.timing import Ratio, ratio

FORMATS = {"otlp": "OTLP/JSON", "langfuse": "Langfuse JSONL", "claude-code": "Claude Code logs"}
_MOST_MB = 1024


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """All rows about readers. Peers that are not installed are told by `say` and left out."""
    spans, rounds = (1000, 1) if quick else (20_000, 3)
    seconds: dict[str, list[float]] = {name: [] for name in (*FORMATS, *peers.PEERS)}
    with peers.running(work / "peers", say) as servers:
        for number in range(rounds):
            say(f"readers: round {number + 1} of {rounds}")
            made = corpus.write(work / "readers", spans, seed=number)
            for name in FORMATS:
                seconds[name].append(ours.in_process(made[name], work)["wall_s"])
            for name, server in servers.items():
                seconds[name].append(server.load(made["protobuf"], spans))
    rows = [
        _row(FORMATS[form], peer, ratio(list(zip(seconds[form], seconds[peer], strict=True))), spans)
        for form in FORMATS
        for peer in peers.PEERS
        if seconds[peer]
    ]
    return [*rows, *(_memory(work, form, spans, say) for form in FORMATS)]


def _row(form: str, peer: str, found: Ratio, spans: int) -> tuple[object, ...]:
    times = f"{found.subject_s:.1f} s against {found.limit_s:.1f} s, {spans:,} spans"
    note = f"[{found.low:.2f}, {found.high:.2f}] {times}"
    return (f"{form} → published costs", f"the same spans into {peer}", 0.2, 0.1, "×", round(found.median, 3), note)


def _memory(work: Path, form: str, spans: int, say: Callable[[str], None]) -> tuple[object, ...]:
    say(f"readers: memory of {form}")
    peaks = []
    for times in (1, 10):
        path = corpus.write(work / "readers", spans * times, seed=99, only=form)[form]
        size = sum(p.stat().st_size for p in (path.rglob("*") if path.is_dir() else [path]) if p.is_file()) >> 20
        peaks.append((ours.in_process(path, work, stage_only=True)["peak_mb"], size))
    note = ", ".join(f"{peak:.0f} MB at {size} MB" for peak, size in peaks)
    return (f"peak memory of reading {FORMATS[form]}", "any size", _MOST_MB, 400, "MB", peaks[-1][0], note)
