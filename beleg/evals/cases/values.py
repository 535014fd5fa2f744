"""Values that people give as right: read strictly, and kept only where they are small."""

import json
from typing import Any

from beleg.core.errors import UsageError
from beleg.evals.cases.case import file_text
from beleg.trace.canon_types import NotCanonicalError
from beleg.trace.fingerprint import fingerprint
from beleg.trace.keys import key_ring
from beleg.trace.shapes import MAX_BYTES


def json_value(text: str) -> Any:
    """A JSON text; raises ValueError for NaN, infinity and whatever else is none."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def storable(value: Any) -> Any:
    """The value; raises UsageError for one that JSON cannot hold or that is too large to be stored (SPEC, A4)."""
    try:
        size = len(file_text({"value": value}).encode())
        fingerprint(value)
    except (ValueError, RecursionError, NotCanonicalError) as error:
        raise UsageError(f"the expected value cannot be kept: {error}") from error
    if size > MAX_BYTES:
        raise UsageError(f"the expected value has {size} bytes as JSON; at most {MAX_BYTES} are stored")
    return value


def fingerprint_under(value: Any, key_id: str | None) -> str | None:
    """Fingerprint of a value under the key of that id; None where the key is not in the ring."""
    if key_id is None:
        return fingerprint(value)
    key = key_ring().keys.get(key_id)
    return None if key is None else fingerprint(value, key=key)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
