"""How large a schema is, in the terms in which providers state their limits."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from beleg.contract.lint.profiles import LIMITS, Profile
from beleg.contract.lint.schemas import Node, References, children, declares_object, union


@dataclass(frozen=True)
class Size:
    """Figures of one schema or of several together."""

    properties: int = 0
    depth: int = 0
    name_chars: int = 0
    enum_values: int = 0
    largest_enum: int = 0
    largest_enum_chars: int = 0
    optional_members: int = 0
    union_members: int = 0

    def __add__(self, other: "Size") -> "Size":
        largest = max((self, other), key=lambda each: each.largest_enum)
        return Size(
            self.properties + other.properties,
            max(self.depth, other.depth),
            self.name_chars + other.name_chars,
            self.enum_values + other.enum_values,
            largest.largest_enum,
            largest.largest_enum_chars,
            self.optional_members + other.optional_members,
            self.union_members + other.union_members,
        )


def size(nodes: tuple[Node, ...]) -> Size:
    """The figures of a walked schema."""
    members = [each for each in nodes if each.member is not None]
    enums = [each.schema["enum"] for each in nodes if _has_list(each.schema, "enum")]
    consts = [each.schema["const"] for each in nodes if isinstance(each.schema, Mapping) and "const" in each.schema]
    largest: list[Any] = max(enums, key=len, default=[])
    return Size(
        properties=len(members),
        depth=max((each.levels for each in nodes), default=0),
        name_chars=sum(len(each.member or "") for each in members) + _chars(v for e in [*enums, consts] for v in e),
        enum_values=sum(len(each) for each in enums),
        largest_enum=len(largest),
        largest_enum_chars=_chars(largest),
        optional_members=sum(not each.required for each in members),
        union_members=sum(union(each.schema) for each in members),
    )


def _has_list(schema: Any, key: str) -> bool:
    return isinstance(schema, Mapping) and isinstance(schema.get(key), list | tuple)


def _chars(values: Any) -> int:
    return sum(len(each) if isinstance(each, str) else len(str(each)) for each in values)


def shares(size: Size, profile: Profile, strict_tools: int) -> Iterator[tuple[str, int, int]]:
    """(what, measured, allowed) for every limit that a provider states."""
    limits = profile.limits
    measured = {
        "properties": size.properties,
        "depth": size.depth,
        "name_chars": size.name_chars,
        "enum_values": size.enum_values,
        "strict_tools": strict_tools,
        "optional_members": size.optional_members,
        "union_members": size.union_members,
    }
    for name, figure in measured.items():
        if name in limits:
            yield name, figure, limits[name]
    if size.largest_enum > limits.get("large_enum_values", size.largest_enum):
        yield "large_enum_chars", size.largest_enum_chars, limits["large_enum_chars"]


def words(limit: str) -> str:
    """What a limit is called in a sentence."""
    return LIMITS[limit]


def shape_faults(root: Any, nodes: tuple[Node, ...], profile: Profile) -> Iterator[tuple[str, str]]:
    """(pointer, why) where no conversion makes a provider take the schema."""
    if profile.root_object and not _plain_object(root):
        yield "#", "its root must be an object without anyOf or oneOf"
    for node in nodes:
        if not profile.maps and _is_map(node.schema):
            yield node.pointer, "an object with free member names cannot be expressed there"
    if not profile.recursion and recursive(root, nodes):
        yield "#", "a schema that refers to itself cannot be expressed there"


def _plain_object(root: Any) -> bool:
    return isinstance(root, Mapping) and declares_object(root) and not union(root)


def _is_map(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    free = schema.get("additionalProperties")
    return isinstance(free, Mapping) or "patternProperties" in schema


def recursive(root: Any, nodes: tuple[Node, ...]) -> bool:
    """Whether a reference leads back to something around it."""
    places = {id(each.schema): each.pointer for each in nodes if isinstance(each.schema, Mapping)}
    look_up = References(root)
    graph = {each.pointer: [places[id(t)] for t in _targets(look_up, each) if id(t) in places] for each in nodes}
    done: set[str] = set()
    return any(_meets_itself(start, graph, done) for start in graph)


def _targets(look_up: References, node: Node) -> Iterator[Any]:
    yield from (each.schema for each in children(node))
    reference = node.schema.get("$ref") if isinstance(node.schema, Mapping) else None
    if isinstance(reference, str):
        try:
            yield look_up.target(reference)
        except LookupError:
            return


def _meets_itself(start: str, graph: Mapping[str, list[str]], done: set[str]) -> bool:
    path: set[str] = set()
    waiting = [(start, False)]
    while waiting:
        place, leaving = waiting.pop()
        if leaving:
            path.discard(place)
            done.add(place)
        elif place in path:
            return True
        elif place not in done:
            path.add(place)
            waiting.append((place, True))
            waiting += [(each, False) for each in graph[place]]
    return False
