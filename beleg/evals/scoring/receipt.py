"""What an answer took, read from the events that its own run writes on their way to the spool."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from beleg.core.errors import DamagedError, UsageError
from beleg.evals.scoring.tariff import Tariff, input_tokens, output_tokens
from beleg.trace import runtime as runtimes
from beleg.trace.spool import Spool

_heard: ContextVar[list[bytes] | None] = ContextVar("heard", default=None)


@dataclass(frozen=True)
class Receipt:
    """Figures of one answer; None is unknown."""

    run_id: str | None
    latency_ms: int | None = None
    """Sum over the steps of the run, as `runs.latency_ms`."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_pico_usd: int | None = None
    """Of the run and of runs that its tools started."""
    requests: int = 0
    """Calls of models, repeated ones included."""

    @property
    def measures(self) -> dict[str, int | None]:
        """By the names that measuring scorers read."""
        return {
            "latency_ms": self.latency_ms,
            "cost_pico_usd": self.cost_pico_usd,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
        }


NOTHING = Receipt(None)


class Trace:
    """The way to the spool, while an evaluation listens."""

    def __init__(self, spool: Spool) -> None:
        self._write = spool.write

    def keep(self, line: bytes) -> None:
        """Write one event of the evaluation; raises DamagedError where the spool takes none."""
        try:
            self._write(line)
        except OSError as error:
            raise DamagedError(f"the spool takes no results: {error}; they are in the journal, run it again") from error


@contextmanager
def listening(folder: Path) -> Generator[Trace]:
    """Let runs be heard while the block lasts, on their way to the spool in a folder.

    Raises UsageError where tracing is off.
    """
    found = runtimes.runtime()
    if found is None:
        raise UsageError("tracing is off (BELEG_DISABLED): an evaluation needs the trace of its runs; switch it on")

    # Not the process's own: the installation may be another than the environment names.
    spool = Spool(folder)

    def write(line: bytes) -> None:
        heard = _heard.get()
        if heard is not None:
            heard.append(line)
        spool.write(line)

    listener = replace(found, write=write)
    runtimes.push(listener)
    try:
        yield Trace(spool)
    finally:
        runtimes.pop(listener)
        spool.seal()


@contextmanager
def hearing() -> Generator[list[bytes]]:
    """The events that the calling thread traces inside of the block."""
    lines: list[bytes] = []
    token = _heard.set(lines)
    try:
        yield lines
    finally:
        _heard.reset(token)


def receipt(lines: list[bytes], tariff: Tariff) -> Receipt:
    """What these events say about the run that began first."""
    events: list[Mapping[str, Any]] = [json.loads(line) for line in lines]
    run_id = next((str(each["run_id"]) for each in events if each["event"] == "run_started"), None)
    steps = [each for each in events if each["event"] == "step"]
    told = [each for each in steps if each.get("buckets")]
    costs = [tariff.pico_usd(each) for each in steps]
    return Receipt(
        run_id,
        sum(each.get("latency_ms") or 0 for each in steps if each["run_id"] == run_id) if steps else None,
        sum(map(input_tokens, told)) if told else None,
        sum(map(output_tokens, told)) if told else None,
        sum(each for each in costs if each is not None) if costs and None not in costs else None,
        sum(each["kind"] == "model" for each in steps),
    )
