"""Witnesses are shown to others, so each one is checked again, by the validator that readers use."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final, NoReturn

import jsonschema
import jsonschema_rs
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from beleg.contract.compat import formats, patterns, spelling, values
from beleg.contract.compat.documents import Document
from beleg.contract.compat.keywords import MANY, MAPS, ONE
from beleg.contract.compat.verdict import Unprovable

_LONG: Final = 24
"""From this many characters a careless pattern may take `re` for ever."""

_HEAVY: Final = 20_000
"""With so many subschemas, all references written out, the validator may take too long."""


def _multiple_of(_: Any, step: Any, instance: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    if values.kind(instance) == "number" and (values.exact(instance) / values.exact(step)).denominator != 1:
        yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {step!r}")


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    if isinstance(instance, str) and not patterns.matches(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _format(_: Any, name: str, instance: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    if isinstance(instance, str) and formats.keeps(name, instance) is False:
        yield jsonschema.ValidationError(f"{instance!r} is no {name}")


_EXACT: Final = {"multipleOf": _multiple_of, "pattern": _pattern, "format": _format}
_DIALECTS: Final = {
    7: jsonschema.Draft7Validator,
    2019: jsonschema.Draft201909Validator,
    2020: jsonschema.Draft202012Validator,
}


class Validator:
    """The validator of one document; it passes each pair of subschema and member only once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._passed: dict[tuple[int, int], Any] = {}
        """Pairs that were found valid, with the member, so that no other one gets its identity."""

    @cached_property
    def _validator(self) -> Any:
        words = {**_EXACT, "properties": self._properties}
        kind: Any = extend(_DIALECTS[self._document.dialect], words)  # type: ignore[no-untyped-call]
        root = self._document.root
        return kind(_as_read(root) if self._document.patterns else root, registry=Registry())

    def accepts(self, value: Any) -> bool | None:
        """Whether the value is valid under the schema; None where the validator cannot tell."""
        document = self._document
        if document.weight > _HEAVY or (not document.is_tame and any(len(text) > _LONG for text in _texts(value))):
            return None
        try:
            return bool(self._validator.is_valid(value))
        except (Unprovable, Unresolvable, RecursionError):
            return None

    def second_opinion(self, value: Any) -> bool | None:
        """What the validator that reads patterns as ECMAScript says; None where that is not asked or not certain."""
        document = self._document
        if patterns.grammar() != "ecmascript" or not all(map(spelling.is_plain, document.patterns)):
            return None
        if self.accepts(value) is None:
            return None
        try:
            judge = jsonschema_rs.validator_for(document.root, retriever=_no_network)
            return judge.is_valid(value)
        except (ValueError, RecursionError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
            return None

    def _properties(
        self, validator: Any, properties: dict[str, Any], instance: Any, _: Any
    ) -> Iterator[jsonschema.ValidationError]:
        for name, schema in properties.items() if isinstance(instance, dict) else ():
            at = (id(schema), id(instance.get(name)))
            if name in instance and at not in self._passed:
                errors = list(validator.descend(instance[name], schema, path=name, schema_path=name))
                yield from errors
                if not errors:
                    self._passed[at] = instance[name]


def _no_network(uri: str) -> NoReturn:
    msg = f"{uri} lies outside of the schema"
    raise ValueError(msg)


def _as_read(raw: Any) -> Any:
    """The schema with its patterns as `re` must be given them."""
    return {word: _word_as_read(word, value) for word, value in raw.items()} if isinstance(raw, dict) else raw


def _word_as_read(word: str, value: Any) -> Any:
    if word == "pattern":
        return patterns.as_read(value)
    if word in MAPS and isinstance(value, dict):
        respell: Callable[[str], str] = patterns.as_read if word == "patternProperties" else str
        if len(set(map(respell, value))) < len(value):
            msg = "two patterns of names mean the same"
            raise Unprovable(msg, "R23")
        return {respell(name): _as_read(schema) for name, schema in value.items()}
    if word in ONE or word in MANY:
        return [_as_read(schema) for schema in value] if isinstance(value, list) else _as_read(value)
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from _texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
