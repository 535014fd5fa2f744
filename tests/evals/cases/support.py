"""A project with features, an installation with runs and corrections, and people who decide on them."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from beleg import flow
from beleg.evals.cases.pen import Pen, Person
from beleg.trace.clock import Clock
from beleg.trace.fingerprint import fingerprint
from tests.events import event
from tests.flow.support import AS_OF, Installation, run_events

DAY = datetime(2024, 1, 1, 9, tzinfo=UTC)
ANNA, BEN = fingerprint("anna"), fingerprint("ben")
LEAD = Person("head of bookkeeping", "seen on the invoice")
WORKFLOWS = """\
workflows:
  ocr:
    unit: document
    result: {run_unit: documents}
    values: stored
  dunning:
    unit: letter
    result: {run_unit: letters}
"""


def project(folder: Path, features: Mapping[str, tuple[str, str | None]] | None = None) -> Path:
    """A project with features: name → workflow and the dataset that the draft names."""
    served = features or {"receipts": ("ocr", "receipts-1"), "letters": ("dunning", "letters-1")}
    (folder / "evals").mkdir(parents=True)
    (folder / "contracts" / "policies").mkdir(parents=True)
    (folder / "contracts" / "policies" / "workflows.yaml").write_text(WORKFLOWS)
    for name, (workflow, dataset) in served.items():
        draft = folder / "contracts" / "features" / name / "draft"
        draft.mkdir(parents=True)
        (draft.parent / "feature.yaml").write_text(f"title: {name}\nworkflow: {workflow}\nowner: us\nrisk_tier: 1\n")
        if dataset:
            (draft / "evals.yaml").write_text(f"dataset: {dataset}\ncriteria: []\n")
    return folder


class Office:
    """An installation beside a project; everything in it goes the way a user's would."""

    def __init__(self, home: Path, **features: tuple[str, str | None]) -> None:
        self.project = project(home / "project", features or None)
        self.at = Installation(home)
        self.settings = self.at.settings = replace(self.at.settings, project=self.project)
        self._ids = (f"{number:08d}-0000-7000-8000-000000000000" for number in count(1))
        self._seconds = count(1)

    def run(self, name: str, *, document: str | None = None, **fields: Any) -> list[dict[str, Any]]:
        """Events of a run on a document."""
        known = {"input_hash": fingerprint(document or name), "input_ref": f"ref-{document or name}", **fields}
        return run_events(name, DAY, **known)

    def correction(
        self, id_: str, run: str, field: str = "/gross", expected: Any = None, **more: Any
    ) -> dict[str, Any]:
        """A correction a minute after the one before."""
        at = DAY + timedelta(hours=1, minutes=next(self._seconds))
        value = {} if expected is None else {"expected": expected, "workflow": "ocr"}
        fields = {"run_id": run, "field": field, "author_hash": ANNA, **value, **more}
        return event("correction", id_, at.strftime("%Y-%m-%dT%H:%M:%SZ"), correction_id=id_, **fields)

    def take(self, *events: dict[str, Any]) -> None:
        """Events come into the lake and are bound; nothing is published, which takes longest."""
        self._bind(self.at.write(*events))

    def _bind(self, *paths: Path) -> None:
        flow.ingest(self.settings, paths)
        flow.build(self.settings, "bindings", as_of=AS_OF)

    def pen(self) -> Pen:
        """Writes at an instant after everything before."""
        at = DAY + timedelta(days=1, minutes=next(self._seconds))
        return Pen(
            self.settings, new_id=lambda: next(self._ids), clock=Clock(wall_ns=lambda: int(at.timestamp()) * 10**9)
        )

    def ingest(self) -> None:
        """What was decided comes into the lake."""
        self._bind()

    def publish(self) -> None:
        """What the lake holds is shown to analysts."""
        flow.publish(self.settings, as_of=AS_OF)

    def files(self) -> dict[str, bytes]:
        """Everything below `evals/` by its path, the lock aside."""
        folder = self.project / "evals"
        found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock"]
        return {str(path.relative_to(folder)): path.read_bytes() for path in found}

    def manifest(self, name: str, version: int) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.project / f"evals/datasets/{name}/v{version:03d}.json").read_text())
        return found
