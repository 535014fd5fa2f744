"""Helicone: rows of its request log."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from beleg.ingest.readers.calls import CallRows, has_rows, run_of_calls
from beleg.ingest.readers.events import Status, instant, key
from beleg.ingest.readers.formats import Format
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event
from beleg.ingest.readers.parsing import parsed
from beleg.ingest.readers.traces import from_cache, named_values, provider, source_cost
from beleg.ingest.reasons import Refused, refuse
from beleg.trace.call import Call
from beleg.trace.semconv_names import EXCLUSIVE_PROVIDERS
from beleg.trace.semconv_usage import whole
from beleg.trace.usage import Reported

Row = Mapping[str, Any]

_COUNTS = {
    "input": "prompt_tokens",
    "output": "completion_tokens",
    "total": "total_tokens",
    "cache_read": "prompt_cache_read_tokens",
    "cache_write": "prompt_cache_write_tokens",
    "input_audio": "prompt_audio_tokens",
    "output_audio": "completion_audio_tokens",
}
_NO_REFERENCE = "00000000-0000-0000-0000-000000000000"
"""What `cache_reference_id` holds where no cache answered."""
_CANCELLED = -3
_PENDING = -2
_NANO_PER_USD = 10**9


def _recognises(head: Head) -> bool:
    return has_rows(head, "request_id", "request_created_at", "response_status")


class _Rows(CallRows):
    """Makes the events of one file's rows."""

    def events(self, row: Row) -> Iterator[Event]:
        """A step for the row, and the start and end of its session as far as it tells them."""
        step_id, start = key(row.get("request_id")), instant(row.get("request_created_at"))
        if step_id is None:
            raise Refused(refuse("no_id"))
        properties = _properties(row)
        session = properties.get("Helicone-Session-Id")
        run_id, status = key(session) or step_id, _status(row)
        named = self.runs.name(run_id, _facts(row, properties))
        end = None if status is None else instant(row.get("response_created_at") or row["request_created_at"])
        yield from run_of_calls(self.make, named, run_id, start=start, end=end, status=status or "succeeded")
        if status is not None:  # a pending request has no usage yet
            yield self.make.step(
                run_id, step_id, start, "model", status, call=_call(row), latency_ms=whole(row.get("delay_ms")),
                input=_payload(row.get("request_body")), output=_payload(row.get("response_body")),
            )  # fmt: skip


def _status(row: Row) -> Status | None:
    """How the request ended; None where it has not."""
    code = whole(row.get("response_status"))
    if code in (None, 0, _PENDING):
        return None
    if code == _CANCELLED:
        return "cancelled"
    return "succeeded" if 200 <= (code or 0) < 400 else "failed"


def _call(row: Row) -> Call:
    model = next((m for n in ("model_override", "response_model", "model", "request_model") if (m := row.get(n))), None)
    model = model if isinstance(model, str) else None
    seller = row.get("provider")
    sold_by = provider(None if seller == "CUSTOM" else seller, model)
    counts = {name: whole(row.get(field)) for name, field in _COUNTS.items()}
    hit = row.get("cache_reference_id") not in (None, "", _NO_REFERENCE)
    raw = {field: count for name, field in _COUNTS.items() if (count := counts[name]) is not None}
    call = Call(
        provider=sold_by,
        model=model,
        reported=_reported(counts, sold_by),
        raw_usage={**raw, **_cost(row, raw)},
    )
    return from_cache(call, hit)


def _reported(counts: dict[str, Any], sold_by: str | None) -> Reported:
    """Older rows hold the provider's own count, newer ones leave cached tokens out: the arithmetic decides."""
    cached, given = (counts["cache_read"] or 0) + (counts["cache_write"] or 0), counts["input"]
    exclusive = sold_by in EXCLUSIVE_PROVIDERS or (given is not None and cached > given)
    return Reported(**counts, provider_rule="exclusive" if exclusive else "inclusive")


def _cost(row: Row, counts: Mapping[str, int]) -> dict[str, int]:
    """Helicone's own cost: `costUSD`, or `cost` as USD with a fraction or, as the database has it, whole nano-USD."""
    if row.get("costUSD") is not None:
        return source_cost(row["costUSD"], counts)
    nano = whole(row.get("cost"))
    return source_cost(row.get("cost") if nano is None else Decimal(nano) / _NANO_PER_USD, counts)


def _properties(row: Row) -> dict[str, Any]:
    for name in ("properties", "request_properties"):
        found = parsed(row.get(name))
        if isinstance(found, dict) and found:
            return found
    return {}


def _facts(row: Row, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "format": "helicone",
        "workflow": properties.get("Helicone-Session-Name"),
        "session": properties.get("Helicone-Session-Id"),
        "span": properties.get("Helicone-Session-Path"),
        "user": row.get("request_user_id"),
        "prompt.name": row.get("prompt_id") or properties.get("Helicone-Prompt-Id"),
        "prompt.version": row.get("prompt_version"),
        **named_values("metadata", properties),
    }


def _payload(value: Any) -> Any:
    return None if value in ("", "{}", {}) else parsed(value)


FORMATS = (
    Format(
        name="helicone",
        title="Helicone",
        files="rows of the request log; JSON, pages, lines, CSV, Parquet",
        yields="a run for each session, its calls with tokens, cached tokens, status, latency and Helicone's own cost",
        cannot_know="reasoning tokens; the provider's id of a call; how long a cache write lives",
        recognises=_recognises,
        read=_Rows.read,
        suffixes=(".csv", ".parquet"),
    ),
)
