"""What the SDK costs its caller: loading warm and cold, rendering and validation, and which validator is faster.

python -m benchmarks.contract
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema

from beleg.contract.client.cache import CachedHead, DiskCache
from beleg.contract.client.load import load
from beleg.contract.model import Contract, Criterion, Evals, Prompt, Provider, Providers, Variable
from beleg.contract.registry import steps
from beleg.contract.registry.registry import PUBLISH, Registry
from beleg.contract.registry.releases import Release
from beleg.contract.run.exchange import Reply
from beleg.contract.run.prepared import Prepared
from benchmarks.timing import seconds

FEATURE = "receipt-extraction"
AWAY = "http://127.0.0.1:1/registry"
LINE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "maxLength": 200},
        "quantity": {"type": "integer", "minimum": 1},
        "net": {"type": "number", "minimum": 0, "multipleOf": 0.01},
        "tax": {"enum": ["S", "R", "Z"]},
        "account": {"type": "string", "pattern": "^[0-9]{4}$"},
    },
    "required": ["text", "quantity", "net", "tax"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "date": {"type": "string", "format": "date"},
        "total": {"type": "number", "minimum": 0},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "minItems": 1},
    },
    "required": ["vendor", "date", "total", "lines"],
    "additionalProperties": False,
    "$defs": {"line": LINE},
}
ANSWER = {
    "vendor": "Acme Supplies GmbH",
    "date": "2026-11-30",
    "total": 2380.0,
    "lines": [
        {"text": f"Office chair, model {n}, delivered", "quantity": n + 1, "net": 119.99, "tax": "S", "account": "4930"}
        for n in range(18)
    ],
}
VARIABLES = {"document": "Acme Supplies GmbH, invoice 4711\n" + "Office chair 119.99 EUR\n" * 60}
COLD = f"""
import time, beleg
begun = time.perf_counter(), time.process_time()
from beleg.contract.client.load import load
feature = load({FEATURE!r}, major=1, registry={AWAY!r})
took = time.perf_counter() - begun[0], time.process_time() - begun[1]
assert (feature.version, feature.freshness.state) == ("1.0.0", "offline"), feature
print(*took)
"""


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about the SDK of contracts."""
    say("contract: loading, rendering, validation")
    folder = work / "contract"
    shutil.rmtree(folder, ignore_errors=True)
    os.environ["BELEG_CACHE"] = str(folder / "cache")
    registry = _published(folder / "registry")
    rounds = 3 if quick else 15
    return [_warm(registry, rounds), _cold(folder, registry, rounds), *_answer(rounds)]


def contract() -> Contract:
    """A contract whose answers are about 2 KB."""
    return Contract(
        feature=FEATURE,
        risk_tier=2,
        prompt=Prompt(
            "You read receipts for {{ company }}.",
            "Read this receipt:\n{{ document }}",
            (
                Variable("document", {"type": "string", "minLength": 1}, untrusted=True),
                Variable("company", {"type": "string"}),
            ),
        ),
        output_schema=SCHEMA,
        providers=Providers(Provider("openai", "gpt-5-mini-2025-08-07", "chat")),
        evals=Evals("receipts", (Criterion("total", "exact", "binary", 0.9),)),
        author="Ada",
    )


def _published(root: Path) -> Path:
    made = contract()
    release = Release(made.feature, "1.0.0", None, made.digest, made.document(), {}, "2026-11-30T12:00:00Z", "Ada")
    head = steps.bare(steps.published(None, made.feature, release.published, None))
    shelf = Registry(root).shelf(made.feature)
    shelf.commit(0, head, verb=PUBLISH, at="2026-11-30T12:00:00Z", by="Ada", why="", release=release.to_bytes())
    return root


def _warm(registry: Path, rounds: int) -> tuple[object, ...]:
    calls = 10_000
    load(FEATURE, major=1, registry=registry)

    def many() -> None:
        for _ in range(calls):
            load(FEATURE, major=1, registry=registry)

    taken = sorted(seconds(many) / calls * 1e6 for _ in range(rounds))
    return ("beleg.load, warm", "in memory", 20, 10, "µs", round(statistics.median(taken), 1), _spread(taken, "µs"))


def _cold(folder: Path, registry: Path, rounds: int) -> tuple[object, ...]:
    """A new process each time: all imports included but those of Python itself and of `import beleg`."""
    cache = DiskCache(AWAY, str(folder / "cache"))
    head = json.loads((registry / "features" / FEATURE / "head.json").read_bytes())
    place = registry / "features" / FEATURE
    data = (place / "head.json").read_bytes(), (place / "history" / "00000001.json").read_bytes()
    cache.put_head(f"features/{FEATURE}", CachedHead(*data, datetime.now(UTC)))
    sha = head["active"]["release"]
    cache.put_release(f"features/{FEATURE}", sha, (place / "releases" / f"{sha}.json").read_bytes())
    walls, cpus = zip(*(_in_new_process() for _ in range(rounds)), strict=True)
    note = f"of the process, which waits for nothing; wall {_spread(sorted(wall * 1000 for wall in walls), 'ms')}"
    against = "disk cache, server down, new process"
    return ("beleg.load, cold", against, 50, 30, "ms CPU", round(statistics.median(cpus) * 1000, 1), note)


def _in_new_process() -> tuple[float, float]:
    """Wall and CPU seconds. The work is all computing, so other work on the machine shows in the first alone."""
    done = subprocess.run([sys.executable, "-c", COLD], check=True, capture_output=True, text=True)
    wall, cpu = map(float, done.stdout.split())
    return wall, cpu


def _answer(rounds: int) -> list[tuple[object, ...]]:
    calls = 200
    text = json.dumps(ANSWER)
    prepared = Prepared(contract())
    plan = prepared.plan(prepared.contract.providers.primary)
    variables = {**VARIABLES, "company": "Beleg"}
    reference = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())

    def whole() -> None:
        for _ in range(calls):
            prepared.render(variables)
            if prepared.accept(Reply(text), plan) != ANSWER:
                raise AssertionError

    def ours() -> None:
        for _ in range(calls):
            if not prepared.output.valid(ANSWER):
                raise AssertionError

    def theirs() -> None:
        for _ in range(calls):
            if not reference.is_valid(ANSWER):
                raise AssertionError

    whole()
    taken = sorted(seconds(whole) / calls * 1000 for _ in range(rounds))
    fast, slow = (statistics.median(seconds(way) / calls * 1e6 for _ in range(rounds)) for way in (ours, theirs))
    size = f"{len(text) / 1000:.1f} KB answer"
    note = f"jsonschema-rs {fast:.0f} µs, jsonschema {slow:.0f} µs"
    return [
        ("rendering and validation", size, 1, 0.5, "ms", round(statistics.median(taken), 3), _spread(taken, "ms")),
        ("validation by jsonschema-rs", "jsonschema", 1, 0.1, "×", round(fast / slow, 4), note),
    ]


def _spread(taken: list[float], unit: str) -> str:
    return f"[{taken[0]:.2f}, {taken[-1]:.2f}] {unit} over {len(taken)} rounds"


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    work = Path(__file__).parent / ".work"
    begun = time.perf_counter()
    for row in measure(work, quick=False, say=lambda text: print(text, file=sys.stderr)):
        print(*row, sep=" | ")
    print(f"{time.perf_counter() - begun:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
