"""Bindings tell of people and documents, so they go as the events go that they were made from."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from beleg.lake.forgotten import Kind
from beleg.lake.snapshot import Snapshot
from beleg.retention.forget import forget
from beleg.retention.prune import prune
from tests.events import event
from tests.flow.support import Installation, run_events

START = datetime(2025, 1, 10, 12, tzinfo=UTC)
NOW = START + timedelta(days=500)
ANNA = "d" * 64


@pytest.fixture
def there(tmp_path: Path) -> Installation:
    said = (START + timedelta(hours=3)).isoformat()
    return Installation.begun(
        tmp_path,
        *run_events("old", START, input_ref="scan/1", input_hash="a" * 64),
        event("feedback", "f", said, run_id="old", rating="like", author_hash=ANNA),
        event("correction", "c", said, input_hash="a" * 64, field="/x", author_hash=ANNA),
        *run_events("new", NOW - timedelta(days=1), input_hash="b" * 64),
    )


def test_pruned_runs_take_what_was_said_of_them_along(there: Installation) -> None:
    before = there.ask("SELECT sum(liked_runs), sum(corrected_runs) FROM prompt_versions")
    assert before == [(1, 1)]
    prune(there.settings, older_than_days=400, now=NOW)
    assert there.ask("SELECT count(*) FROM bindings") == [(0,)]
    assert there.ask("SELECT sum(liked_runs), sum(corrected_runs) FROM prompt_versions") == before


@pytest.mark.parametrize(("kind", "value"), [("person", ANNA), ("ref", "scan/1")])
@pytest.mark.parametrize("sealed", [False, True])
def test_what_is_forgotten_is_forgotten_on_sealed_days_too(
    there: Installation, kind: Kind, value: str, sealed: bool
) -> None:
    if sealed:
        prune(there.settings, older_than_days=400, table="steps", now=NOW)
    forget(there.settings, kind, value)
    lake = Snapshot.latest(there.settings)
    assert lake.rows("bindings") == 2
    column = {"person": "author_hash", "ref": "coalesce(input_ref, input_hash)"}[kind]
    assert there.ask(f"SELECT count({column}) FROM bindings") == [(0,)]
