"""Canonicalising against the `rfc8785` package (byte-equal) and against sha256 over orjson's sorted output."""

import hashlib
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import orjson
import rfc8785

import beleg
from beleg.trace.canon import canonical

_random = random.Random(1)
DOCUMENTS: dict[str, Any] = {
    "12 keys": {f"key{i}": i if i % 2 else f"value {i}" for i in range(12)},
    "1 KB": {"messages": [{"role": "user", "content": "x" * 900}], "model": "m", "n": 1, "t": 0.7, "ok": [True, None]},
    "100 KB, few nodes": [{"text": "word " * 4000, "n": i} for i in range(5)],
    "95 KB, many nodes": [
        {"id": i, "name": f"item {i}", "net": round(_random.random() * 100, 2), "tags": ["a", "b"], "ok": True}
        for i in range(1200)
    ],
    "80 KB of floats": [_random.random() for _ in range(4300)],
}


def _us(call: Callable[[], object], count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count * 1e6


def _ratio(call: Callable[[], object], limit: Callable[[], object], count: int, rounds: int = 7) -> float:
    return statistics.median(_us(call, count) / _us(limit, count) for _ in range(rounds))


def measure() -> dict[str, dict[str, float]]:
    """For each document: our time over that of rfc8785, and our fingerprint over sha256 of orjson's bytes."""
    found = {}
    for name, value in DOCUMENTS.items():
        if canonical(value).data != rfc8785.dumps(value):
            raise AssertionError(f"{name}: not the bytes of the reference implementation")
        count = max(3, 200_000 // (len(orjson.dumps(value)) + 100))
        reference = _ratio(lambda v=value: canonical(v), lambda v=value: rfc8785.dumps(v), count)  # type: ignore[misc]
        hashed = _ratio(
            lambda v=value: beleg.fingerprint(v),  # type: ignore[misc]
            lambda v=value: hashlib.sha256(orjson.dumps(v, option=orjson.OPT_SORT_KEYS)).hexdigest(),  # type: ignore[misc]
            count,
        )
        found[name] = {"per_rfc8785": round(reference, 3), "fingerprint_per_sha256_orjson": round(hashed, 2)}
    return found


if __name__ == "__main__":
    for document, figures in measure().items():
        print(f"{document:20} {figures}")
