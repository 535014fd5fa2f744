"""The bytes of what a registry holds. Apart from the model, which the SDK needs only when it runs a feature."""

import json
from collections.abc import Mapping
from typing import Any


def encode(document: Mapping[str, Any]) -> bytes:
    """The bytes of a document: UTF-8, members in their own order, no spaces."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
