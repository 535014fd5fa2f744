"""Corrected values of workflows that do not store them become fingerprints here, whoever reports them (SPEC, A4).

The one place that enforces `values: stored | hashed`, for own events and for imported ones: everything that
reaches the lake passes it.
"""

from collections.abc import Collection

import orjson

from beleg.core.errors import UsageError
from beleg.trace.canon_types import NotCanonicalError
from beleg.trace.fingerprint import full_fingerprint
from beleg.trace.keys import KeyRingError, key_ring


class Values:
    """Takes the values of all workflows but the `stored` ones out of lines."""

    def __init__(self, stored: Collection[str] = ()) -> None:
        self.stored = frozenset(stored)
        try:
            self._keys = key_ring()
        except KeyRingError as error:
            raise UsageError(str(error)) from error

    def line(self, event: str, line: bytes) -> bytes:
        """A good line as it may be stored: the line itself, or one with the value's fingerprint in its place.

        A correction that names no workflow stores nothing; that null is right is a value as well. A value that has
        no fingerprint goes without one.
        """
        if event != "correction":
            return line
        value = orjson.loads(line)
        if "expected" not in value or value.get("workflow") in self.stored:
            return line
        expected = value.pop("expected")
        try:
            key = self._keys.for_tenant(value.get("tenant"))
            value["expected_hash"] = full_fingerprint(expected, key).digest
        except (NotCanonicalError, KeyError):  # no canonical form; the tenant's key was destroyed
            value.pop("expected_hash", None)
        return orjson.dumps(value)
