"""The verdict on a value, by `jsonschema-rs`; which rule is broken where, never by what."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from beleg.contract.client.errors import Tampered

Schema = Mapping[str, Any] | bool


@dataclass(frozen=True)
class Broken:
    """A rule and the place where it is broken, as JSON pointers into value and schema."""

    rule: str
    place: str
    schema_place: str


class Validator:
    """A compiled schema. Formats are checked: a reader parses by them."""

    def __init__(self, schema: Schema, what: str) -> None:
        try:
            plain: Any = schema if isinstance(schema, bool) else dict(schema)
            self._judge = jsonschema_rs.validator_for(plain, validate_formats=True, retriever=_no_network)
        except (ValueError, RecursionError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
            raise Tampered(f"{what} is no JSON Schema that can be used") from error
        self._names = frozenset(_names(schema))

    def valid(self, value: Any) -> bool:
        """Whether the value meets the schema; a value that cannot be judged does not."""
        try:
            return bool(self._judge.is_valid(value))
        except (ValueError, TypeError, RecursionError):
            return False

    def broken(self, value: Any) -> Broken | None:
        """The first rule that the value breaks."""
        if self.valid(value):
            return None
        try:
            error = next(iter(self._judge.iter_errors(value)))
        except (StopIteration, ValueError, TypeError, RecursionError):
            return Broken("json", "", "")
        return Broken(error.kind.name, self._place(error.instance_path), _pointer(error.schema_path))

    def _place(self, path: list[str | int]) -> str:
        """Where in the value; keys that the schema does not name are the payload's own and stay out."""
        return _pointer([step if isinstance(step, int) or step in self._names else "*" for step in path])


def _pointer(path: list[str | int]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _names(schema: Any) -> set[str]:
    """Every member that a schema names anywhere."""
    names: set[str] = set()
    todo = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            properties = part.get("properties")
            if isinstance(properties, Mapping):
                names |= set(properties)
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return names


def _no_network(uri: str) -> Any:
    raise ValueError(f"{uri} lies outside of the contract")
