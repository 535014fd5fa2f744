"""Reads a CSV or JSON Lines file of cases as claims. Inputs become fingerprints here and are dropped.

input_ref     key into the owner's system; required
input         the input as JSON, fingerprinted and dropped; or
input_hash    its fingerprint, with hash_key_id where that has a key
expected      the right result as a whole; /gross, /lines/0/account: the right value of a part of it
family, critical, reason, slice.<name>
"""

import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from beleg.contract.draft import Feature
from beleg.contract.registry.fields import parse
from beleg.core.errors import DamagedError, UsageError
from beleg.core.settings import Settings
from beleg.core.values import stores_values
from beleg.evals.cases import pointer as pointers
from beleg.evals.cases.case import Acceptance, Expectation
from beleg.evals.cases.claims import Claim
from beleg.evals.cases.decisions import SLICE
from beleg.evals.cases.values import fingerprint_under, json_value, storable
from beleg.trace import policy
from beleg.trace.canon import canonical
from beleg.trace.canon_types import NotCanonicalError
from beleg.trace.keys import key_ring
from beleg.trace.signals import REASONS

_NAMES = ("input_ref", "input", "input_hash", "hash_key_id", "expected", "family", "critical", "reason")
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0", "")


@dataclass
class Rows:
    """Rows of a file as claims, each with its line; and what is wrong with the others."""

    claims: dict[int, list[Claim]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read_sheet(settings: Settings, path: Path, feature: Feature, told: Acceptance) -> Rows:
    """The rows of a file; raises UsageError or DamagedError for one that cannot be read at all."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}") from error
    reader = _Reader(settings, feature, told, f"import:{hashlib.sha256(data).hexdigest()[:12]}")
    rows = Rows()
    for line, row in _lines(path.name, data):
        try:
            rows.claims[line] = reader.claims(row())
        except (UsageError, DamagedError) as error:
            rows.problems.append(f"line {line}: {error}")
    return rows


def _lines(name: str, data: bytes) -> Iterator[tuple[int, Callable[[], dict[str, Any]]]]:
    """Number of each line and what reads it; raises for a file that is no such thing."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DamagedError(f"{name} is not UTF-8: byte {error.start}; save it as UTF-8") from error
    if name.endswith(".jsonl"):
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield number, partial(parse, line.encode(), "it")
        return
    if not name.endswith(".csv"):
        raise UsageError(f"{name} is neither .csv nor .jsonl; name it by what it holds")
    table = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = list(table.fieldnames or ())
        if twice := sorted({each for each in columns if columns.count(each) > 1}):
            raise UsageError(f"{name} has the column {twice[0][:60]!r} twice")
        for row in table:
            yield table.line_num, partial(_cells, row)
    except csv.Error as error:
        raise DamagedError(f"{name}, line {table.line_num}: {error}") from error


def _cells(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row of a CSV: an empty cell says nothing, a value is JSON where it reads as such, else text."""
    if None in row or None in row.values():
        raise UsageError("it has more or fewer cells than the header")
    return {name: _value(text) if _is_value(name) else text for name, text in row.items() if text}


def _is_value(name: str) -> bool:
    return name in ("input", "expected") or name.startswith("/")


def _value(text: str) -> Any:
    try:
        return json_value(text)
    except ValueError:
        return text


class _Reader:
    """Makes claims of rows."""

    def __init__(self, settings: Settings, feature: Feature, told: Acceptance, origin: str) -> None:
        self.feature, self.told, self.origin = feature, told, origin
        self.stored = stores_values(settings, feature.workflow)

    def claims(self, row: dict[str, Any]) -> list[Claim]:
        """Claims of a row; raises UsageError."""
        self._check_names(row)
        input_hash, key_id, version = self._input(row)
        slices = {name.removeprefix(SLICE): self._word(row, name, 256) for name in row if name.startswith(SLICE)}
        said = {"" if name == "expected" else name: row[name] for name in row if name == "expected" or name[0] == "/"}
        if not said:
            raise UsageError("it says nothing of what is right: give expected, or columns such as /gross")
        return [
            Claim(
                correction=self.origin,
                feature=self.feature.name,
                workflow=self.feature.workflow,
                input_ref=self._word(row, "input_ref", 512),
                input_hash=input_hash,
                hash_key_id=key_id,
                canon_version=version,
                field=name,
                expectation=self._expectation(value, key_id),
                reason=self._one_of(row, "reason", REASONS) or "",
                author=None,
                said_at=self.told.at,
                runs=(),
                acceptance=self.told,
                family=self._word(row, "family", 256) if "family" in row else None,
                slices=slices,
                critical=self._truth(row),
            )
            for name, value in said.items()
        ]

    def _check_names(self, row: Mapping[str, Any]) -> None:
        for name in row:
            known = name in _NAMES or name.startswith(SLICE) or (name.startswith("/") and pointers.is_pointer(name))
            if not known:
                allowed = f"{', '.join(_NAMES)}, slice.NAME and JSON pointers such as /gross"
                raise UsageError(f"{name[:60]!r} is no column; allowed are {allowed}")

    def _input(self, row: Mapping[str, Any]) -> tuple[str, str | None, str | None]:
        """Fingerprint of the input, its key, and the version of its encoding where that is known."""
        if ("input" in row) == ("input_hash" in row):
            raise UsageError("give either input or input_hash")
        key_id = self._word(row, "hash_key_id", 200) if "hash_key_id" in row else None
        if "input_hash" in row:
            if not policy.is_digest(row["input_hash"]):
                raise UsageError("input_hash is no fingerprint: 64 lower-case hex digits")
            return row["input_hash"], key_id, None
        key_id = key_id or key_ring().active
        digest = self._fingerprint(row["input"], key_id)
        return digest, key_id, canonical(row["input"]).version

    def _expectation(self, value: Any, key_id: str | None) -> Expectation:
        return Expectation(storable(value)) if self.stored else Expectation(hash=self._fingerprint(value, key_id))

    @staticmethod
    def _fingerprint(value: Any, key_id: str | None) -> str:
        try:
            digest = fingerprint_under(value, key_id)
        except NotCanonicalError as error:
            raise UsageError(f"it has no fingerprint: {error}") from error
        if digest is None:
            raise UsageError(f"the key {key_id!r} is not in BELEG_HASH_KEYS")
        return digest

    @staticmethod
    def _word(row: Mapping[str, Any], name: str, most: int) -> str:
        try:
            return policy.word(name, row.get(name), most)
        except policy.PolicyError as error:
            raise UsageError(str(error)) from error

    @staticmethod
    def _one_of(row: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str | None:
        if name in row and row[name] not in allowed:
            raise UsageError(f"{name} must be one of {', '.join(allowed)}")
        return row.get(name)

    @staticmethod
    def _truth(row: Mapping[str, Any]) -> bool:
        given = str(row.get("critical", "")).lower()
        if given not in _TRUE + _FALSE:
            raise UsageError("critical must be true or false")
        return given in _TRUE
