"""Two digests of a schema: of the interface that readers see, and of the text that the model sees."""

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from beleg.contract.compat import values
from beleg.contract.compat.compiling import Compiler
from beleg.contract.compat.documents import Document
from beleg.contract.compat.formula import Node, Pool
from beleg.contract.compat.verdict import Schema, SchemaError, Unprovable

_TIME_LIMIT_S = 5.0


def interface_digest(schema: Schema) -> str:
    """SHA-256 of what the schema says to readers.

    Blind to order, annotations, names of definitions, references written out, and most other spellings of the
    same thing; moved by every declared member. Raises SchemaError for what is no JSON Schema.
    """
    try:
        pool = Pool(_TIME_LIMIT_S)
        root = Compiler(pool, Document(schema)).node(schema)
        return _digest(pool, root)
    except Unprovable:
        return _hash([values.canonical(schema)])
    except RecursionError:
        msg = "the schema is nested too deeply for a digest; use definitions and references"
        raise SchemaError(msg) from None


def raw_digest(schema: Schema) -> str:
    """SHA-256 of the schema as it stands: moved by the order of members and by every description."""
    try:
        text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"the schema cannot be written as JSON: {error}"
        raise SchemaError(msg) from error
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def behavioural(old: Schema, new: Schema) -> bool:
    """Whether the model sees another text, so that the evals must run again."""
    return raw_digest(old) != raw_digest(new)


def _digest(pool: Pool, root: Node) -> str:
    """Names of formulas by their content, refined until no two different formulas share one."""
    nodes = _reachable(pool, root)
    names = dict.fromkeys(nodes, "")
    while True:
        pool.tick()
        refined = {node: _name(pool, node, names) for node in nodes}
        if len(set(refined.values())) == len(set(names.values())):
            return _hash([refined[_resolved(pool, root)], *sorted(set(refined.values()))])
        names = refined


def _reachable(pool: Pool, root: Node) -> list[Node]:
    found: dict[Node, None] = {}
    waiting = [_resolved(pool, root)]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = None
            waiting += [_resolved(pool, inner) for inner in _nodes(node.args)]
    return list(found)


def _resolved(pool: Pool, node: Node) -> Node:
    seen = set()
    while node.op == "ref" and node not in seen:
        seen.add(node)
        node = pool.targets[node.args[0]]
    return node


def _nodes(args: Iterable[Any]) -> Iterable[Node]:
    for arg in args:
        if isinstance(arg, Node):
            yield arg
        elif isinstance(arg, tuple):
            yield from _nodes(arg)


def _name(pool: Pool, node: Node, names: dict[Node, str]) -> str:
    if node.op == "enum":
        return _hash(["enum", *sorted(values.canonical(pool.values[key]) for key in node.args[0])])
    if node.op == "ref":
        return _hash(["ref"])
    parts = [_text(pool, arg, names) for arg in node.args]
    return _hash([node.op, *(sorted(parts) if node.op in {"and", "or"} else parts)])


def _text(pool: Pool, arg: Any, names: dict[Node, str]) -> str:
    if isinstance(arg, Node):
        return names[_resolved(pool, arg)]
    if isinstance(arg, tuple):
        return json.dumps([_text(pool, inner, names) for inner in arg])
    return json.dumps(sorted(arg)) if isinstance(arg, frozenset) else f"{type(arg).__name__} {arg}"


def _hash(parts: list[str]) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()
