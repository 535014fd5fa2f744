"""What the tests of mappings share: a small mapping, and tables run through it."""

import json
from pathlib import Path
from typing import Any

from beleg.ingest.stage import Staged
from beleg.ingest.table import stage_table
from tests.ingest.support import staged_lines

STEP = {
    "event": "step",
    "fields": {
        "event_id": {"column": "id"},
        "event_time": {"column": "at", "unit": "iso"},
        "run_id": {"column": "id"},
        "step_id": {"column": "id"},
        "kind": {"value": "tool"},
        "status": {"value": "succeeded"},
    },
}
AT = "2030-01-01T00:00:00Z"


def step(**fields: Any) -> dict[str, Any]:
    return {**STEP, "fields": {**STEP["fields"], **fields}}  # type: ignore[dict-item]


def mapping_file(folder: Path, *events: dict[str, Any], **top: Any) -> Path:
    """A mapping file; JSON is YAML."""
    path = folder / "mapping.yaml"
    path.write_text(json.dumps({"mapping": 1, "source": "test", "events": list(events) or [STEP], **top}))
    return path


def run(folder: Path, content: str | bytes, *events: dict[str, Any], name: str = "t.csv", **top: Any) -> Staged:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return stage_table([path], mapping_file(folder, *events, **top), folder / "staged")


def made(staged: Staged) -> list[dict[str, Any]]:
    return [json.loads(line) for line in staged_lines(staged)]


def details(staged: Staged) -> list[str]:
    return [row["detail"] for row in staged.quarantine_rows()]


def usage(**counts: Any) -> dict[str, Any]:
    return {**STEP, "usage": counts}
