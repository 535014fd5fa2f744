"""The key ring of keyed fingerprints.

`BELEG_HASH_KEYS` holds a JSON object, or the path of a file with one:

    {"active": "k2", "keys": {"k1": "<hex>", "k2": "<hex>"}, "tenants": {"acme": "acme-1"}}

New fingerprints use the tenant's key where it has one, else the active key; old keys stay in the ring as
long as something compares with them. A tenant whose key is destroyed is forgotten: nobody can confirm a
guess of its values any more.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

MIN_SECRET_BYTES = 16


class KeyRingError(ValueError):
    """The key ring cannot be used; the message never shows a secret."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret and its id; the id is stored beside every fingerprint made with it."""

    id: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyRing:
    """All keys of an installation; an empty ring means plain SHA-256."""

    keys: Mapping[str, Key] = field(default_factory=dict)
    active: str | None = None
    tenants: Mapping[str, str] = field(default_factory=dict)

    def key(self, key_id: str) -> Key:
        """The key of that id; raises KeyError naming the ids there are."""
        try:
            return self.keys[key_id]
        except KeyError:
            known = ", ".join(sorted(self.keys)) or "none"
            raise KeyError(f"no key {key_id!r} in BELEG_HASH_KEYS; its keys are: {known}") from None

    def for_tenant(self, tenant: str | None) -> Key | None:
        """The key for new fingerprints; None for plain SHA-256.

        Raises KeyError for a tenant whose key was destroyed: falling back to another key would bring
        back what was to be forgotten.
        """
        if not self.keys and not self.tenants:
            return None
        key_id = self.tenants.get(tenant, self.active) if tenant is not None else self.active
        return None if key_id is None else self.key(key_id)


def key_ring() -> KeyRing:
    """The ring of this process's environment; raises KeyRingError for one that cannot be used."""
    return ring_of(os.environ.get("BELEG_HASH_KEYS", ""))


@lru_cache(maxsize=4)
def ring_of(setting: str) -> KeyRing:
    """The ring that a value of `BELEG_HASH_KEYS` means; raises KeyRingError for one that cannot be used."""
    setting = setting.strip()
    if not setting:
        return KeyRing()
    return parse(setting if setting.startswith("{") else _read(Path(setting)))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise KeyRingError(f"BELEG_HASH_KEYS: cannot read {str(path)!r}: {error.strerror}") from error


def parse(text: str) -> KeyRing:
    """Parse a key ring; raises KeyRingError for one that cannot be used."""
    try:
        raw = json.loads(text)
        keys = {key_id: Key(key_id, bytes.fromhex(secret)) for key_id, secret in raw["keys"].items()}
        ring = KeyRing(keys, raw.get("active"), dict(raw.get("tenants", {})))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        # `from None`: the message of the cause could show a part of a secret.
        shape = '{"active": id, "keys": {id: hex}, "tenants": {tenant: id}}'
        raise KeyRingError(f"BELEG_HASH_KEYS is no key ring ({type(error).__name__}); expected {shape}") from None
    for key in ring.keys.values():
        if len(key.secret) < MIN_SECRET_BYTES:
            raise KeyRingError(f"key {key.id!r} has {len(key.secret)} bytes; use at least {MIN_SECRET_BYTES}")
    if ring.active is not None:
        ring.key(ring.active)
    return ring
