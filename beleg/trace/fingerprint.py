"""Fingerprints: SHA-256 (or HMAC-SHA-256) over the canonical JSON of a value.

The same logical value has the same fingerprint whatever the order of its keys, in any language that
follows RFC 8785. A plain hash of a value that can be guessed can be confirmed by guessing; the keyed
variant cannot, without the key.
"""

import hmac
from hashlib import sha256
from typing import Any, NamedTuple

from beleg.trace.canon import canonical
from beleg.trace.keys import Key, key_ring


class Fingerprint(NamedTuple):
    """A fingerprint with what is needed to compare it: hashes compare only within one key and version."""

    digest: str
    """64 lower-case hex digits."""
    canon_version: str
    key_id: str | None


_new = tuple.__new__  # half the time of the constructor


def fingerprint(value: Any, *, key: Key | bytes | str | None = None) -> str:
    """The fingerprint of a value: 64 lower-case hex digits.

    `key` makes it an HMAC: a Key, the secret's bytes, or the id of a key in the ring of
    `BELEG_HASH_KEYS`. Raises NotCanonicalError (a TypeError) for a value without canonical form and
    KeyError for an unknown key id.
    """
    secret = key_ring().key(key).secret if isinstance(key, str) else key
    if isinstance(secret, Key):
        secret = secret.secret
    return _digest(canonical(value).data, secret)


def full_fingerprint(value: Any, key: Key | None) -> Fingerprint:
    """The fingerprint of a value with its encoding and key id, as events store it."""
    data, version = canonical(value)
    if key is None:
        return _new(Fingerprint, (sha256(data).hexdigest(), version, None))
    return Fingerprint(_digest(data, key.secret), version, key.id)


def _digest(data: bytes, secret: bytes | None) -> str:
    if secret is None:
        return sha256(data).hexdigest()
    return hmac.digest(secret, data, "sha256").hex()
