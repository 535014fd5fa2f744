"""Reads a policy file: every complaint names the place, the value, what is allowed and what to do."""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from beleg.core import yamlfile
from beleg.core.errors import UsageError
from beleg.cost.money import parse_usd, pico_usd

MOST = 10**12
MOST_USD = 10**6
"""An int64 of pico-USD holds nine million."""

_SPANS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


class Fields:
    """One mapping of a policy file and the place where it stands."""

    def __init__(self, raw: object, where: str, allowed: Collection[str] | None = None) -> None:
        self.where = where
        if not isinstance(raw, Mapping):
            self.fail(f"expected a mapping, got {raw!r}")
        self.raw: Mapping[str, Any] = raw
        for key in raw:
            if not isinstance(key, str):
                self.fail(f"key {key!r} is no text: put it in quotes")
            if key not in (allowed or raw):
                self.fail(f"unknown key {key!r}; allowed are {', '.join(sorted(allowed or ()))}")

    def fail(self, message: str) -> NoReturn:
        """Raise UsageError with the place in front."""
        raise UsageError(f"{self.where}: {message}")

    def text(self, key: str) -> str:
        """A required text."""
        value = self.raw.get(key)
        if not isinstance(value, str) or not value.strip():
            self.fail(f"{key} must be a text, got {value!r}")
        return value

    def count(self, key: str, default: int | None = None) -> int | None:
        """A whole number above zero."""
        value = self.raw.get(key, default)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MOST):
            self.fail(f"{key} must be a whole number from 1 to {MOST}, got {value!r}")
        return value

    def choice(self, key: str, allowed: Collection[str], default: str | None = None) -> str | None:
        """One of a few words."""
        value = self.raw.get(key, default)
        if value is not None and value not in allowed:
            self.fail(f"{key} must be one of {', '.join(allowed)}, got {value!r}")
        return None if value is None else str(value)

    def instant(self, key: str) -> datetime | None:
        """A UTC day or an instant with an offset; a day means its first instant in UTC."""
        value = self.raw.get(key)
        if value is None:
            return None
        if not isinstance(value, date):
            self.fail(f"{key} must be a day or an instant, got {value!r}; write for example 2026-03-01")
        if not isinstance(value, datetime):
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
        if value.tzinfo is None:
            self.fail(f"{key} {value.isoformat()} has no offset; write for example 2026-03-01T00:00:00Z")
        return value.astimezone(UTC)

    def span(self, key: str) -> timedelta | None:
        """A span of time such as `30m`, `24h` or `7d`."""
        value = self.raw.get(key)
        if value is None:
            return None
        digits, letter = str(value)[:-1], str(value)[-1:]
        if not re.fullmatch("[0-9]{1,5}", digits) or int(digits) == 0 or letter not in _SPANS:
            self.fail(f"{key} must be a span such as 30m, 24h or 7d, got {value!r}")
        return int(digits) * _SPANS[letter]

    def usd(self, key: str) -> int | None:
        """An amount in USD, at most a million, as pico-USD."""
        value = self.raw.get(key)
        if value is None:
            return None
        try:
            amount = parse_usd(value)
            if amount > MOST_USD:
                self.fail(f"{key} must be at most {MOST_USD} USD, got {value!r}")
            return pico_usd(amount)
        except ValueError as error:
            self.fail(f"{key}: {error}")

    def mapping(self, key: str) -> Mapping[str, Any]:
        """A mapping, empty where the key is absent."""
        value = self.raw.get(key)
        return {} if value is None else Fields(value, f"{self.where}, {key}").raw

    def items(self, key: str) -> list[Any]:
        """A list, empty where the key is absent."""
        value = [] if self.raw.get(key) is None else self.raw[key]
        if not isinstance(value, list):
            self.fail(f"{key} must be a list, got {value!r}")
        return value


def read_yaml(path: Path) -> object:
    """The parsed file; raises UsageError for one that is missing or no YAML."""
    content = yamlfile.load(path, hint="mend the file or remove it to use the shipped one")
    return {} if content is None else content
