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
from benchmarks.trace import Row

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


def _ratio(call: Callable[[], object], limit: Callable[[], object], count: int, rounds: int) -> float:
    return statistics.median(_us(call, count) / _us(limit, count) for _ in range(rounds))


def rows(*, quick: bool) -> list[Row]:
    """Rows of the table: the worst document counts."""
    found = measure(rounds=3 if quick else 7)
    slowest = max(found, key=lambda name: found[name]["per_rfc8785"])
    large = {name: figures for name, figures in found.items() if "KB" in name and name != "1 KB"}
    heaviest = "100 KB, few nodes"
    listed = ", ".join(f"{name} {figures['per_rfc8785']:g}" for name, figures in found.items())
    others = ", ".join(f"{name} {figures['fingerprint_per_sha256_orjson']:g}" for name, figures in large.items())
    return [
        (
            "canonical JSON, byte-equal, slowest of 5 documents",
            "the rfc8785 package",
            0.2,
            0.1,
            "×",
            found[slowest]["per_rfc8785"],
            listed,
        ),
        (
            "fingerprint of 100 KB",
            "sha256 over orjson's sorted output (not RFC 8785)",
            2.0,
            1.6,
            "×",
            found[heaviest]["fingerprint_per_sha256_orjson"],
            others,
        ),
    ]


def measure(rounds: int = 7) -> dict[str, dict[str, float]]:
    """For each document: our time over that of rfc8785, and our fingerprint over sha256 of orjson's bytes."""
    found = {}
    for name, value in DOCUMENTS.items():
        if canonical(value).data != rfc8785.dumps(value):
            raise AssertionError(f"{name}: not the bytes of the reference implementation")
        count = max(3, 200_000 // (len(orjson.dumps(value)) + 100))
        reference = _ratio(lambda v=value: canonical(v), lambda v=value: rfc8785.dumps(v), count, rounds)  # type: ignore[misc]
        hashed = _ratio(
            lambda v=value: beleg.fingerprint(v),  # type: ignore[misc]
            lambda v=value: hashlib.sha256(orjson.dumps(v, option=orjson.OPT_SORT_KEYS)).hexdigest(),  # type: ignore[misc]
            count,
            rounds,
        )
        found[name] = {"per_rfc8785": round(reference, 3), "fingerprint_per_sha256_orjson": round(hashed, 2)}
    return found
