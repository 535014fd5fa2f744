"""Rules about the output schema: the interface that code reads."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from beleg.contract.lint.judge import faults
from beleg.contract.lint.schemas import Node, References, closed, declares_object, nullable
from beleg.contract.lint.subject import TIME_LIMIT_S, Hit, Subject, text

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_KEYWORDS = """
    $schema $id $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $comment $defs allOf anyOf oneOf not if then else
    dependentSchemas prefixItems items contains properties patternProperties additionalProperties propertyNames
    unevaluatedItems unevaluatedProperties type enum const multipleOf maximum exclusiveMaximum minimum
    exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties
    minProperties required dependentRequired format contentEncoding contentMediaType contentSchema title description
    default deprecated readOnly writeOnly examples
"""
KEYWORDS = frozenset(_KEYWORDS.split())
"""Every keyword of the 2020-12 vocabularies."""
INSTEAD = {
    "nullable": 'type: [..., "null"]',
    "additionalItems": "items beside prefixItems",
    "definitions": "$defs",
    "dependencies": "dependentRequired or dependentSchemas",
    "example": "examples",
    "id": "$id",
    "optional": "leaving the name out of required",
    "enumDescriptions": "description",
}
"""What people write out of habit from another dialect, and what is meant."""
_ANSWERS = """
    answer result decision verdict category account label score conclusion match status
    ergebnis entscheidung konto kategorie
"""
_REASONS = """
    reason reasoning reasons rationale explanation thinking analysis justification
    begruendung begründung erklaerung erklärung analyse herleitung überlegung
"""
KINDS = dict.fromkeys(_ANSWERS.split(), "answer") | dict.fromkeys(_REASONS.split(), "reason")
"""Last words of members' names, English and German."""
_FENCE = re.compile(r"```json[^\n]*\n(.*?)```", re.DOTALL)


def dialect(subject: Subject) -> Iterator[Hit]:
    """L04: every later check, and every reader's validator, stands on this."""
    schema = subject.contract.output_schema
    given = schema.get("$schema", DIALECT) if isinstance(schema, Mapping) else DIALECT
    if str(given).rstrip("#") != DIALECT:
        yield Hit("output_schema#/$schema", f"The dialect is {text(given)}; contracts use 2020-12.")
    for where, what in subject.schema_faults:
        yield Hit(f"output_schema#/{where}".rstrip("/"), f"The output schema is not valid: {text(what, 200)}.")


def unsatisfiable(subject: Subject) -> Iterator[Hit]:
    """L05: a schema that nothing can meet makes every run fail. Anything is allowed before: what breaks is R60."""
    from beleg.contract.compat import SchemaError, compare  # noqa: PLC0415 - a large engine

    if not subject.nodes or _dangling(subject):
        return
    try:
        changes = compare(True, subject.output_schema, time_limit_s=TIME_LIMIT_S).changes
    except SchemaError:
        return  # L04 and L07 say what is wrong
    for each in changes:
        if each.rule == "R60":
            what = "The schema" if each.pointer in {"", "#"} else f"The required member at {text(each.pointer)}"
            yield Hit(f"output_schema#{each.pointer.lstrip('#')}", f"{what} allows no value at all.")


def keywords(subject: Subject) -> Iterator[Hit]:
    """L06: validators ignore an unknown keyword, so a slip silently checks nothing."""
    for node in subject.nodes:
        for key in node.schema if isinstance(node.schema, Mapping) else ():
            if key in KEYWORDS or key.startswith("x-"):
                continue
            near = INSTEAD.get(key) or next(iter(difflib.get_close_matches(key[:40], KEYWORDS, 1, 0.8)), None)
            meant = f"; did you mean {near}?" if near else "."
            yield Hit(f"output_schema{node.pointer}", f"“{text(key)}” is no keyword{meant}")


def references(subject: Subject) -> Iterator[Hit]:
    """L07: the SDK runs where nothing can be fetched; a dangling reference checks nothing."""
    for node, reference, problem in _dangling(subject):
        what = "leads outside the contract" if problem == "external" else "leads nowhere"
        yield Hit(f"output_schema{node.pointer}", f"The reference {text(reference)} {what}.")


def _dangling(subject: Subject) -> list[tuple[Node, str, str]]:
    found = []
    references = References(subject.contract.output_schema)
    for node in subject.nodes:
        for key in ("$ref", "$dynamicRef"):
            if isinstance(node.schema, Mapping) and isinstance(node.schema.get(key), str):
                try:
                    references.target(node.schema[key])
                except LookupError as error:
                    found.append((node, node.schema[key], str(error)))
    return found


def open_objects(subject: Subject) -> Iterator[Hit]:
    """L08: taking an optional member out of an open object breaks readers, out of a closed one it does not."""
    for node in subject.nodes:
        if declares_object(node.schema) and not closed(node.schema) and not isinstance(_rest(node.schema), Mapping):
            yield Hit(f"output_schema{node.pointer}", f"{_name(node)} allows members that it does not name.")


def _rest(schema: Mapping[str, Any]) -> Any:
    return schema.get("additionalProperties", schema.get("patternProperties"))


def examples(subject: Subject) -> Iterator[Hit]:
    """L09: examples show prompt and schema whether they still mean the same."""
    if not subject.nodes or _dangling(subject):
        return
    if not subject.contract.examples:
        yield Hit("examples", "There is no example of an answer.", "warning")
    for place, example in [*_examples(subject), *_in_prompt(subject)]:
        for where, what in faults(subject.contract.output_schema, example):
            inside = f" at {text(where)}" if where else ""
            yield Hit(place, f"The example{inside} does not fit the output schema: {text(what, 160)}.")


def _examples(subject: Subject) -> list[tuple[str, Any]]:
    return [(f"examples.{number}", each) for number, each in enumerate(subject.contract.examples)]


def _in_prompt(subject: Subject) -> Iterator[tuple[str, Any]]:
    """JSON blocks of the prompt that are meant as answers: those without template marks."""
    for role in ("system", "user"):
        for block in _FENCE.findall(getattr(subject.contract.prompt, role)):
            if "{{" in block or "{%" in block:
                continue
            try:
                yield f"prompt.{role}", json.loads(block)
            except (ValueError, RecursionError):
                continue


def emulated_optional(subject: Subject) -> Iterator[Hit]:
    """L13: a schema in a provider's shape makes every later field a breaking change."""
    for node in subject.nodes:
        if node.member is not None and node.required and nullable(node.schema):
            yield Hit(f"output_schema{node.pointer}", f"“{text(node.member)}” is required but may be null.")


def undescribed(subject: Subject) -> Iterator[Hit]:
    """L14: descriptions reach the model; they are part of the prompt."""
    for node in subject.nodes:
        said = not isinstance(node.schema, Mapping) or node.schema.get("description") or "$ref" in node.schema
        if node.member is not None and not said:
            yield Hit(f"output_schema{node.pointer}", f"“{text(node.member)}” has no description.")


def order(subject: Subject) -> Iterator[Hit]:
    """L15: what is written first is not yet reasoned about."""
    for node in subject.nodes:
        members = node.schema.get("properties") if isinstance(node.schema, Mapping) else None
        reasoned = None
        for name in reversed(list(members)) if isinstance(members, Mapping) else ():
            kind = _kind(name)
            if kind == "reason":
                reasoned = name
            elif kind == "answer" and reasoned is not None:
                yield Hit(
                    f"output_schema{node.pointer}", f"“{text(name)}” stands before its reasoning “{text(reasoned)}”."
                )


def _kind(name: str) -> str | None:
    return KINDS.get(re.split(r"[_\W]+", name.lower())[-1])


def _name(node: Node) -> str:
    return f"The object “{text(node.member)}”" if node.member else "The object"


CHECKS = {
    "L04": dialect,
    "L05": unsatisfiable,
    "L06": keywords,
    "L07": references,
    "L08": open_objects,
    "L09": examples,
    "L13": emulated_optional,
    "L14": undescribed,
    "L15": order,
}
