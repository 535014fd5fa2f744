"""What a provider keeps of a prompt and finds again: data with a date and a source, `providers.yaml`, never code."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from beleg.core import yamlfile
from beleg.core.errors import UsageError

FILE = Path(__file__).with_name("providers.yaml")
Matching = Literal["breakpoints", "prefix", "units"]


@dataclass(frozen=True)
class Lifetime:
    """How long an entry stays since its last use, and what writing it costs as a multiple of input tokens."""

    seconds: int
    write_factor: Decimal


@dataclass(frozen=True)
class Source:
    """One statement of a shortest prefix."""

    tokens: int
    as_of: date
    source: str


@dataclass(frozen=True)
class Minimum:
    """The shortest prefix that is kept, by every source."""

    sources: tuple[Source, ...]

    @property
    def tokens(self) -> int:
        """The largest that a source states: a prefix of so many tokens is kept whoever is right."""
        return max(each.tokens for each in self.sources)

    @property
    def lowest(self) -> int:
        """The smallest that a source states."""
        return min(each.tokens for each in self.sources)

    def __str__(self) -> str:
        return "; ".join(f"{each.tokens} ({each.source}, {each.as_of})" for each in self.sources)


@dataclass(frozen=True)
class Rules:
    """One provider's row; the head of the YAML file says what each key means."""

    provider: str
    as_of: date
    source: str
    order: tuple[str, ...]
    matching: Matching
    most_breakpoints: int
    lookback_blocks: int | None
    increment_tokens: int | None
    lifetimes: tuple[Lifetime, ...]
    read_factor: Decimal | None
    changes: Mapping[str, str]
    minimums: tuple[tuple[str, Minimum], ...]

    def minimum(self, model: str | None) -> Minimum | None:
        """The shortest prefix for a model; None where no row knows it, which is not zero."""
        return next((found for pattern, found in self.minimums if model and re.search(pattern, model)), None)


ANY = Rules(
    "any", date(2026, 11, 30), "no provider was named", ("tools", "system", "messages"), "prefix", 0, None, None, (),
    None, {"model": "tools"}, (),
)  # fmt: skip
"""Where no provider is named: a longest common start, no limits known."""


def rules(provider: str, path: Path = FILE) -> Rules:
    """A provider's rules; raises UsageError for an unknown one or a file that does not read."""
    known = _load(path)
    if provider not in known:
        raise UsageError(f"no rules for provider {provider!r}; {path.name} knows {', '.join(known)}")
    return known[provider]


@lru_cache(maxsize=8)
def _load(path: Path) -> Mapping[str, Rules]:
    raw = yamlfile.load(path)
    providers = raw.get("providers") if isinstance(raw, Mapping) else None
    if not isinstance(providers, Mapping):
        raise UsageError(f"{path.name} has no `providers`")
    return {name: _rules(str(name), row, f"{path.name}, {name}") for name, row in providers.items()}


def _rules(name: str, row: Any, where: str) -> Rules:
    wanted = {each.name for each in fields(Rules)} - {"provider"}
    if not isinstance(row, Mapping) or set(row) != wanted:
        given = sorted(set(row) ^ wanted) if isinstance(row, Mapping) else row
        raise UsageError(f"{where}: missing or unknown are {given}")
    try:
        return Rules(
            **{
                **row,
                "provider": name,
                "order": tuple(row["order"]),
                "lifetimes": tuple(
                    Lifetime(int(each["seconds"]), Decimal(each["write_factor"])) for each in row["lifetimes"]
                ),
                "read_factor": None if row["read_factor"] is None else Decimal(row["read_factor"]),
                "minimums": tuple((each["models"], _minimum(each["tokens"])) for each in row["minimums"]),
            }
        )
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise UsageError(f"{where}: {type(error).__name__} {error}") from error


def _minimum(sources: Any) -> Minimum:
    return Minimum(tuple(Source(int(each["tokens"]), each["as_of"], str(each["source"])) for each in sources))
