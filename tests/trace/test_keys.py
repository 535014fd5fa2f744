"""Keyed fingerprints: key ring, rotation, tenants, and messages that show no secret."""

import hashlib
import hmac
import json
from pathlib import Path

import pytest

import beleg
from beleg.testing import capture
from beleg.trace.keys import Key, KeyRingError, key_ring, parse

RING = {
    "active": "k2",
    "keys": {"k1": "01" * 32, "k2": "02" * 32, "acme-1": "03" * 32},
    "tenants": {"acme": "acme-1", "gone": "destroyed"},
}


def test_keyed_fingerprint_is_the_hmac_of_the_canonical_form() -> None:
    expected = hmac.new(b"s" * 16, b'{"a":1}', hashlib.sha256).hexdigest()
    assert beleg.fingerprint({"a": 1}, key=b"s" * 16) == expected
    assert beleg.fingerprint({"a": 1}, key=Key("k", b"s" * 16)) == expected
    assert beleg.fingerprint({"a": 1}) != expected


def test_ring_is_read_from_text_or_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BELEG_HASH_KEYS", json.dumps(RING))
    by_text = beleg.fingerprint("x", key="k1")
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(RING))
    monkeypatch.setenv("BELEG_HASH_KEYS", str(path))
    assert beleg.fingerprint("x", key="k1") == by_text
    assert key_ring().active == "k2"


def test_new_fingerprints_use_the_tenants_key_else_the_active_one() -> None:
    ring = parse(json.dumps(RING))
    assert [ring.for_tenant(t).id for t in ("acme", "other", None)] == ["acme-1", "k2", "k2"]  # type: ignore[union-attr]


def test_destroyed_key_of_a_tenant_is_not_replaced_by_another() -> None:
    with pytest.raises(KeyError, match="destroyed"):
        parse(json.dumps(RING)).for_tenant("gone")


def _trace_x(tenant: str) -> None:
    with beleg.traced_agent_run(workflow="ocr", input_payload="x", tenant=tenant):
        pass


def test_events_carry_the_id_of_the_key() -> None:
    with capture(keys=parse(json.dumps(RING))) as captured:
        _trace_x(tenant="acme")
    started = captured.only_run().started
    assert started["hash_key_id"] == "acme-1"
    assert started["input_hash"] == beleg.fingerprint("x", key=bytes.fromhex("03" * 32))


def test_run_of_a_forgotten_tenant_is_recorded_without_hash() -> None:
    with capture(keys=parse(json.dumps(RING)), strict=False) as captured:
        _trace_x(tenant="gone")
    assert "input_hash" not in captured.only_run().started
    assert captured.faults.faults == {"no_hash_unreadable": 1}


@pytest.mark.parametrize(
    "text",
    ["[]", "{", '{"keys": {"k": "zz"}}', '{"keys": {"k": "0102"}}', '{"active": "a", "keys": {}}', '{"keys": 3}'],
)
def test_ring_that_cannot_be_used_is_refused_without_showing_a_secret(text: str) -> None:
    with pytest.raises((KeyRingError, KeyError)) as refused:
        parse(text)
    assert "zz" not in str(refused.value)
    assert "0102" not in str(refused.value)


def test_secrets_do_not_show_in_a_repr() -> None:
    assert "secret" not in repr(Key("k", b"secretsecretsecret"))
