"""The options of a scorer: fields of a dataclass, written as text in a contract."""

import dataclasses
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, get_type_hints
from urllib.parse import quote

from beleg.core.errors import UsageError

_SAFE = "/.,:~_-"


def quoted(written: str) -> str:
    """A part of a spec, percent-encoded where it must be."""
    return quote(written, safe=_SAFE)


def refuse(scorer: Any, option: str, value: object, allowed: str) -> UsageError:
    """The error for an option that cannot be used."""
    return UsageError(f"scorer {scorer.name}: {option}={value} is not allowed; use {allowed}")


def read_options(scorer: type[Any], options: Mapping[str, str]) -> dict[str, Any]:
    """The values of a spec's options, by the types of the dataclass's fields."""
    hints = get_type_hints(scorer)
    types = {each.name: hints[each.name] for each in dataclasses.fields(scorer) if each.name != "field"}
    if unknown := sorted(set(options) - set(types)):
        known = ", ".join(types) or "none"
        raise UsageError(f"scorer {scorer.name}: no option {', '.join(unknown)}; its options are: {known}")
    return {name: _read(scorer, name, types[name], text) for name, text in options.items()}


def _read(scorer: type[Any], name: str, kind: Any, text: str) -> Any:
    if kind is bool:
        if text not in {"true", "false"}:
            raise refuse(scorer, name, text, "true or false")
        return text == "true"
    if kind is Decimal:
        try:
            return Decimal(text)
        except InvalidOperation:
            raise refuse(scorer, name, text, "a number such as 0.01") from None
    return tuple(text.split(",")) if kind == tuple[str, ...] else text


def text(value: Any) -> str:
    """A value as it stands in a spec; equal values have equal texts."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        digits = format(value, "f")
        return (digits.rstrip("0").rstrip(".") if "." in digits else digits) or "0"
    return ",".join(value) if isinstance(value, tuple) else str(value)
