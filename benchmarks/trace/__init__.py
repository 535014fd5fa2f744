"""The tracer against OpenTelemetry, its peers, and its canonicaliser against the reference implementation."""

from collections.abc import Callable
from pathlib import Path

Row = tuple[str, str, float, float, str, float, str]
"""What, against, at most, aim, unit, measured, note: a row of `python -m benchmarks`."""


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:  # noqa: ARG001
    """All rows about the tracer. Peers that are not installed are told by `say` and left out."""
    from benchmarks.trace import canonical, peers, tracer  # noqa: PLC0415 - peers' Python has not what these need

    say("trace: events and runs against OpenTelemetry")
    rows: list[tuple[object, ...]] = [*tracer.rows(quick=quick)]
    say("trace: canonical JSON against rfc8785")
    rows += canonical.rows(quick=quick)
    say("trace: whole runs against Langfuse, Logfire, MLflow, Opik")
    return [*rows, *peers.rows(say, quick=quick)]
