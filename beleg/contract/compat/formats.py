"""The `format` keyword as a promise: which promise includes which, and texts that break or keep one."""

import ipaddress
import re
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Final

INCLUDED: Final = {
    ("uri", "iri"),
    ("uri", "uri-reference"),
    ("uri", "iri-reference"),
    ("iri", "iri-reference"),
    ("uri-reference", "iri-reference"),
    ("hostname", "idn-hostname"),
    ("email", "idn-email"),
}
"""(narrower, wider): every text of the narrower format is one of the wider."""

EXAMPLES: Final = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "duration": "P1D",
    "email": "a@example.org",
    "idn-email": "a@example.org",
    "hostname": "example.org",
    "idn-hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/a",
    "iri": "https://example.org/a",
    "uri-reference": "/a",
    "iri-reference": "/a",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "json-pointer": "/a",
    "regex": "a",
}
STRANGERS: Final = ("tomorrow", "not one", "", "x", "(", "é", "0")
"""Texts that break one format or another."""

_SHAPES: Final = {
    "date-time": r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
    "date": r"\d{4}-\d\d-\d\d",
    "time": r"\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
    "duration": r"P(\d+[YMWD])*(T(\d+[HMS])+)?",
    "email": r"\S+@\S+",
    "idn-email": r"\S+@\S+",
    "hostname": r"[A-Za-z0-9.-]+",
    "idn-hostname": r"[^\s/@]+",
    "ipv4": r"\d+\.\d+\.\d+\.\d+",
    "ipv6": r"[0-9A-Fa-f:.]+",
    "uri": r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]*",
    "iri": r"[A-Za-z][A-Za-z0-9+.-]*:\S*",
    "uri-reference": r"[!-~]*",
    "iri-reference": r"\S*",
    "uuid": r"[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
    "json-pointer": r"(/.*)?",
}
_PARSERS: Final[dict[str, Callable[[str], object]]] = {
    "date-time": lambda text: datetime.fromisoformat(text.upper()),
    "date": date.fromisoformat,
    "time": lambda text: time.fromisoformat(text.upper()),
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "regex": re.compile,
}
_EXACT: Final = {"date", "ipv4", "ipv6", "uuid"}
_MAX_TEXT: Final = 300


def promises(narrower: str, wider: str) -> bool:
    """Whether every text of one format is one of the other."""
    return narrower == wider or (narrower, wider) in INCLUDED


def keeps(name: str, text: str) -> bool | None:
    """Whether a text is of the format; None where that is not certain."""
    if len(text) > _MAX_TEXT or (name not in _SHAPES and name not in _PARSERS):
        return None
    if name in _SHAPES and not re.fullmatch(_SHAPES[name], text, re.ASCII):
        return False
    try:
        _PARSERS.get(name, str)(text)
    except (ValueError, re.error):
        return None if name in {"date-time", "time"} and ":60" in text else False
    return True if name in _EXACT or EXAMPLES.get(name) == text else None
