"""What may be stored: the one place that decides (DESIGN, decision 4; SPEC, A4).

Payloads become fingerprints elsewhere; this module guards the fields that stay readable. A name, id or
label is a word of the code or an opaque key: no blanks, no quotes, a limited length. Whatever else arrives
there (a sentence, an error message, a document) is left out and counted, never cut short or cleaned: half
a sentence is payload too.
"""

import operator
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, SupportsIndex, cast

RETENTION_POLICY = "metadata_and_hashes_only"
PAYLOAD_POLICY = "hashed_not_stored"
"""The labels that every row carries (SPEC, A4)."""
PURPOSES = ("production", "eval", "test", "demo")
MAX_LABELS = 32
DIGEST_CHARS = 64
MAX_FIGURES = 100
_MAX_FIGURE = 10**18
MAX_COUNT = 1_000_000_000_000

_WORD = re.compile(r"(?!.*://[^/?#]*@)[\w.:/@+#=,~%&?;!$*<>()\[\]|-]+")
"""No blanks, and no address that carries a name or password before its host."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


class PolicyError(ValueError):
    """A value may not be stored; the message names the field, never the value."""


def word(field: str, value: object, max_chars: int) -> str:
    """The value as a storable word; raises PolicyError for free text, other types and excess length."""
    given = text(value)
    if given is not None and is_word(given, max_chars):
        return given
    kind = type(value).__name__ if given is None else f"{len(given)} characters"
    msg = f"{field} is no word that may be stored ({kind}); allowed: 1 to {max_chars} characters, no blanks"
    raise PolicyError(f"{msg}, as in invoice-42 or gpt-4o")


def text(value: object) -> str | None:
    """The characters of a string or of a subclass of it; None for anything else. No method of a foreign class runs."""
    if type(value) is str:
        return value
    # Not isinstance: a hostile object's __class__ raises.
    return str.__str__(cast("str", value)) if issubclass(type(value), str) else None


def is_word(value: str, max_chars: int) -> bool:
    """True for a value without blanks, quotes and control characters, of limited length."""
    return len(value) <= max_chars and _has_form(value)


@lru_cache(maxsize=1024)
def _has_form(value: str) -> bool:
    return _WORD.fullmatch(value) is not None


def is_key(value: str, max_chars: int) -> bool:
    """As `is_word`, without remembering: for keys that rarely come twice."""
    return len(value) <= max_chars and _WORD.fullmatch(value) is not None


def take_words(given: Mapping[str, Any], limits: Mapping[str, int], fields: dict[str, Any]) -> tuple[str, ...]:
    """Put those of the given values that may be stored into an event's fields; return the names of the others.

    `limits` are names with their most characters; `DIGEST_CHARS` asks for a digest. Other names are not looked at.
    """
    refused: tuple[str, ...] = ()
    for name, value in given.items():
        if value is None:
            continue
        max_chars = limits.get(name)
        if max_chars is None:
            continue
        words = value if type(value) is str else text(value)
        is_fit = words is not None and len(words) <= max_chars and _has_form(words)
        if is_fit and (max_chars != DIGEST_CHARS or is_digest(words)):
            fields[name] = words
        else:
            refused += (name,)
    return refused


def is_digest(value: object) -> bool:
    """True for 64 lower-case hex digits."""
    words = text(value)
    return words is not None and _DIGEST.fullmatch(words) is not None


def is_choice(value: object, allowed: Iterable[str]) -> bool:
    """True for one of the allowed words; a foreign object is not even compared."""
    words = value if type(value) is str else text(value)
    return words is not None and words in allowed


def choice(field: str, value: object, allowed: Iterable[str]) -> str:
    """One of the allowed words; raises PolicyError naming them."""
    given = text(value)
    if given is not None and is_choice(given, allowed):
        return given
    raise PolicyError(f"{field} is none of {', '.join(allowed)}; use one of these")


def count(field: str, value: object) -> int:
    """A count as integer; raises PolicyError for anything that is none."""
    if hasattr(type(value), "__index__") and type(value) is not bool:
        whole = operator.index(cast("SupportsIndex", value))  # numpy's integers too
        if 0 <= whole <= MAX_COUNT:
            return whole
    raise PolicyError(f"{field} is no count; use a whole number from 0 to {MAX_COUNT}")


def labels(given: Mapping[Any, Any], allowed: frozenset[str]) -> tuple[dict[str, str], list[str]]:
    """Labels that may be stored, and why others may not (without their values)."""
    kept: dict[str, str] = {}
    refused: list[str] = []
    for name, value in given.items():
        if name not in allowed:
            refused.append("a label is not on the allow-list; add its name to BELEG_LABELS")
            continue
        words = text(value)
        if words is None or not is_key(words, 256) or len(kept) == MAX_LABELS:
            refused.append(f"label {name!r} is no short word")
        else:
            kept[str.__str__(name)] = words
    return kept, refused


def figures(raw: Mapping[str, Any]) -> dict[str, int | float]:
    """The numbers of a reported usage whose names are words; everything else is left out."""
    kept: dict[str, int | float] = {}
    for name, value in raw.items():
        is_number = type(value) is int or type(value) is float
        if is_number and abs(value) < _MAX_FIGURE and is_word(name, 100) and len(kept) < MAX_FIGURES:
            kept[name] = value
    return kept


def exception_class(kind: type[BaseException]) -> str | None:
    """Name of an exception's class, never its message; None for a class whose name is no word."""
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return name if is_word(name, 200) else None
