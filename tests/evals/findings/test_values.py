"""Corrected values reach the lake only where their workflow stores values, whoever reports them and however."""

from pathlib import Path
from typing import Any

import pytest

import beleg
from beleg import flow
from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.core.values import stored_workflows, stores_values
from beleg.ingest import retry
from beleg.ingest.limits import Limits
from beleg.ingest.sources import find_sources
from beleg.ingest.stage import stage
from beleg.trace.keys import key_ring
from tests.events import event, lines
from tests.flow.support import AS_OF, Installation

MARK = "marked-value-4711"
POLICY = "workflows:\n  open: {unit: document, result: {run_unit: documents}, values: stored}\n"
POLICY += "  shut: {unit: document, result: {run_unit: documents}}\n"
MAPPING = """
mapping: 1
table: {format: csv}
source: sheet
events:
  - event: correction
    fields:
      event_id: {column: id}
      event_time: {column: at, unit: iso}
      correction_id: {column: id}
      run_id: {column: run}
      workflow: {column: workflow}
      field: {value: /x}
      reason: {value: mapping_bug}
      expected: {column: right}
"""
KEYS = '{"active": "k1", "keys": {"k1": "' + "11" * 32 + '", "acme": "' + "22" * 32 + '"}, "tenants": {"acme": "acme"}}'


@pytest.fixture
def there(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    policies = tmp_path / "project" / "contracts" / "policies"
    policies.mkdir(parents=True)
    (policies / "workflows.yaml").write_text(POLICY, encoding="utf-8")
    made.settings = Settings(made.settings.home, made.settings.spool, tmp_path / "project")
    return made


def correction(name: str, value: Any = MARK, **fields: Any) -> dict[str, Any]:
    return event("correction", name, run_id="r", expected=value, **fields)


def stored(there: Installation) -> dict[str, tuple[Any, Any]]:
    rows = there.ask("SELECT event_id, expected, expected_hash FROM corrections")
    return {name: (value, digest) for name, value, digest in rows}


def leaks(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and MARK.encode() in path.read_bytes()]


def test_only_a_workflow_that_stores_values_keeps_them(there: Installation) -> None:
    there.take(
        correction("open", workflow="open"),
        correction("shut", workflow="shut"),
        correction("unknown", workflow="nobody knows"),
        correction("unnamed"),
    )
    digest = beleg.fingerprint(MARK)
    assert stored(there) == {
        "open": (f'"{MARK}"', None),
        "shut": (None, digest),
        "unknown": (None, digest),
        "unnamed": (None, digest),
    }


@pytest.mark.parametrize("value", [None, 0, "", [], {"a": [1.5, None]}, 10**18, MARK])
def test_the_fingerprint_is_that_of_the_value(there: Installation, value: Any) -> None:
    there.take(correction("c", value))
    assert stored(there) == {"c": (None, beleg.fingerprint(value))}


def test_the_key_is_that_of_the_tenant(there: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HASH_KEYS", KEYS)
    there.take(correction("a", tenant="acme"), correction("b"))
    key = {name: key_ring().key(name) for name in ("acme", "k1")}
    found = {"a": (None, beleg.fingerprint(MARK, key=key["acme"])), "b": (None, beleg.fingerprint(MARK, key=key["k1"]))}
    assert stored(there) == found


def test_a_value_of_a_tenant_that_was_forgotten_goes_without_a_trace(
    there: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELEG_HASH_KEYS", KEYS.replace('"tenants": {"acme": "acme"}', '"tenants": {"acme": "gone"}'))
    there.take(correction("c", tenant="acme"))
    assert stored(there) == {"c": (None, None)}


def test_a_broken_key_ring_stops_before_anything_is_taken(there: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELEG_HASH_KEYS", "{")
    with pytest.raises(UsageError, match="BELEG_HASH_KEYS"):
        there.take(correction("c"))


def test_a_key_written_with_escapes_is_the_same_key(there: Installation) -> None:
    line = lines(correction("c")).replace(b'"expected"', b'"expec\\u0074ed"')
    path = there.inbox / "escaped.jsonl"
    path.write_bytes(line)
    flow.run(there.settings, [path], as_of=AS_OF)
    assert stored(there) == {"c": (None, beleg.fingerprint(MARK))}
    assert not leaks(there.settings.home)


def test_rows_of_a_mapped_table_are_treated_alike(there: Installation, tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(MAPPING, encoding="utf-8")
    table = tmp_path / "sheet.csv"
    rows = [f"{w},2030-01-01T12:00:00Z,r,{w},{MARK}" for w in ("open", "shut")]
    table.write_text("\n".join(["id,at,run,workflow,right", *rows]) + "\n", encoding="utf-8")
    report = flow.run(there.settings, [table], mapping=mapping, as_of=AS_OF)
    assert report.ingest.quarantined_by_reason == {}
    assert stored(there) == {"open": (f'"{MARK}"', None), "shut": (None, beleg.fingerprint(MARK))}


def test_worker_processes_do_the_same(there: Installation, tmp_path: Path) -> None:
    path = there.write(*(correction(f"c{n}", workflow=("open", "shut")[n % 2]) for n in range(40)))
    limits = Limits(range_bytes=4_000, inline_bytes=0)
    staged = stage(
        find_sources([path]), tmp_path / "s", workers=2, limits=limits, stored=stored_workflows(there.settings)
    )
    kept = b"".join(file.read_bytes() for file in staged.files["correction"])
    assert (staged.accepted, kept.count(MARK.encode())) == (40, 20)


def test_a_line_from_quarantine_is_treated_alike(there: Installation) -> None:
    path = there.write(correction("c", workflow="shut") | {"schema_version": 2}, event("run_started", "s", run_id="r"))
    there.settings.ledger.mkdir(parents=True, exist_ok=True)
    flow.run(there.settings, [path], as_of=AS_OF)
    path.write_bytes(path.read_bytes().replace(b'"schema_version":2', b'"schema_version":1'))
    retry.retry(there.settings)
    flow.run(there.settings, as_of=AS_OF)
    assert stored(there) == {"c": (None, beleg.fingerprint(MARK))}


def test_a_large_value_is_refused_whether_it_would_be_stored_or_not(there: Installation) -> None:
    report = there.take(correction("c", "x" * 20_000, workflow="shut"))
    assert report.ingest.quarantined_by_reason == {"value_too_large": 1}


def test_the_policy_names_the_words_it_knows(there: Installation) -> None:
    assert stored_workflows(there.settings) == {"open"}
    assert [stores_values(there.settings, name) for name in ("open", "shut", "other", None)] == [
        True,
        False,
        False,
        False,
    ]
    path = there.settings.policy("workflows.yaml")
    path.write_text(POLICY.replace("values: stored", "values: kept"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"workflows\.open: values must be one of hashed, stored, got 'kept'"):
        stored_workflows(there.settings)
