"""Writes what a person says of a run into the spool: a correction, or a like or dislike.

The runs that are published tell the rest: workflow and tenant, and the key that the right value is hashed with,
without which it could be compared with nothing.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import duckdb

from beleg.core.errors import UsageError
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.core.values import stored_workflows
from beleg.lake import publication
from beleg.lake.snapshot import Snapshot
from beleg.trace import policy
from beleg.trace.canon_types import NotCanonicalError
from beleg.trace.clock import Clock, timestamp
from beleg.trace.events import dumps, line
from beleg.trace.fingerprint import full_fingerprint
from beleg.trace.ids import new_id
from beleg.trace.keys import Key, KeyRing, KeyRingError, key_ring
from beleg.trace.shapes import MAX_BYTES
from beleg.trace.signals import RATINGS, REASONS
from beleg.trace.spool import Spool

UNKNOWN: Any = object()
"""In place of a value that nobody named; None is JSON's null."""
_WORDS: Mapping[str, int] = {"run_id": 200, "workflow": 200, "tenant": 200, "input_ref": 512, "supersedes": 200}
_HASHES = ("input_hash", "output_hash")


@dataclass(frozen=True)
class Word:
    """What a person says of one run, as they give it. One of the first four says which run it is about."""

    run_id: str | None = None
    input_hash: str | None = None
    output_hash: str | None = None
    input_ref: str | None = None
    """Alone it stands for the input of the published runs that carry it."""
    workflow: str | None = None
    tenant: str | None = None
    field: str | None = None
    """JSON pointer of what was wrong; the empty text is the whole result."""
    reason: str | None = None
    expected: Any = UNKNOWN
    supersedes: str | None = None
    rating: str | None = None
    """like or dislike; then neither field nor reason."""
    author: str | None = None
    said_at: datetime | None = None
    """None for now."""


class Run(NamedTuple):
    """What is published of a run."""

    run_id: str
    input_ref: str | None
    input_hash: str | None
    hash_key_id: str | None
    workflow: str
    tenant: str | None


@dataclass
class Desk:
    """Turns words into events; `write` puts them into the spool."""

    settings: Settings
    new_id: Callable[[], str] = new_id
    clock: Clock = field(default_factory=Clock)
    lines: list[bytes] = field(default_factory=list)
    _by_id: dict[str, Run] = field(default_factory=dict)
    _by_ref: dict[str, list[Run]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise UsageError where the key ring or a policy cannot be read."""
        self._stored = stored_workflows(self.settings)
        try:
            self._keys: KeyRing = key_ring()
        except KeyRingError as error:
            raise UsageError(str(error)) from error

    def look_up(self, words: Iterable[Word]) -> None:
        """Learn what is published of the runs that some words name; call it before `take`."""
        given = list(words)
        asked = {
            "run_ids": sorted({w.run_id for w in given if w.run_id}),
            "refs": sorted({w.input_ref for w in given if w.input_ref and not _binds(w)}),
        }
        for run in _runs(self.settings, asked):
            self._by_id[run.run_id] = run
            if run.input_ref in asked["refs"]:
                self._by_ref.setdefault(run.input_ref, []).append(run)

    def is_known(self, word: Word) -> bool:
        """Whether a run of that id is published; also for a word that names none."""
        return word.run_id is None or word.run_id in self._by_id

    def take(self, word: Word, *, event_id: str | None = None) -> str:
        """Make the event of a word and return its id, `event_id` where given. Raises UsageError, without any value."""
        try:
            event, fields = self._event(word)
            id_ = event_id or self.new_id()
            own = {"correction_id": id_} if event == "correction" else {}
            said = timestamp(self.clock.wall_ns()) if word.said_at is None else _utc(word.said_at)
            self.lines.append(line(event, b"", {"event_id": id_, "event_time": said, **own, **fields}))
        except policy.PolicyError as error:
            raise UsageError(str(error)) from error
        return id_

    def write(self) -> int:
        """Append all events to the spool, on disk before it returns; returns how many. Raises OSError."""
        spool = Spool(self.settings.spool, sync=True)
        for made in self.lines:
            spool.write(made)
        spool.seal()
        count = len(self.lines)
        self.lines.clear()
        return count

    def _event(self, word: Word) -> tuple[str, dict[str, Any]]:
        given = {name: getattr(word, name) for name in _WORDS}
        fields = {name: policy.word(name, value, _WORDS[name]) for name, value in given.items() if value is not None}
        fields |= {name: _digest(name, value) for name in _HASHES if (value := getattr(word, name)) is not None}
        run = self._run(word)
        if run is not None:
            fields = _completed(fields, run, named=word.run_id is not None)
        if not fields.keys() & {"run_id", *_HASHES}:
            raise UsageError("says which run by none of run_id, input_hash, output_hash, input_ref; give one")
        if word.author is not None:
            fields["author_hash"] = self._hash("author", word.author, self._tenants_key(fields.get("tenant")))
        if word.rating is not None:
            return "feedback", self._feedback(word, fields)
        fields["field"] = _pointer(word.field)
        fields["reason"] = policy.choice("reason", word.reason, REASONS)
        if word.expected is not UNKNOWN:
            fields |= self._expected(word.expected, fields, run)
        return "correction", fields

    def _feedback(self, word: Word, fields: dict[str, Any]) -> dict[str, Any]:
        if (word.field, word.reason, word.supersedes) != (None, None, None) or word.expected is not UNKNOWN:
            raise UsageError("a rating goes without field, reason, expected and supersedes")
        rating = policy.choice("rating", word.rating, RATINGS)
        return {name: value for name, value in fields.items() if name != "input_ref"} | {"rating": rating}

    def _run(self, word: Word) -> Run | None:
        """The published run that a word names; of an `input_ref` alone one of those with that input."""
        if word.run_id is not None:
            return self._by_id.get(word.run_id)
        if word.input_ref is None or _binds(word):
            return None
        fitting = [
            run
            for run in self._by_ref.get(word.input_ref, [])
            if word.workflow in {None, run.workflow} and word.tenant in {None, run.tenant} and run.input_hash
        ]
        inputs = {(run.workflow, run.tenant, run.hash_key_id, run.input_hash) for run in fitting}
        if len(inputs) != 1:
            what = "no published run has" if not inputs else f"{len(inputs)} different inputs have"
            raise UsageError(f"{what} that input_ref; name the run by run_id or by a fingerprint")
        return fitting[0]

    def _expected(self, value: Any, fields: Mapping[str, Any], run: Run | None) -> dict[str, Any]:
        """The value where its workflow stores values, else its fingerprint under the key of the run."""
        size = _size(value)
        if size > MAX_BYTES:
            raise UsageError(f"expected has {size} bytes as JSON; allowed are {MAX_BYTES}")
        if fields.get("workflow") in self._stored:
            return {"expected": value}
        key = self._tenants_key(fields.get("tenant")) if run is None else self._key(run.hash_key_id)
        return {"expected_hash": self._hash("expected", value, key)}

    def _hash(self, name: str, value: Any, key: Key | None) -> str:
        try:
            return full_fingerprint(value, key).digest
        except NotCanonicalError as error:
            raise UsageError(f"{name} has no canonical form ({error.reason}), so it cannot be compared") from error

    def _key(self, key_id: str | None) -> Key | None:
        if key_id is None:
            return None
        if key_id not in self._keys.keys:
            raise UsageError("the key of the run's fingerprints is not in BELEG_HASH_KEYS, so nothing would be equal")
        return self._keys.keys[key_id]

    def _tenants_key(self, tenant: str | None) -> Key | None:
        try:
            return self._keys.for_tenant(tenant)
        except KeyError as error:
            raise UsageError("the key of that tenant is not in BELEG_HASH_KEYS") from error


def value_of(text: str, *, as_text: bool = False) -> Any:
    """A value as people write it: JSON where it is JSON, else (or where told so) the text as it stands."""
    if as_text:
        return text
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text


def _no_constant(word: str) -> Any:
    raise ValueError(word)


def _size(value: Any) -> int:
    try:
        return len(dumps(value))
    except TypeError as error:  # lone surrogates, integers beyond 64 bits
        raise UsageError("expected cannot be written as JSON of 64-bit numbers and valid Unicode") from error


def _binds(word: Word) -> bool:
    return bool(word.run_id or word.input_hash or word.output_hash)


def _completed(fields: Mapping[str, Any], run: Run, *, named: bool) -> dict[str, Any]:
    """The fields with what the run tells; raises UsageError where they contradict it."""
    for name in ("workflow", "tenant"):
        if fields.get(name) not in {None, getattr(run, name)} and getattr(run, name) is not None:
            raise UsageError(f"{name} is not that of the run; leave it out")
    told = {"workflow": run.workflow, "tenant": run.tenant, "input_ref": run.input_ref}
    if not named:
        told["input_hash"] = run.input_hash
    return {name: value for name, value in told.items() if value is not None} | dict(fields)


def _digest(name: str, value: str) -> str:
    if policy.is_digest(value):
        return value
    raise UsageError(f"{name} is no fingerprint: 64 lower-case hex digits, as `beleg fingerprint` prints them")


def _pointer(value: str | None) -> str:
    if value is not None and (value == "" or (value.startswith("/") and policy.is_key(value, 512))):
        return value
    raise UsageError('field is no JSON pointer such as /lines/0/account; "" is the whole result')


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _runs(settings: Settings, asked: Mapping[str, Sequence[str]]) -> list[Run]:
    """What is published of some runs; nothing before the first publication."""
    published = publication.current(settings)
    if published is None or not any(asked.values()):
        return []
    lake = Snapshot.published(settings, published)
    with duckdb.connect(":memory:") as con:
        con.execute(f"CREATE TEMP VIEW run_costs AS SELECT * FROM {lake.relation('run_costs')}")
        return [Run(*row) for row in con.execute(query("beleg.evals.findings", "runs"), dict(asked)).fetchall()]
