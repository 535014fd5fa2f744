"""JSON of a registry, read strictly: what is not as it was written is damage, never a guess."""

import json
import re
from collections.abc import Mapping
from datetime import date
from hashlib import sha256
from typing import Any, NoReturn

from beleg.core.errors import DamagedError

FORMAT = 1
SHA256 = re.compile(r"[0-9a-f]{64}\Z")


def parse(data: bytes, name: str) -> dict[str, Any]:
    """The JSON object in a file's bytes; raises DamagedError, naming the file, for anything else."""
    try:
        values = json.loads(data, object_pairs_hook=_once, parse_constant=_refuse)
        if b"\\u" in data:  # half a character can only stand there escaped, and can never be written again
            json.dumps(values, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{name} is damaged: {error}") from error
    if not isinstance(values, dict):
        raise DamagedError(f"{name} is damaged: it holds no JSON object")
    return values


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a key stands there twice")
    return values


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def check_bytes(data: bytes, sha: str, name: str) -> None:
    """Raise DamagedError for bytes that do not have the digest under which they were named."""
    found = sha256(data).hexdigest()
    if found != sha:
        raise DamagedError(f"{name} is damaged: its bytes have the SHA-256 {found[:12]}, not {sha[:12]}")


class Fields:
    """The members of one JSON object by kind; each raises DamagedError that names file, member and value."""

    def __init__(self, values: Any, name: str) -> None:
        if not isinstance(values, dict):
            raise DamagedError(f"{name} is damaged: an object should stand there")
        self.values: dict[str, Any] = values
        self.name = name

    def text(self, key: str) -> str:
        """A string with something in it."""
        value = self.values.get(key)
        return value if isinstance(value, str) and value else self.wrong(key, "text")

    def text_or_none(self, key: str) -> str | None:
        """A string, or nothing."""
        return None if self.values.get(key) is None else self.text(key)

    def sha(self, key: str) -> str:
        """64 hex digits."""
        value = self.values.get(key)
        return value if isinstance(value, str) and SHA256.match(value) else self.wrong(key, "64 hex digits")

    def sha_or_none(self, key: str) -> str | None:
        """64 hex digits, or nothing."""
        return None if self.values.get(key) is None else self.sha(key)

    def count(self, key: str) -> Any:
        """A whole number from 1 to 99 999 999: epochs have eight digits."""
        value = self.values.get(key)
        fits = type(value) is int and 1 <= value < 10**8
        return value if fits else self.wrong(key, "a whole number from 1 to 99999999")

    def day(self, key: str) -> date | None:
        """A day as YYYY-MM-DD, or nothing."""
        value = self.values.get(key)
        if value is None:
            return None
        try:
            day = date.fromisoformat(value)
        except (ValueError, TypeError):
            return self.wrong(key, "a day as YYYY-MM-DD")
        return day if day.isoformat() == value else self.wrong(key, "a day as YYYY-MM-DD")

    def one_of(self, key: str, allowed: tuple[Any, ...]) -> Any:
        """One of some values."""
        value = self.values.get(key)
        fits = any(value == each and type(value) is type(each) for each in allowed)
        return value if fits else self.wrong(key, " or ".join(map(repr, allowed)))

    def object(self, key: str) -> dict[str, Any]:
        """An object of any content."""
        value = self.values.get(key)
        return value if isinstance(value, dict) else self.wrong(key, "an object")

    def object_or_none(self, key: str) -> Mapping[str, Any] | None:
        """An object of any content, or nothing."""
        return None if self.values.get(key) is None else self.object(key)

    def part(self, key: str) -> "Fields":
        """The fields of an object inside."""
        return Fields(self.values.get(key), f"{self.name}: {key}")

    def wrong(self, key: str, expected: str) -> NoReturn:
        """Raise DamagedError for a member."""
        shown = repr(self.values.get(key, "nothing"))
        raise DamagedError(f"{self.name} is damaged: {key} is {shown[:80]}, not {expected}")
