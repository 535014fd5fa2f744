"""Signals that come later than the run: likes, corrections, business outcomes.

Each is bound to its run by `run_id`, or by the fingerprint of the run's input or output where the id is
gone. Nothing here raises: a signal that cannot be recorded is counted (`beleg.health()`) and gives None.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

from beleg.trace import policy
from beleg.trace.clock import timestamp
from beleg.trace.events import line
from beleg.trace.runtime import Runtime, runtime
from beleg.trace.shapes import check_value

RATINGS = ("like", "dislike")
REASONS = ("extraction_error", "mapping_bug", "unsupported_case", "user_preference")
_UNKNOWN: Any = object()


def feedback(
    run_id: str | None = None,
    *,
    rating: str,
    input_hash: str | None = None,
    output_hash: str | None = None,
    workflow: str | None = None,
    author: Any = None,
    tenant: str | None = None,
) -> str | None:
    """A person liked or disliked a result (`rating`: like, dislike). `author` is stored as fingerprint."""

    def fields(found: Runtime) -> dict[str, Any]:
        binding = _binding(run_id, input_hash, output_hash, workflow)
        return {**binding, "rating": policy.choice("rating", rating, RATINGS), **_author(found, author, tenant)}

    return _emit("feedback", fields, tenant, bound=_is_bound(run_id, input_hash, output_hash))


def correct(
    run_id: str | None = None,
    *,
    field: str,
    reason: str,
    expected: Any = _UNKNOWN,
    input_hash: str | None = None,
    output_hash: str | None = None,
    workflow: str | None = None,
    input_ref: str | None = None,
    author: Any = None,
    supersedes: str | None = None,
    tenant: str | None = None,
) -> str | None:
    """A person overrode part of a result; returns the id of the correction.

    `field` is the JSON pointer of what was wrong ("" is the whole result), `reason` one of
    extraction_error, mapping_bug, unsupported_case, user_preference. The expected value is stored only for
    a `workflow` whose shape of values is configured (`beleg.configure(stored_values=…)`), else hashed.
    """

    def fields(found: Runtime) -> dict[str, Any]:
        made = _binding(run_id, input_hash, output_hash, workflow)
        made["correction_id"] = found.new_id()
        made["field"] = _pointer(field)
        made["reason"] = policy.choice("reason", reason, REASONS)
        for name, value, max_chars in (("input_ref", input_ref, 512), ("supersedes", supersedes, 200)):
            if value is not None:
                made[name] = policy.word(name, value, max_chars)
        return {**made, **_expected(found, expected, workflow, tenant), **_author(found, author, tenant)}

    return _emit("correction", fields, tenant, bound=_is_bound(run_id, input_hash, output_hash))


def outcome(
    workflow: str,
    kind: str,
    count: int = 1,
    *,
    run_ids: str | Sequence[str | None] = (),
    occurred_at: dt.datetime | None = None,
    outcome_id: str | None = None,
    retracts: str | None = None,
    tenant: str | None = None,
) -> str | None:
    """Business results came out (`outcome("vat", "filed_return")`); returns the id of the outcome.

    Give your own `outcome_id` to make repeating it harmless; `retracts` takes an earlier outcome back.
    """

    def fields(found: Runtime) -> dict[str, Any]:
        made: dict[str, Any] = {
            "outcome_id": found.new_id() if outcome_id is None else policy.word("outcome_id", outcome_id, 200),
            "workflow": policy.word("workflow", workflow, 200),
            "kind": policy.word("kind", kind, 100),
            "count": policy.count("count", count),
            "occurred_at": _instant(found, occurred_at),
        }
        several = (run_ids,) if policy.text(run_ids) is not None else run_ids
        known = [policy.word("run_ids", run_id, 200) for run_id in several if run_id is not None]
        if known:
            made["run_ids"] = known
        if retracts is not None:
            made["retracts"] = policy.word("retracts", retracts, 200)
        return made

    return _emit("outcome", fields, tenant)


_IDS = {"correction": "correction_id", "outcome": "outcome_id"}


def _emit(
    event: str, fields: Callable[[Runtime], dict[str, Any]], tenant: str | None, *, bound: bool = True
) -> str | None:
    found = runtime()
    if found is None or not bound:
        return None
    try:
        made = fields(found)
        own_id = _IDS.get(event)
        # An id that the owner gave makes a repetition the same event, not a second one.
        event_id = made[own_id] if own_id is not None else found.new_id()
        head = {"event_id": event_id, "event_time": timestamp(found.clock.wall_ns())}
        if tenant is not None:
            head["tenant"] = policy.word("tenant", tenant, 200)
        encoded = line(event, b"", {**head, **made})
    except Exception as error:  # noqa: BLE001 - nothing of ours may reach the caller
        found.faults.note(event, error)
        return None
    found.emit(encoded)
    return str(event_id)


def _is_bound(*bindings: str | None) -> bool:
    """False for a signal about a run that was never traced: nothing to record, and no fault."""
    return any(binding is not None for binding in bindings)


def _binding(
    run_id: str | None, input_hash: str | None, output_hash: str | None, workflow: str | None
) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if run_id is not None:
        made["run_id"] = policy.word("run_id", run_id, 200)
    if workflow is not None:
        made["workflow"] = policy.word("workflow", workflow, 200)
    for name, value in (("input_hash", input_hash), ("output_hash", output_hash)):
        if value is not None:
            made[name] = _digest(name, value)
    return made


def _digest(name: str, value: Any) -> str:
    if policy.is_digest(value):
        return str(value)
    raise policy.PolicyError(f"{name} is no fingerprint; use beleg.fingerprint(value), 64 lower-case hex digits")


def _pointer(field: str) -> str:
    if field == "" or (field.startswith("/") and policy.is_key(field, 512)):
        return field
    raise policy.PolicyError('field is no JSON pointer; use for example "/lines/0/account", "" for the whole result')


def _expected(found: Runtime, expected: Any, workflow: str | None, tenant: str | None) -> dict[str, Any]:
    if expected is _UNKNOWN:
        return {}
    shape = found.stored_values.get(workflow) if workflow is not None else None
    if shape is not None:
        try:
            check_value(expected, shape)
        except policy.PolicyError as error:
            found.faults.note("value_hashed", error)
        else:
            return {"expected": expected}
    digest = found.fingerprint(expected, tenant)
    return {} if digest is None else {"expected_hash": digest.digest}


def _author(found: Runtime, author: Any, tenant: str | None) -> dict[str, Any]:
    digest = None if author is None else found.fingerprint(author, tenant)
    return {} if digest is None else {"author_hash": digest.digest}


def _instant(found: Runtime, moment: dt.datetime | None) -> str:
    if moment is None:
        return timestamp(found.clock.wall_ns())
    if moment.utcoffset() is None:
        raise policy.PolicyError("occurred_at has no time zone; use datetime.now(UTC)")
    return moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
