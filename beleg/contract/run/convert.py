"""A contract's schema as a provider can enforce it, and the provider's answer back.

The contract's schema stays natural (optional fields are optional). What a provider cannot enforce is left
out: the answer is validated against the contract in any case. A schema whose very shape a provider cannot
express (maps, tuples, any value, recursion where it is not known) is Inexpressible, and told otherwise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from beleg.contract.lint.profiles import Profile
from beleg.contract.run.validate import Validator

Back = Callable[[Any], Any]
"""From an answer under the converted schema to one under the contract's."""
_NOTES = ("title", "description")
_RULES = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
)
"""Rules that a provider may be able to hold."""
_WRAP = "value"
"""Member that holds an answer which is no object itself."""
_MEETING = ("$ref", "allOf", "anyOf", "oneOf")


class Inexpressible(Exception):
    """The provider cannot be told this shape."""


@dataclass(frozen=True)
class Converted:
    """A schema for the provider and the way back."""

    schema: dict[str, Any]
    back: Back


def convert(schema: Mapping[str, Any] | bool, profile: Profile) -> Converted:
    """The schema for a provider; raises Inexpressible."""
    if not isinstance(schema, Mapping):
        raise Inexpressible("any value")
    work = _Conversion(schema, profile)
    try:
        body, back = work.node(schema)
        root = work.root(body)
    except RecursionError as error:
        raise Inexpressible("nested too deeply") from error
    if root.get("type") == "object" and "anyOf" not in root:
        return Converted({**root, **work.definitions()}, back)
    wrapped = {"type": "object", "properties": {_WRAP: root}, "required": [_WRAP], "additionalProperties": False}
    return Converted({**wrapped, **work.definitions()}, lambda value: back(_unwrapped(value)))


def _unwrapped(value: Any) -> Any:
    return value[_WRAP] if isinstance(value, dict) and set(value) == {_WRAP} else value


class _Conversion:
    """One walk through a schema."""

    def __init__(self, schema: Mapping[str, Any], profile: Profile) -> None:
        self._schema, self._profile = schema, profile
        self._done: dict[str, dict[str, Any]] = {}
        self._backs: dict[str, Back] = {}
        self._open: list[str] = []

    def root(self, body: dict[str, Any]) -> dict[str, Any]:
        """The root itself where it is only a reference."""
        return self._done[body["$ref"].rpartition("/")[2]] if "$ref" in body else body

    def definitions(self) -> dict[str, Any]:
        """`$defs` of the converted schema."""
        return {"$defs": self._done} if self._done else {}

    def node(self, schema: Any) -> tuple[dict[str, Any], Back]:
        """A subschema and its way back."""
        if not isinstance(schema, Mapping):
            raise Inexpressible("any value" if schema is True else "no value")
        if "$ref" in schema:
            return self._reference(schema)
        if schema.get("allOf"):
            return self.node(self._merged(schema))
        branches = schema.get("anyOf") or schema.get("oneOf")
        if branches and not {"type", "properties", "enum", "const"} & schema.keys():
            return self._union(schema, branches)
        return self._plain(schema)

    # -- references and combinations ------------------------------------------------------------------

    def _reference(self, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Back]:
        name = self._name(schema["$ref"])
        if any(key not in {"$ref", "$comment", "$defs", "$schema", "$id", *_NOTES} for key in schema):
            raise Inexpressible("rules beside a $ref")
        if name in self._open and not self._profile.recursion:
            raise Inexpressible("recursion")
        if name not in self._backs:
            self._backs[name] = lambda value: value
            self._open.append(name)
            body, back = self.node(self._target(name))
            self._open.pop()
            self._done[name], self._backs[name] = body, back
        # Looked up when an answer comes: within a recursion the way back is not there yet.
        return {"$ref": f"#/$defs/{name}"}, lambda value: self._backs[name](value)  # noqa: PLW0108

    def _name(self, ref: Any) -> str:
        head, _, name = str(ref).rpartition("/")
        if head != "#/$defs" or name not in self._schema.get("$defs", {}) or "~" in name or "%" in name:
            raise Inexpressible(f"the reference {ref}")
        return name

    def _target(self, name: str) -> Any:
        return self._schema["$defs"][name]

    def _merged(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """`allOf` folded into its parent, where no rule stands in two of its parts and none is closed by itself."""
        parts = [{key: value for key, value in schema.items() if key != "allOf"}, *map(self._inlined, schema["allOf"])]
        merged: dict[str, Any] = {}
        for part in parts:
            for key, value in part.items():
                merged[key] = self._met(key, merged[key], value) if key in merged else value
        if "additionalProperties" in merged and sum("properties" in part for part in parts) > 1:
            raise Inexpressible("a closed part of allOf")
        return merged

    def _inlined(self, part: Any) -> Mapping[str, Any]:
        seen = 0
        while isinstance(part, Mapping) and part.keys() == {"$ref"}:
            part, seen = self._target(self._name(part["$ref"])), seen + 1
            if seen > len(self._schema.get("$defs", {})):
                raise Inexpressible("a reference to itself")
        if not isinstance(part, Mapping) or any(key in part for key in _MEETING):
            raise Inexpressible("combinations within allOf")
        return part

    @staticmethod
    def _met(key: str, one: Any, other: Any) -> Any:
        if key in _NOTES or one == other:
            return one
        if key == "required":
            return [*one, *(name for name in other if name not in one)]
        if key == "properties" and not one.keys() & other.keys():
            return {**one, **other}
        raise Inexpressible(f"allOf with two rules for {key}")

    def _union(self, schema: Mapping[str, Any], branches: list[Any]) -> tuple[dict[str, Any], Back]:
        pairs = [self.node(branch) for branch in branches]
        judges = [self._judge(branch) for branch in branches]

        def back(value: Any) -> Any:
            given = (way(value) for _, way in pairs)
            return next((each for each, judge in zip(given, judges, strict=True) if judge.valid(each)), value)

        return {**_notes(schema), "anyOf": [body for body, _ in pairs]}, back

    def _judge(self, schema: Any) -> Validator:
        whole = {**schema, "$defs": self._schema.get("$defs", {})} if isinstance(schema, Mapping) else schema
        return Validator(whole, "a branch of the output schema")

    # -- plain nodes ----------------------------------------------------------------------------------

    def _plain(self, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Back]:
        if "const" in schema or "enum" in schema:
            return self._values(schema)
        kinds = _types(schema)
        if len(kinds) > 1 and {"object", "array"} & set(kinds):
            return self._union(schema, [{**schema, "type": kind} for kind in kinds])
        if kinds == ["object"]:
            return self._object(schema)
        if kinds == ["array"]:
            return self._array(schema)
        return {**_notes(schema), "type": kinds[0] if len(kinds) == 1 else kinds, **self._rules(schema)}, _same

    def _values(self, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Back]:
        values = [schema["const"]] if "const" in schema else list(schema["enum"])
        if any(isinstance(each, (dict, list)) for each in values) or not values:
            raise Inexpressible("an enumeration of structures")
        judge = self._judge(schema)
        kept = [each for each in values if judge.valid(each)]
        if not kept:
            raise Inexpressible("no value")
        return {**_notes(schema), "type": _types_of(kept), "enum": kept}, _same

    def _rules(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        rules = {key: schema[key] for key in _RULES if key in schema and self._profile.enforces(key, schema[key])}
        most = self._profile.min_items_up_to
        if most is not None and schema.get("minItems", 0) > most:
            rules["minItems"] = most
        return rules

    def _array(self, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Back]:
        if schema.get("prefixItems"):
            raise Inexpressible("a tuple")
        body, back = self.node(schema.get("items", True))
        rules = {key: value for key, value in self._rules(schema).items() if key.endswith("Items")}
        whole = {**_notes(schema), "type": "array", "items": body, **rules}
        return whole, lambda value: [back(each) for each in value] if isinstance(value, list) else value

    def _object(self, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Back]:
        if schema.get("patternProperties") or isinstance(schema.get("additionalProperties"), Mapping):
            raise Inexpressible("a map")
        properties = {name: part for name, part in schema.get("properties", {}).items() if part is not False}
        required = set(schema.get("required", ()))
        if not properties or not required <= properties.keys():
            raise Inexpressible("members without a schema")
        bodies: dict[str, Any] = {}
        backs: dict[str, Back] = {}
        dropped: set[str] = set()
        for name, part in properties.items():
            bodies[name], backs[name] = self.node(part)
            if self._profile.all_required and name not in required and not self._judge(part).valid(None):
                bodies[name] = _nullable(bodies[name])
                dropped.add(name)
        whole = {
            **_notes(schema),
            "type": "object",
            "properties": bodies,
            "required": list(bodies) if self._profile.all_required else [name for name in bodies if name in required],
            "additionalProperties": False,
        }
        return whole, lambda value: _members(value, backs, dropped)


def _members(value: Any, backs: Mapping[str, Back], dropped: set[str]) -> Any:
    """An object's members on their way back; null for an optional one means that it is not there."""
    if not isinstance(value, dict):
        return value
    return {
        name: backs.get(name, _same)(member)
        for name, member in value.items()
        if member is not None or name not in dropped
    }


def _nullable(body: dict[str, Any]) -> dict[str, Any]:
    kind = body.get("type")
    if kind is None or kind in ("object", "array"):
        return {"anyOf": [body, {"type": "null"}]}
    more = {"type": [*(kind if isinstance(kind, list) else [kind]), "null"]}
    return {**body, **more, "enum": [*body["enum"], None]} if "enum" in body else {**body, **more}


def _types(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type")
    if kind is None:
        if "properties" in schema or "required" in schema:
            return ["object"]
        if "items" in schema:
            return ["array"]
        raise Inexpressible("any value")
    return list(kind) if isinstance(kind, list) else [kind]


def _types_of(values: list[Any]) -> Any:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    kinds = list(dict.fromkeys(names[type(each)] for each in values))
    return kinds[0] if len(kinds) == 1 else kinds


def _notes(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: schema[key] for key in _NOTES if key in schema}


def _same(value: Any) -> Any:
    return value
