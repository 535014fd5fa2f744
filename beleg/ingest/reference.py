"""The `jsonschema` package set up to judge as the compiled validator does.

It is a hundred times slower and words faults well, so it sees the few lines that fail. Where the two
packages differ by default, both follow the standards: patterns are ECMA-262, so `$` matches at the very
end only (Python's also before a last line feed), and date-time is RFC 3339.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:([0-9]{2})(\.[0-9]+)?"
    r"([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
_formats = FormatChecker(formats=())


@_formats.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    """RFC 3339 without leap seconds: our schemas' patterns exclude second 60."""
    if not isinstance(value, str):
        return True
    if _RFC3339.fullmatch(value) is None:
        return False
    datetime.fromisoformat(value[:19].upper())
    return True


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    ecma = re.sub(r"(?<!\\)\$", r"\\Z", pattern)
    if isinstance(instance, str) and re.search(ecma, instance) is None:
        yield ValidationError("does not match")


_Validator: Any = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]


def validator(schema: Mapping[str, Any]) -> Any:
    """The reference validator for a schema."""
    return _Validator(schema, format_checker=_formats)


def first_fault(schema: Mapping[str, Any], value: Any) -> ValidationError | None:
    """The fault that says most, or None for a value that meets the schema."""
    fault: ValidationError | None = best_match(validator(schema).iter_errors(value))
    return fault
