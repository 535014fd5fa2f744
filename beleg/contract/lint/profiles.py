"""What a provider can take and enforce of a schema: `contracts/policies/provider_profiles.yaml`, never code.

Lint judges by it, the SDK converts by it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from beleg.core import yamlfile
from beleg.core.errors import UsageError
from beleg.core.paths import shipped

LIMITS = {
    "properties": "declared members in all",
    "depth": "levels of nesting",
    "name_chars": "characters of names, enum and const values",
    "enum_values": "enum values in all",
    "large_enum_values": "values that make an enum large",
    "large_enum_chars": "characters of a large enum",
    "strict_tools": "strict tools per request",
    "optional_members": "optional members over all strict schemas",
    "union_members": "members of several types over all strict schemas",
}
"""Names of the limits that a profile may state, with their meaning."""


@dataclass(frozen=True)
class Profile:
    """One provider's row; the head of the YAML file says what each key means."""

    as_of: date
    source: str
    root_object: bool
    closed_objects: bool
    all_required: bool
    maps: bool
    recursion: bool
    not_enforced: frozenset[str]
    formats: frozenset[str] | None
    min_items_up_to: int | None
    limits: Mapping[str, int]
    tool_name: str
    pinned_model: str
    retired: Mapping[str, date] = field(default_factory=dict)
    """Model id → first day on which calls of it fail."""

    def pinned(self, model: str) -> bool:
        """Whether the id names one model for good."""
        return re.search(self.pinned_model, model) is not None

    def enforces(self, keyword: str, value: Any) -> bool:
        """Whether the provider holds a keyword of a schema to this value."""
        if keyword in self.not_enforced:
            return False
        if keyword == "format":
            return self.formats is None or value in self.formats
        if keyword == "minItems" and self.min_items_up_to is not None:
            return isinstance(value, int) and value <= self.min_items_up_to
        return True


def profile(provider: str, path: Path | None = None) -> Profile | None:
    """The row of a provider, None where there is none: then nothing is known about it."""
    return profiles(path).get(provider)


def profiles(path: Path | None = None) -> Mapping[str, Profile]:
    """Every provider's row, from `path` or Beleg's own file; raises UsageError that names row and key."""
    chosen = path or shipped("contracts", "policies", "provider_profiles.yaml")
    try:
        return _read(chosen, chosen.stat().st_mtime_ns)
    except OSError as error:
        raise UsageError(f"{chosen}: {error.strerror}; leave the path out for Beleg's own profiles") from error


@lru_cache(maxsize=16)
def _read(path: Path, _mtime_ns: int) -> Mapping[str, Profile]:
    values = yamlfile.load(path)
    rows = values.get("profiles") if isinstance(values, dict) else None
    if not isinstance(rows, dict):
        raise UsageError(f"{path.name}: `profiles` must map providers to their rows")
    return {str(name): _profile(f"{path.name}: {name}", row) for name, row in rows.items()}


def _profile(place: str, row: Any) -> Profile:
    names = {each.name for each in fields(Profile)}
    if not isinstance(row, dict) or set(row) != names:
        raise UsageError(f"{place}: must have exactly the keys {', '.join(sorted(names))}")
    for name, holds in _CHECKS.items():
        if not holds(row[name]):
            raise UsageError(f"{place}: {name} is {row[name]!r}; the head of the file says what is allowed")
    formats = row["formats"]
    return Profile(
        **row
        | {
            "not_enforced": frozenset(row["not_enforced"]),
            "formats": None if formats is None else frozenset(formats),
            "retired": {each["model"]: each["ends"] for each in row["retired"]},
        }
    )


def _words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _pattern(value: Any) -> bool:
    try:
        return bool(re.compile(value))
    except (re.error, TypeError):
        return False


def _limits(value: Any) -> bool:
    return isinstance(value, dict) and all(k in LIMITS and type(v) is int and v > 0 for k, v in value.items())


def _retired(value: Any) -> bool:
    rows = isinstance(value, list) and all(isinstance(each, dict) and set(each) == {"model", "ends"} for each in value)
    return rows and all(isinstance(each["model"], str) and type(each["ends"]) is date for each in value)


_FLAGS = ("root_object", "closed_objects", "all_required", "maps", "recursion")
_CHECKS = {
    "as_of": lambda v: type(v) is date,
    "source": lambda v: isinstance(v, str) and v != "",
    "not_enforced": _words,
    "formats": lambda v: v is None or _words(v),
    "min_items_up_to": lambda v: v is None or type(v) is int,
    "limits": _limits,
    "tool_name": _pattern,
    "pinned_model": _pattern,
    "retired": _retired,
} | {name: (lambda v: isinstance(v, bool)) for name in _FLAGS}
