"""Makes the registry that ships with the demo: the history of receipt extraction, published version by version.

Of the demo's features it alone has a tier that asks for no evidence; the others wait for a gate to measure them.
`python -m tests.demo.registry` writes it anew after the drafts have changed.
"""

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from beleg.contract import draft
from beleg.contract.promotion import Ask, check, publish
from beleg.contract.registry.registry import Registry
from beleg.core.paths import shipped

NAME = "receipt-extraction"
PUBLISHED = (
    (1, datetime(2026, 8, 31, 8, 30, tzinfo=UTC), "Jonas Albrecht"),
    (2, datetime(2026, 9, 14, 9, 5, tzinfo=UTC), "Jonas Albrecht"),
    (3, datetime(2026, 9, 24, 10, 0, tzinfo=UTC), "Sabine Krüger"),
    (4, datetime(2026, 10, 5, 13, 45, tzinfo=UTC), "Sabine Krüger"),
)
"""(draft of `beleg/demo/features`, when, by whom): fixed, so that the same drafts give the same bytes."""
SHIPPED = shipped("contracts").parent / "beleg" / "demo" / "registry"


def make(root: Path) -> Registry:
    """Publish every version into an empty folder, as a person would."""
    registry = Registry(root)
    drafts = SHIPPED.parent / "features" / NAME
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "contracts" / "features" / NAME
        folder.mkdir(parents=True)
        shutil.copy(shipped("contracts", "features") / NAME / "feature.yaml", folder)
        for number, now, by in PUBLISHED:
            shutil.rmtree(folder / "draft", ignore_errors=True)
            shutil.copytree(drafts / str(number), folder / "draft")
            feature = draft.feature(folder)
            contract, ask = draft.read(feature), Ask(confirm_breaking=True)
            ready = check(feature, contract, registry, ask=ask, now=now)
            publish(feature, contract, registry, by=by, digest=ready.digest, epoch=ready.epoch, ask=ask, now=now)
    for lock in root.rglob(".lock"):
        lock.unlink()
    return registry


if __name__ == "__main__":
    shutil.rmtree(SHIPPED, ignore_errors=True)
    make(SHIPPED)
