"""Writes `toolset` and `layout` events: what a hash in a step stands for, once per process and hash."""

import weakref
from collections.abc import Callable, Mapping
from typing import Any

from beleg.trace.clock import timestamp
from beleg.trace.events import line
from beleg.trace.runtime import Runtime, runtime

_written: set[str] = set()
_writer: Callable[[], Runtime | None] = lambda: None  # noqa: E731


def record_once(event: str, fields: Mapping[str, Any]) -> str:
    """Write a `toolset` or `layout` event unless this process has, and give its hash, for `step(…)`.

    `fields` hold `toolset_hash` or `layout_hash`. The event's id is made of the hash: every process writes the
    same event, which the lake keeps once. Never raises for the tracer's sake; without tracing it does nothing.
    """
    digest = str(fields[f"{event}_hash"])
    event_id, found = f"{event}-{digest}", runtime()
    if found is None or _is_written(found, event_id):
        return digest
    try:
        head = {"event_id": event_id, "event_time": timestamp(found.clock.wall_ns())}
        found.emit(line(event, b"", {**head, **fields}))
    except Exception as error:  # noqa: BLE001 - nothing of the tracer's may reach the caller
        found.faults.note(event, error)
    return digest


def _is_written(found: Runtime, event_id: str) -> bool:
    """Whether this tracer has written it; another tracer begins anew."""
    global _writer  # noqa: PLW0603 - one process, one tracer at a time
    if _writer() is not found:
        _writer = weakref.ref(found)
        _written.clear()
    if event_id in _written:
        return True
    _written.add(event_id)
    return False
