"""The event schemas as judges: every line the tracer writes must meet them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from beleg.core.paths import shipped
from beleg.trace.spool_files import complete_bytes


@cache
def _validator(event: str) -> Any:
    schema = json.loads((shipped("contracts", "events") / event / "v1.schema.json").read_text())
    return jsonschema_rs.validator_for(schema, validate_formats=True)


def assert_valid(event: dict[str, Any]) -> None:
    """Raise the validator's own error for an event that its schema refuses."""
    _validator(event["event"]).validate(event)


def read_spool(folder: Path) -> list[dict[str, Any]]:
    """All events of a spool, each checked; fails for a line that is torn anywhere but at the end.

    A kill in the middle of a write may leave half a line at the end: it was never acknowledged.
    """
    events = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_bytes()[: complete_bytes(path)].splitlines():
            event = json.loads(line)
            assert_valid(event)
            events.append(event)
    return events
