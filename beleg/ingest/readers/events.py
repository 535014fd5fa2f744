"""Makes the events of a foreign format. What may not be stored is left out here, in one place for all readers."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from beleg.ingest.readers.item import Event
from beleg.ingest.readers.naming import Named
from beleg.ingest.reasons import Refused, refuse
from beleg.trace import policy
from beleg.trace.call import Call, call_fields
from beleg.trace.canon_types import NotCanonicalError
from beleg.trace.fingerprint import Fingerprint, full_fingerprint
from beleg.trace.keys import KeyRing, key_ring
from beleg.trace.usage import normalise

Status = Literal["succeeded", "failed", "cancelled"]
Kind = Literal["model", "tool", "retrieval", "other"]
Unit = Literal["s", "ms", "us", "ns"]

_POLICY = {"retention_policy": policy.RETENTION_POLICY, "payload_policy": policy.PAYLOAD_POLICY}
_WORDS = {
    "run_started": {
        "parent_run_id": 200, "conversation_id": 200, "tenant": 200, "team": 200, "environment": 100,
        "input_key": 512, "input_ref": 512, "prompt_version": 200, "feature": 200, "contract_version": 100,
    },
    "step": {
        "parent_step_id": 200, "tenant": 200, "team": 200, "environment": 100, "name": 256, "tool_name": 256,
        "exception_class": 200, "attempt_reason": 20, "playbook": 200, "cache_miss_reason": 200,
    },
    "run_finished": {"exception_class": 200},
}  # fmt: skip
"""Event → its readable fields with their most characters; free text in them is left out, never cut."""
WEAK = "2000-01-01T00:00:00Z"
"""Revision of a run's start or end that was guessed from one of its parts: any other report outranks it."""
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_DAYS = 36_525
"""Of a century, the years that events may have."""
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(value: Any, unit: Unit | None = None) -> str:
    """A time as events have it. Text without a zone is UTC; numbers need their `unit`, seconds since 1970.

    Raises Refused for what is no time: such an item belongs to no day.
    """
    found = time_of(value, unit)
    if found is None or not found.year // 100 == 20:  # the years that events may have
        raise Refused(refuse("no_time"))
    return found.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def time_of(value: Any, unit: Unit | None = None) -> datetime | None:
    """The aware UTC time of a value, to the microsecond; None for what is none."""
    try:
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, str) and not value.strip().lstrip("-").replace(".", "", 1).isdecimal():
            return time_of(datetime.fromisoformat(value.strip().replace(" UTC", "+00:00")))
        if unit is None or isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        if isinstance(value, float) or (isinstance(value, str) and "." in value):
            return _EPOCH + timedelta(microseconds=round(float(value) * 10**6 / _PER_SECOND[unit]))
        return _EPOCH + timedelta(microseconds=int(value) * 10**6 // _PER_SECOND[unit])
    except (ValueError, OverflowError):
        return None


def earlier_wins(at: str, base: str = WEAK) -> str:
    """A revision less than a day above `base`: of several parts of a run the earliest tells its start."""
    return _between(base, _LAST - datetime.fromisoformat(at))


def later_wins(at: str, base: str = WEAK) -> str:
    """A revision less than a day above `base`: of several parts of a run the latest tells its end."""
    return _between(base, datetime.fromisoformat(at) - _FIRST)


def _between(base: str, of_century: timedelta) -> str:
    return instant(datetime.fromisoformat(base) + of_century / _DAYS)


def milliseconds(start: Any, end: Any, unit: Unit | None = None) -> int | None:
    """Whole milliseconds between two times, the nearest; None where one is missing or the end comes first."""
    begun, ended = time_of(start, unit), time_of(end, unit)
    if begun is None or ended is None or ended < begun:
        return None
    return round((ended - begun) / timedelta(milliseconds=1))


def key(value: Any, max_chars: int = 190) -> str | None:
    """An id of the source: as it is, or, where it holds what may not be stored, its digest. None for none.

    The default leaves room in 200 characters for the ids made of it, such as that of a run's end.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value:
        return None
    if policy.is_key(value, max_chars):
        return value
    return hashlib.sha256(value.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def word(value: Any, max_chars: int = 200) -> str | None:
    """A name that may be stored; None for free text and everything else."""
    return value if isinstance(value, str) and policy.is_key(value, max_chars) else None


@dataclass
class Maker:
    """Makes the events of one format."""

    source: str
    keys: KeyRing = field(default_factory=key_ring)

    def run_started(self, run_id: str, at: str, named: Named, *, weak: bool = False, **more: Any) -> Event:
        """The start of a run. `at` is an `instant`; `more` are fields of the event, `input` its payload."""
        fields = {
            "event_id": run_id,
            "event_time": at,
            "run_id": run_id,
            "workflow": named.workflow,
            "purpose": named.purpose,
        }
        given = {**named.fields, **more}
        tenant = given.get("tenant")
        made = self._event("run_started", fields, given, weak=weak)
        if more.get("input") is not None and (found := self._fingerprint(more["input"], tenant)) is not None:
            made |= {"input_hash": found.digest, "canon_version": found.canon_version}
            made |= {} if found.key_id is None else {"hash_key_id": found.key_id}
        return made

    def run_finished(self, run_id: str, at: str, status: Status, *, weak: bool = False, **more: Any) -> Event:
        """The end of a run; `more` may hold duration_ms, units, exception_class and `output`, its payload."""
        fields = {"event_id": f"{run_id}-end", "event_time": at, "run_id": run_id, "status": status}
        made = self._event("run_finished", fields, more, weak=weak)
        return made | self._hash("output_hash", more.get("output"), more.get("tenant"))

    def step(
        self,
        run_id: str,
        step_id: str,
        at: str,
        kind: Kind,
        status: Status = "succeeded",
        *,
        call: Call | None = None,
        **more: Any,
    ) -> Event:
        """A call of a run; `more` are fields of the event and `input` and `output`, its payloads.

        Raises Refused where a priced bucket of `call` is contradicted.
        """
        fields = {"event_id": step_id, "event_time": at, "run_id": run_id, "step_id": step_id}
        made = self._event("step", {**fields, "kind": kind, "status": status}, more)
        tenant = more.get("tenant")
        made |= self._hash("input_hash", more.get("input"), tenant) | self._hash(
            "output_hash", more.get("output"), tenant
        )
        return made if call is None else made | usage(call)

    def event(self, event: str, event_id: str, at: str, **fields: Any) -> Event:
        """An event of another type, from fields that are known to be storable."""
        return self._event(event, {"event_id": event_id, "event_time": at, **fields}, {})

    def _event(self, event: str, fields: Event, more: Mapping[str, Any], *, weak: bool = False) -> Event:
        made: Event = {"event": event, "schema_version": 1, "source": self.source, **fields, **_POLICY}
        if weak:
            made["revision"] = WEAK
        elif more.get("revision") is not None:
            made["revision"] = more["revision"]
        policy.take_words(more, _WORDS.get(event, {}), made)
        made |= {name: more[name] for name in _PLAIN if more.get(name) is not None}
        return made

    def _hash(self, name: str, payload: Any, tenant: str | None) -> Event:
        found = None if payload is None else self._fingerprint(payload, tenant)
        return {} if found is None else {name: found.digest}

    def _fingerprint(self, payload: Any, tenant: str | None) -> Fingerprint | None:
        try:
            return full_fingerprint(payload, self.keys.for_tenant(tenant))
        except (NotCanonicalError, KeyError, RecursionError):
            return None


_PLAIN = ("latency_ms", "duration_ms", "attempt", "units", "toolset_hash", "layout_hash")
"""Fields that are numbers or digests of our own making: the schema of the event judges them."""


def usage(call: Call) -> Event:
    """What a call adds to its step. Raises Refused where a priced bucket is contradicted."""
    fields, _ = call_fields(call)
    if "buckets" not in fields and normalise(call.reported).contradiction is not None:
        raise Refused(refuse("contradicted_usage"))
    return fields
