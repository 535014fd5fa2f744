"""A worker process of ingest: `python -m beleg.ingest.worker`.

It reads one line of JSON per batch from its standard input and answers with one line each. A process of
its own kind, and not a `multiprocessing` pool, because a pool imports the caller's main module anew:
slow under the command, impossible from a notebook or a script without a guard.
"""

import gc
import signal
import sys
from pathlib import Path
from typing import Any

import orjson

from beleg.ingest.judge import Judge
from beleg.ingest.limits import Limits
from beleg.ingest.ranges import Batch, Judged, Range, judge_batch


def main() -> None:
    """Judge batches until the input ends. The first line holds what a `Judge` is made of."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the caller, who ends our input
    setup: dict[str, Any] = orjson.loads(sys.stdin.buffer.readline())
    limits = Limits(**setup["limits"])
    judge = Judge(limits, [Path(folder) for folder in setup["shape_folders"]], setup["stored"])
    gc.freeze()
    gc.disable()  # parsed lines hold no cycles; looking for some costs a tenth of the time
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(orjson.dumps(_answer(judge, limits, orjson.loads(line))) + b"\n")
        sys.stdout.buffer.flush()


def _answer(judge: Judge, limits: Limits, batch: dict[str, Any]) -> list[Judged] | dict[str, Any]:
    """What came out, or the error of the system: a full disk is no reason to try again elsewhere."""
    ranges = [Range(**work) for work in batch.pop("ranges")]
    try:
        return judge_batch(judge, limits, Batch(**batch, ranges=ranges))
    except OSError as error:
        return {"errno": error.errno, "strerror": error.strerror}


if __name__ == "__main__":
    main()
