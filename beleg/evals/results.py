"""Results of scorers: one row per case, version, repetition and scorer, as `eval_result` events and out of the lake.

What a result is about decides its `event_id`: a run that is repeated or resumed repeats the same events, and
ingest counts each of them once. A result made afresh on purpose takes the place of the earlier one.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import duckdb

from beleg.core.settings import Settings
from beleg.lake.snapshot import Snapshot
from beleg.trace.canon import canonical
from beleg.trace.events import line

Side = Literal["candidate", "baseline"]
Status = Literal["scored", "failed", "stale", "missing"]
MEASURES = ("latency_ms", "cost_usd", "input_tokens", "output_tokens")
"""Scorers of every suite that measure what an answer took instead of judging it."""


class Answered(NamedTuple):
    """What an answer is an answer to; all results of one answer share it."""

    dataset_digest: str
    case_id: str
    digest: str
    repetition: int


@dataclass(frozen=True, kw_only=True)
class Result:
    """One scorer's result for one answer."""

    feature: str
    case_id: str
    dataset_digest: str
    side: Side
    """In which role the version ran; the gate selects by `digest`, since today's candidate is tomorrow's baseline."""
    digest: str
    """Digest of the contract that ran (`candidate_digest` of the event)."""
    repetition: int
    """1 for the first answer to the case."""
    scorer: str
    """As a contract's criterion names it, for example `exact_match:account`, or one of `MEASURES`."""
    scorer_version: str
    status: Status
    event_time: datetime
    """When it was scored, UTC."""
    score: float | None = None
    """None unless `status` is `scored`."""
    expected_hash: str | None = None
    """Fingerprint of the expected value, under the case's key."""
    actual_hash: str | None = None
    """Fingerprint of what the scorer looked at, under the case's key."""
    attempt: int | None = None
    """Which answer to the same question this is: 1, and one more for each one made afresh on purpose."""
    run_id: str | None = None
    """The traced run that made it; exact money stands in `run_costs` under this id."""

    @property
    def answered(self) -> Answered:
        """What the answer is an answer to."""
        return Answered(self.dataset_digest, self.case_id, self.digest, self.repetition)

    @property
    def event_id(self) -> str:
        """32 hex digits over what the result is about, whatever it came to."""
        about = [self.feature, *self.answered, self.scorer, self.scorer_version]
        return hashlib.sha256(canonical(about).data).hexdigest()[:32]


_COLUMNS = {"digest": "candidate_digest"}
"""Field of a result → its name in event and table, where they differ."""


def event_line(result: Result) -> bytes:
    """The result as a line of the spool, in the form of `contracts/events/eval_result/v1.schema.json`."""
    known = {_COLUMNS.get(name, name): value for name, value in vars(result).items() if value is not None}
    at = result.event_time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    return line("eval_result", b"", {**known, "event_id": result.event_id, "event_time": at})


def from_event(event: Mapping[str, Any]) -> Result:
    """The result that an `eval_result` event tells; raises KeyError or ValueError for what is none."""
    values: dict[str, Any] = {each.name: event.get(_COLUMNS.get(each.name, each.name)) for each in fields(Result)}
    values["event_time"] = datetime.fromisoformat(event["event_time"]).astimezone(UTC)
    return Result(**values)


def read(settings: Settings, feature: str, digests: Collection[str], dataset_digest: str) -> list[Result]:
    """Results of some contract versions on a dataset, from the lake's latest state, published or not.

    Sorted by case, version, repetition and scorer. What lies in the spool only is not seen: ingest first.
    """
    relation = Snapshot.latest(settings).relation("eval_results")
    columns = ", ".join(_COLUMNS.get(each.name, each.name) for each in fields(Result))
    query = (
        f"SELECT {columns} FROM {relation} WHERE feature = $feature AND dataset_digest = $dataset "
        "AND list_contains($digests, candidate_digest) "
        "ORDER BY case_id, candidate_digest, repetition, scorer, scorer_version, source, event_id"
    )
    asked = {"feature": feature, "dataset": dataset_digest, "digests": sorted(digests)}
    with duckdb.connect(":memory:") as con:
        con.execute("SET TimeZone = 'UTC'")
        return list(_results(con.execute(query, asked).fetchall()))


def _results(rows: Iterable[tuple[Any, ...]]) -> Iterable[Result]:
    names = [each.name for each in fields(Result)]
    for row in rows:
        values = dict(zip(names, row, strict=True))
        yield Result(**{**values, "event_time": values["event_time"].astimezone(UTC)})
