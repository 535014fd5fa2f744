"""JSON pointers (RFC 6901): how a case names the part of a result that it knows the right value of."""

import re
from typing import Any

_POINTER = re.compile(r"(/([^~/]|~[01])*)*")
_INDEX = re.compile(r"0|[1-9][0-9]*")


def is_pointer(text: str) -> bool:
    """True for a JSON pointer; "" is the whole value."""
    return _POINTER.fullmatch(text) is not None


def pointer(field: str) -> str:
    """The pointer that a scorer's field means: a pointer itself, or a path with dots such as `lines.0.account`."""
    if field == "" or field.startswith("/"):
        return field
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in field.split("."))


def parts(text: str) -> list[str]:
    """The names and indexes of a pointer, from the outside in."""
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def look_up(value: Any, names: list[str]) -> Any:
    """What lies in a value at a path; raises LookupError where nothing does."""
    for name in names:
        if isinstance(value, dict):
            value = value[name]
        elif isinstance(value, list) and _INDEX.fullmatch(name):
            value = value[int(name)]
        else:
            raise LookupError(name)
    return value
