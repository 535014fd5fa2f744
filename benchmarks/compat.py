"""Comparing output schemas: two of 500 nodes, and one small pair for every rule."""

import copy
import random
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from beleg.contract.compat import compare
from beleg.contract.compat.table import examples
from benchmarks.timing import seconds

NODES = 500
ROUNDS = 9


def schema(nodes: int, rnd: random.Random) -> dict[str, Any]:
    """An object of objects, lists and scalars, closed, with half of the members required; so many subschemas."""
    root = _object()
    waiting, made = [root], 1
    while made < nodes:
        parent = waiting[rnd.randrange(len(waiting))]
        child = _object() if rnd.random() < 0.2 else _scalar(rnd)
        name = f"field_{made}"
        wrapped = rnd.random() < 0.1 and made + 1 < nodes
        parent["properties"][name] = {"type": "array", "items": child} if wrapped else child
        made += 2 if wrapped else 1
        if rnd.random() < 0.5:
            parent["required"].append(name)
        if "properties" in child:
            waiting.append(child)
    return root


def _object() -> dict[str, Any]:
    return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def _scalar(rnd: random.Random) -> dict[str, Any]:
    made: list[dict[str, Any]] = [
        {"type": "string", "maxLength": rnd.randrange(10, 99), "description": "A text."},
        {"type": "integer", "minimum": 0, "maximum": rnd.randrange(1, 99)},
        {"enum": [f"value_{n}" for n in range(rnd.randrange(1, 9))]},
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        {"type": ["number", "null"], "multipleOf": 0.01},
    ]
    return rnd.choice(made)


def changed(root: dict[str, Any], share: float, rnd: random.Random) -> dict[str, Any]:
    """The schema with a share of its limits and lists changed, half of them so that readers break."""
    new = copy.deepcopy(root)
    waiting: list[Any] = [new]
    while waiting:
        part = waiting.pop()
        waiting += [*part.get("properties", {}).values(), *([part["items"]] if "items" in part else [])]
        if rnd.random() < share:
            _change(part, rnd.choice([1, -1]))
    return new


def _change(part: dict[str, Any], way: int) -> None:
    for word in ("maxLength", "maximum"):
        if word in part:
            part[word] += way
    if "enum" in part:
        part["enum"] = [*part["enum"], "another"] if way > 0 else part["enum"][:1]


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about schema comparison."""
    del work
    rnd = random.Random(1)
    rounds = 3 if quick else ROUNDS
    rows: list[tuple[object, ...]] = []
    old = schema(NODES, rnd)
    for share, at_most, aim in ((0.02, 100, 50), (0.2, 100, 50), (1.0, 500, 100)):
        say(f"compat: {NODES} nodes, {share:.0%} changed")
        new = changed(old, share, rnd)
        taken = [seconds(partial(compare, old, new)) * 1000 for _ in range(rounds)]
        found = compare(old, new)
        proved = sum(change.witness_kind is not None for change in found.changes)
        what = f"compare schemas of {NODES} nodes, {share:.0%} changed"
        note = f"{len(found.changes)} changes, {proved} with a proved witness; "
        note += f"[{min(taken):.0f}, {max(taken):.0f}] over {rounds} rounds"
        rows.append((what, "time", at_most, aim, "ms", round(statistics.median(taken), 1), note))
    pairs = examples()
    taken = [seconds(lambda: [compare(pair.old, pair.new) for pair in pairs]) for _ in range(rounds)]
    note = f"[{min(taken):.2f}, {max(taken):.2f}] over {rounds} rounds"
    rows.append((f"compare {len(pairs)} example pairs", "time", 1, 0.5, "s", round(statistics.median(taken), 3), note))
    return rows
