"""`beleg ingest` on a foreign file, in a process of its own: wall seconds and peak memory."""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from beleg import flow
from beleg.ingest.foreign import stage_foreign, told_apart
from beleg.ingest.readers.formats import suffixes
from beleg.ingest.sources import find_sources
from benchmarks.year import settings_of


def in_process(source: Path, work: Path, *, stage_only: bool = False) -> dict[str, Any]:
    """Take the file into a new installation, or only read and judge it."""
    command = [sys.executable, "-m", "benchmarks.readers.ours", str(source), str(work)]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([*command, *(["--stage"] if stage_only else [])], check=True, capture_output=True, cwd=root)
    return dict(json.loads(done.stdout))


def _run(source: Path, work: Path, *, stage_only: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=work) as folder:
        settings = settings_of(Path(folder))
        if not stage_only:
            flow.run(settings)  # the installation is there, as the servers of the peers are
        begun = time.perf_counter()
        if stage_only:
            _, found = told_apart(find_sources([source], foreign=suffixes()), None)
            staged = stage_foreign(found, Path(folder) / "staged")
            accepted, quarantined = staged.accepted, staged.quarantined
        else:
            taken = flow.run(settings, [source]).ingest
            accepted, quarantined = taken.accepted, taken.quarantined
        wall_s = time.perf_counter() - begun
    if quarantined or not accepted:
        msg = f"{accepted} events accepted, {quarantined} items refused of {source}"
        raise ValueError(msg)
    peaks = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {"wall_s": wall_s, "peak_mb": round(peaks[0] + 2 * peaks[1]), "accepted": accepted}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--stage", action="store_true")
    options = parser.parse_args()
    print(json.dumps(_run(options.source, options.work, stage_only=options.stage)))
