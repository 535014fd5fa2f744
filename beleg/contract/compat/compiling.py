"""Schemas become formulas: once as the values they allow, once as the values their readers can read.

Must-ignore: a reader of a closed object drops the members that the object does not name. So what is
readable is what is valid where only the named members count: the `Scope` of the closed object.
"""

from typing import Any

from beleg.contract.compat import evaluated, structures
from beleg.contract.compat.documents import Document
from beleg.contract.compat.entries import begins, entries_of
from beleg.contract.compat.evaluate import leaving
from beleg.contract.compat.formula import Node, Pool
from beleg.contract.compat.keywords import Keywords
from beleg.contract.compat.readings import LENIENT, STRICT, Reading
from beleg.contract.compat.scope import ABOUT_MEMBERS, in_place, scope_of, speaks
from beleg.contract.compat.unions import exclude_each_other
from beleg.contract.compat.values import exact, kind

_COMBINING = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if", "$dynamicRef", "$recursiveRef"})
_WITH_PARTS = (
    _COMBINING
    | structures.OF_ARRAYS
    | structures.OF_OBJECTS
    | {"dependencies", "unevaluatedProperties", "unevaluatedItems", "x-open-enum"}
) | {"maxProperties", "minProperties"}
_PLAIN_BOUNDS = (
    ("minimum", "least", False),
    ("exclusiveMinimum", "least", True),
    ("maximum", "most", False),
    ("exclusiveMaximum", "most", True),
)


class Compiler:
    """Makes formulas of the subschemas of one document."""

    def __init__(self, pool: Pool, document: Document) -> None:
        self.pool = pool
        self.document = document
        self._done: dict[tuple[int, Reading], Node] = {}
        self._under_way: set[tuple[int, Reading]] = set()
        self.recursive: set[int] = set()
        """Subschemas that contain themselves, of each circle the one that is reached first."""

    def node(self, raw: Any, reading: Reading = STRICT) -> Node:
        """The formula of a subschema."""
        if not isinstance(raw, dict):
            return self.pool.true if raw else self.pool.false
        if reading.lenient and self._is_plain(raw):
            reading = STRICT
        at = (id(raw), reading)
        if at in self._done:
            return self._done[at]
        if at in self._under_way:
            self.recursive.add(id(raw))
            return self.pool.make("ref", (id(self.document), *at))
        text = repr(raw)
        if "'$" in text:  # what a reference means depends on the document
            return self._make(raw, at)
        known = (text, self.document.dialect, reading)
        if known not in self.pool.compiled:
            self.pool.compiled[known] = self._make(raw, at)
        self._done[at] = self.pool.compiled[known]
        return self._done[at]

    def _make(self, raw: dict[str, Any], at: tuple[int, Reading]) -> Node:
        reading = at[1]
        self._under_way.add(at)
        node = self.fragment(raw, self.document.keywords(raw), reading)
        self._done[at] = self.pool.targets[id(self.document), *at] = node
        self._under_way.discard(at)
        if reading == LENIENT and (strict := self.node(raw)) is not node:
            self.pool.readable[node] = strict
        return node

    def _is_plain(self, raw: dict[str, Any]) -> bool:
        """Whether readers read exactly what is valid: no parts, and no list of values that may grow."""
        return raw.keys().isdisjoint(_WITH_PARTS)

    def fragment(self, raw: dict[str, Any], words: Keywords, reading: Reading) -> Node:
        """The formula of some keywords of a subschema."""
        if reading.lenient:
            reading = reading._replace(scope=scope_of(self.document, raw, reading.scope))
            if reading.entries is None and begins(self.document, raw, words):
                reading = reading._replace(entries=entries_of(self.document, raw))
                if reading.entries is not None:  # what is valid as it stands needs no dropping
                    dropped = self._made(raw, words, reading)
                    return self.pool.or_([self.pool.and_([self.pool.kinds({"array"}), self.node(raw)]), dropped])
        return self._made(raw, words, reading)

    def _made(self, raw: dict[str, Any], words: Keywords, reading: Reading) -> Node:
        said = words.keys()
        parts = [*self._general(words, reading), *self._scalars(words)]
        if not said.isdisjoint(_COMBINING):
            parts += self._combined(raw, words, reading)
        if not said.isdisjoint(structures.SIZED):
            parts += structures.sizes(self.pool, words, reading.scope)
        if not said.isdisjoint(structures.OF_ARRAYS):
            parts += structures.arrays(self, words, reading)
        if not said.isdisjoint(structures.OF_OBJECTS):
            parts += structures.objects(self, words, reading)
        if "unevaluatedProperties" in words or "unevaluatedItems" in words:
            parts.append(evaluated.unevaluated(self, raw, words, reading))
        return self.pool.and_(parts)

    def _general(self, words: Keywords, reading: Reading) -> list[Node]:
        pool, parts = self.pool, []
        if "type" in words:
            types = set([words["type"]] if isinstance(words["type"], str) else words["type"])
            parts.append(pool.kinds({"number" if name == "integer" else name for name in types}))
            if "integer" in types and "number" not in types:
                parts.append(pool.make("multiple", exact(1)))
        if "const" in words:
            parts.append(self._listed([words["const"]], reading))
        if "enum" in words:
            opened = reading.lenient and words.get("x-open-enum") is True
            parts.append(pool.kinds(map(kind, words["enum"])) if opened else self._listed(words["enum"], reading))
        return parts

    def _listed(self, listed: list[Any], reading: Reading) -> Node:
        """One of these values, or, where what is left must be one, a value that leaves one."""
        pool, scope = self.pool, reading.scope
        objects = [value for value in listed if isinstance(value, dict)]
        if scope is None or not objects:
            return pool.enum(listed)
        whole = [value for value in listed if not isinstance(value, dict) or all(map(scope.counts, value))]
        if reading.lenient:  # of what is left; some of the values are enough
            return pool.enum(whole)
        if scope.patterns:
            return pool.make("opaque", "listed", id(listed))
        left = [leaving(pool, value, scope) for value in whole if isinstance(value, dict)]
        return pool.or_([pool.enum(value for value in listed if not isinstance(value, dict)), *left])

    def _combined(self, raw: dict[str, Any], words: Keywords, reading: Reading) -> list[Node]:
        pool = self.pool
        exactly = reading.exactly
        reading = self._guarded(raw, words, reading)
        parts = [self.node(child, reading) for child in words.get("allOf", ())]
        if "$ref" in words:
            parts.append(self.reference(raw, words["$ref"], reading))
        parts += [pool.make("opaque", word, words[word]) for word in ("$dynamicRef", "$recursiveRef") if word in words]
        if "anyOf" in words:
            parts.append(pool.or_([self.alternative(child, reading) for child in words["anyOf"]]))
        if "oneOf" in words:
            parts.append(self._one_of(words["oneOf"], reading, exactly))
        if "not" in words:
            parts.append(pool.not_(self.node(words["not"], exactly)))
        if "if" in words:
            test = self.node(words["if"], exactly)
            then, other = (self.alternative(words.get(word, True), reading) for word in ("then", "else"))
            parts.append(pool.or_([pool.and_([test, then]), pool.and_([pool.not_(test), other])]))
        return parts

    def alternative(self, child: Any, reading: Reading) -> Node:
        """A subschema under a condition.

        What it drops, being closed, other schemas of the same value may need. So it drops nothing if there are any.
        """
        closes = reading.guarded and reading.scope != scope_of(self.document, child, reading.scope)
        return self.node(child, reading.exactly if closes else reading)

    def _guarded(self, raw: dict[str, Any], words: Keywords, reading: Reading) -> Reading:
        if not reading.lenient or reading.guarded:
            return reading
        speaking = [group for group in in_place(self.document, raw) if speaks(self.document, group)]
        return reading._replace(guarded=not words.keys().isdisjoint(ABOUT_MEMBERS) or len(speaking) > 1)

    def reference(self, raw: dict[str, Any], reference: str, reading: Reading) -> Node:
        """What a reference means, standing in that subschema; a riddle where it leads out of the document."""
        target = self.document.target(raw, reference)
        known = isinstance(target, dict | bool)
        return self.node(target, reading) if known else self.pool.make("opaque", reference)

    def _one_of(self, children: list[Any], reading: Reading, exactly: Reading) -> Node:
        strict = [self.node(child, exactly) for child in children]
        wanted = [self.alternative(child, reading) for child in children]
        if exclude_each_other(self.pool, strict):
            return self.pool.or_(wanted)
        return self.pool.make("one_of", tuple(strict), tuple(wanted))

    def _scalars(self, words: Keywords) -> list[Node]:
        make = self.pool.make
        parts = [make(op, exact(words[word]), strict) for word, op, strict in _PLAIN_BOUNDS if word in words]
        if "multipleOf" in words:
            parts.append(make("multiple", exact(words["multipleOf"])))
        parts += [make(word, words[word]) for word in ("pattern", "format") if word in words]
        content = ("contentEncoding", "contentMediaType")
        parts += [make("content", word, words[word]) for word in content if word in words]
        if "contentSchema" in words:
            parts.append(make("content", "contentSchema", self.node(words["contentSchema"])))
        return parts
