"""Random schemas, all small values there are to try on them, and an oracle that knows no formulas."""

import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jsonschema
from hypothesis import strategies as st
from referencing import Registry

MAPS = {"properties", "patternProperties", "dependentSchemas", "dependentRequired", "$defs"}
NAMES = ("a", "b", "c")
SCALARS: tuple[Any, ...] = (None, True, False, 0, 1, 2, 3, 6, -1, 1.5, "", "a", "ab", "abc", "b", "1")

bounds = st.sampled_from([-1, 0, 1, 1.5, 2, 3])
counts = st.integers(0, 3)
texts = st.sampled_from(["^a", "b$", "^[ab]+$", "^.{2}$", "1", "^(a|ab)$", r"^\d+$", "(?=.*b)a"])
scalars = st.sampled_from(SCALARS)
types = st.sampled_from(["null", "boolean", "number", "integer", "string", "array", "object"])
some_name = st.sampled_from(NAMES)

Schemas = st.SearchStrategy[Any]


def _some(fields: dict[str, Schemas], most: int = 3) -> Schemas:
    """An object with some of the fields."""
    return st.lists(st.sampled_from(sorted(fields)), max_size=most, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({word: fields[word] for word in chosen})
    )


def _flat() -> Schemas:
    return st.one_of(
        st.booleans(),
        _some({"type": st.one_of(types, st.lists(types, min_size=1, max_size=3, unique=True))}),
        _some({"enum": st.lists(scalars, max_size=4), "const": scalars}, 1),
        _some(
            {
                "type": st.sampled_from(["number", "integer"]),
                "minimum": bounds,
                "maximum": bounds,
                "exclusiveMinimum": bounds,
                "exclusiveMaximum": bounds,
                "multipleOf": st.sampled_from([0.5, 1, 1.5, 2, 3]),
            }
        ),
        _some({"type": st.just("string"), "minLength": counts, "maxLength": counts, "pattern": texts}),
    )


def _nested(inner: Schemas) -> Schemas:
    some = st.lists(inner, min_size=1, max_size=3)
    objects = {
        "type": st.just("object"),
        "properties": st.dictionaries(some_name, inner, max_size=3),
        "required": st.lists(some_name, max_size=2, unique=True),
        "additionalProperties": st.one_of(st.just(False), inner),
        "patternProperties": st.dictionaries(texts, inner, max_size=1),
        "minProperties": counts,
        "maxProperties": counts,
        "propertyNames": st.one_of(
            _some({"pattern": texts, "maxLength": counts, "enum": st.lists(some_name, max_size=2)}, 1)
        ),
        "dependentRequired": st.dictionaries(some_name, st.lists(some_name, max_size=2, unique=True), max_size=1),
        "dependentSchemas": st.dictionaries(some_name, inner, max_size=1),
        "unevaluatedProperties": st.one_of(st.just(False), inner),
        "allOf": some,
        "anyOf": some,
    }
    arrays = {
        "type": st.just("array"),
        "items": inner,
        "prefixItems": some,
        "minItems": counts,
        "maxItems": counts,
        "uniqueItems": st.booleans(),
        "contains": inner,
        "minContains": counts,
        "maxContains": counts,
        "unevaluatedItems": st.one_of(st.just(False), inner),
    }
    combined = {"allOf": some, "anyOf": some, "oneOf": some, "not": inner, "if": inner, "then": inner, "else": inner}
    shut = st.fixed_dictionaries(
        {
            "type": st.just("object"),
            "properties": st.dictionaries(some_name, inner, max_size=3),
            "required": st.lists(some_name, max_size=1),
            "additionalProperties": st.just(False),
        }
    )
    return st.one_of(_some(objects, 4), shut, shut, _some(arrays, 3), _some(combined, 2))


schemas: Schemas = st.recursive(_flat(), _nested, max_leaves=6)
references = st.sampled_from([{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}, {"$ref": "#"}])
"""Schemas that may contain themselves, guarded by a member or an entry."""


def _guarded(inner: Schemas) -> Schemas:
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("object"), "properties": st.dictionaries(some_name, inner, max_size=2)}),
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(some_name, inner, max_size=2),
                "required": st.lists(some_name, max_size=1),
                "additionalProperties": st.just(False),
            }
        ),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner, "maxItems": counts}),
        st.fixed_dictionaries(
            {"anyOf": st.lists(st.one_of(_flat(), st.just({"type": "null"})), min_size=1, max_size=2)}
        ),
    )


_guarded_schemas = st.one_of(_guarded(st.one_of(_flat(), references)), _flat())
recursive: Schemas = st.builds(
    lambda root, one, two: {**(root if isinstance(root, dict) else {}), "$defs": {"one": one, "two": two}},
    _guarded(references),
    _guarded_schemas,
    _guarded_schemas,
)


def places(schema: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every object in the schema."""
    if isinstance(schema, dict):
        yield at
        for word, inner in schema.items():
            if word not in {"enum", "const"}:
                yield from places(inner, (*at, word))
    elif isinstance(schema, list):
        for position, inner in enumerate(schema):
            yield from places(inner, (*at, position))


def _replaced(schema: Any, at: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not at:
        return change(schema)
    copied = dict(schema) if isinstance(schema, dict) else list(schema)
    copied[at[0]] = _replaced(schema[at[0]], at[1:], change)
    return copied


def _changed(how: str, piece: dict[str, Any], number: int, was: Any) -> Any:
    """A small change of an object schema."""
    if how == "drop":
        return {word: inner for i, (word, inner) in enumerate(was.items()) if i != number % max(len(was), 1)}
    if how in {"anyOf", "allOf"}:
        return {how: [was, piece]}
    return {**was, **piece} if how == "add" else piece


@st.composite
def pairs(draw: st.DrawFn, of: Schemas = schemas) -> tuple[Any, Any]:
    """A schema, and the same with one or two small changes."""
    old = new = draw(of)
    for _ in range(draw(st.integers(1, 2))):
        whole = isinstance(new, dict) and "$defs" not in new  # definitions stay where references find them
        found = [at for at in places(new) if (at and at[-1] not in MAPS) or (whole and not at)]
        if not found:
            break
        piece = draw(st.one_of(_flat(), _nested(_flat())).filter(lambda drawn: isinstance(drawn, dict)))
        how = draw(st.sampled_from(["add", "drop", "replace", "anyOf", "allOf"]))
        change = partial(_changed, how, piece, draw(st.integers(0, 9)))
        new = _replaced(new, draw(st.sampled_from(found)), change)
    return (old, new) if draw(st.booleans()) else (new, old)


def values() -> list[Any]:
    """All small values: scalars, short arrays and small objects of them, and some deeper ones."""
    few = (None, True, 0, 1, 1.5, 2, "a", "ab", "")
    inner = [*few, [], {}, ["a"], [1], {"a": 1}, {"b": "a"}, {"a": "a", "b": 2}]
    found: list[Any] = [*SCALARS]
    found += [list(items) for n in range(3) for items in itertools.product(inner, repeat=n)]
    found += [[1, 1, 1], [1, 2, 3], ["a", "b", "c"], ["a", 1, None, 2]]
    members = [*few, [], {}, {"a": 1}, ["a"], {"b": {"a": 1}}]
    for chosen in itertools.chain.from_iterable(itertools.combinations(NAMES, n) for n in range(3)):
        found += [dict(zip(chosen, each, strict=True)) for each in itertools.product(members, repeat=len(chosen))]
    found += [{"x": 1}, {"ab": "a"}, {"a": 1, "x": None}, {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": "a", "c": 3, "ab": 1}]
    return found


VALUES = values()


def valid(schema: Any, value: Any) -> bool:
    """What the plain validator says, without Beleg's exact arithmetic."""
    return bool(jsonschema.Draft202012Validator(schema, registry=Registry()).is_valid(value))


def here(root: Any, schema: Any, *, conditions: bool = True) -> list[dict[str, Any]]:
    """The subschemas that speak about the same value, also those under a condition."""
    found: list[dict[str, Any]] = []
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict) and not any(part is known for known in found):
            found.append(part)
            waiting += part.get("allOf", ())
            if "$ref" in part:
                waiting.append(root if part["$ref"] == "#" else root["$defs"][part["$ref"].rsplit("/", 1)[1]])
            if conditions:
                waiting += [child for word in ("anyOf", "oneOf") for child in part.get(word, ())]
                waiting += [part[word] for word in ("not", "if", "then", "else") if word in part]
                waiting += part.get("dependentSchemas", {}).values()
    return found


def names(part: dict[str, Any], name: str) -> bool:
    """Whether the object names the member."""
    patterns = part.get("patternProperties", {})
    return name in part.get("properties", {}) or any(re.search(text, name) for text in patterns)


def dropped_by(parts: list[dict[str, Any]], name: str) -> list[bool]:
    """For every closed object, whether it does not name the member."""
    found = [not names(p, name) for p in parts if p.get("additionalProperties") is False]
    if not any(p.get("additionalProperties", False) is not False for p in parts):
        named = any(names(p, name) for p in parts)
        found += [not named for p in parts if p.get("unevaluatedProperties") is False]
    return found


def droppable(root: Any, schemas: list[Any], name: str, *, surely: bool) -> bool:
    """Whether a closed object here does not name the member; `surely` where not only one under a condition."""
    always = dropped_by([part for schema in schemas for part in here(root, schema, conditions=False)], name)
    if surely and False in always:
        return any(always)
    return any(dropped_by([part for schema in schemas for part in here(root, schema)], name))


def below(parts: list[dict[str, Any]], name: str) -> list[Any]:
    """The subschemas that speak about a member."""
    found = [p["properties"][name] for p in parts if name in p.get("properties", {})]
    found += [s for p in parts for t, s in p.get("patternProperties", {}).items() if re.search(t, name)]
    return found + [p[w] for p in parts for w in ("additionalProperties", "unevaluatedProperties") if w in p]


def entries(parts: list[dict[str, Any]]) -> list[Any]:
    """The subschemas that speak about entries."""
    found = [s for p in parts for s in p.get("prefixItems", ())]
    return found + [p[w] for p in parts for w in ("items", "contains", "unevaluatedItems") if w in p]


def reductions(root: Any, schemas: list[Any], value: Any, *, surely: bool) -> Iterator[Any]:
    """The value, and the value without members that a closed object at their place does not name."""
    parts = [part for schema in schemas for part in here(root, schema)]
    if isinstance(value, list):
        inner = entries(parts)
        yield from map(list, itertools.product(*(list(reductions(root, inner, v, surely=surely)) for v in value)))
    elif isinstance(value, dict):
        loose = [name for name in value if droppable(root, schemas, name, surely=surely)]
        for dropped in itertools.chain.from_iterable(itertools.combinations(loose, n) for n in range(len(loose) + 1)):
            kept = {
                name: list(reductions(root, below(parts, name), member, surely=surely))
                for name, member in value.items()
                if name not in dropped
            }
            yield from (dict(zip(kept, each, strict=True)) for each in itertools.product(*kept.values()))
    else:
        yield value


def perhaps_readable(schema: Any, value: Any, *, surely: bool = False) -> bool:
    """Whether dropping members that a closed object does not name makes the value valid."""
    return any(valid(schema, reduced) for reduced in reductions(schema, [schema], value, surely=surely))
