"""LiteLLM: rows of its spend logs, from the API, the database or a table."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from beleg.ingest.readers.calls import CallRows, has_rows, run_of_calls
from beleg.ingest.readers.events import instant, key, milliseconds, word
from beleg.ingest.readers.formats import Format
from beleg.ingest.readers.head import Head
from beleg.ingest.readers.item import Event
from beleg.ingest.readers.parsing import member, parsed
from beleg.ingest.readers.traces import from_cache, named_values, provider, source_cost
from beleg.ingest.reasons import Refused, refuse
from beleg.trace.call import Call
from beleg.trace.semconv_usage import whole
from beleg.trace.usage_read import read_call
from beleg.trace.usage_view import figures

Row = Mapping[str, Any]

_UNIQUE_CHARS = 16
"""A shorter request id comes again: some servers number their answers."""
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
_TOOL_CALL = "call_mcp_tool"
_MANAGED = "litellm:custom_llm_provider:"
_DEFAULTS: tuple[Any, ...] = ("{}", "[]", "", {}, [])
"""What stands for a payload that was not logged."""


def _recognises(head: Head) -> bool:
    return has_rows(head, "request_id", "call_type", "spend", "startTime")


class _Rows(CallRows):
    """Makes the events of one file's rows."""

    def events(self, row: Row) -> Iterator[Event]:
        """A step for the row, and the start and end of its run as far as it tells them."""
        metadata = _object(row.get("metadata"))
        start, step_id = instant(row.get("startTime")), _identity(row)
        end = instant(row.get("endTime") or row.get("startTime"))
        run_id = key(row.get("session_id")) or step_id
        failed = "failure" in (row.get("status"), metadata.get("status"))
        named = self.runs.name(run_id, _facts(row, metadata))
        yield from run_of_calls(
            self.make, named, run_id, start=start, end=end, status="failed" if failed else "succeeded",
            team=word(metadata.get("user_api_key_team_alias")) or key(row.get("team_id")),
        )  # fmt: skip
        yield self.make.step(
            run_id,
            step_id,
            start,
            "tool" if row.get("call_type") == _TOOL_CALL else "model",
            "failed" if failed else "succeeded",
            call=_call(row, metadata),
            name=row.get("call_type"),
            tool_name=row.get("mcp_namespaced_tool_name"),
            exception_class=member(metadata, "error_information", "error_class"),
            latency_ms=whole(row.get("request_duration_ms")) or milliseconds(row.get("startTime"), row.get("endTime")),
            input=_payload(row.get("messages")),
            output=_payload(row.get("response")),
        )


def _identity(row: Row) -> str:
    """The request id where it is one of a kind, else a digest of what tells the row from others."""
    told = row.get("request_id")
    if isinstance(told, str) and len(told) >= _UNIQUE_CHARS:
        return key(told) or ""
    names = ("session_id", "call_type", "api_key", "model", *_COUNTS)
    parts = [told or "", *(instant(row.get(name)) for name in ("startTime", "endTime") if row.get(name))]
    if not any((told, row.get("session_id"), row.get("startTime"))):
        raise Refused(refuse("no_id"))
    return hashlib.sha256("\n".join([*parts, *(str(row.get(name) or "") for name in names)]).encode()).hexdigest()[:32]


def _call(row: Row, metadata: Row) -> Call:
    seller = row.get("custom_llm_provider") or None
    usage = _usage(row, metadata)
    model = _model(row, metadata, seller)
    hit = str(row.get("cache_hit")).lower() == "true"
    call = read_call({"usage": usage, "model": model})
    call.provider, call.api = provider(seller, model), word(row.get("call_type"), 100)
    call.raw_usage = {**figures(usage), **source_cost(row.get("spend"), {name: row.get(name) for name in _COUNTS})}
    if not hit and len(str(row.get("request_id"))) >= _UNIQUE_CHARS:
        call.response_id = _response_id(str(row["request_id"]))
    call.batch = True if "batch" in str(row.get("call_type")) else None
    return from_cache(call, hit)


def _model(row: Row, metadata: Row, seller: Any) -> str | None:
    """The model; of a deployment at Azure, whose name is free, the one that the gateway prices it as."""
    mapped = member(metadata, "model_map_information", "model_map_key")
    if seller == "azure" and isinstance(mapped, str) and mapped:
        return mapped.rpartition("/")[2]
    told = row.get("model")
    return told if isinstance(told, str) and told else None


def _usage(row: Row, metadata: Row) -> dict[str, Any]:
    """The usage in one dict. Rows without a count hold zeros: those are unknown, not zero."""
    counts = {name: whole(row.get(name)) for name in _COUNTS}
    if not any(counts.values()):
        return {}
    details = {**_object(metadata.get("additional_usage_values")), **_object(metadata.get("usage_object"))}
    return {**details, **{name: count for name, count in counts.items() if count is not None}}


def _response_id(request_id: str) -> str:
    """The provider's own id inside the one that LiteLLM hands out for responses, by which it logs the call again."""
    if not request_id.startswith("resp_"):
        return request_id
    try:
        told = base64.b64decode(request_id.removeprefix("resp_") + "==").decode()
    except ValueError:
        return request_id
    inner = told.rpartition("response_id:")[2] if told.startswith(_MANAGED) else ""
    return inner or request_id


def _facts(row: Row, metadata: Row) -> dict[str, Any]:
    return {
        "format": "litellm",
        "session": row.get("session_id"),
        "user": row.get("end_user") or row.get("user"),
        "project": row.get("team_id"),
        "agent": row.get("agent_id"),
        "tag": parsed(row.get("request_tags")),
        **named_values("metadata", metadata),
        **named_values(
            "metadata", {n: row.get(n) for n in ("organization_id", "model_group", "call_type", "end_user")}
        ),
    }


def _object(value: Any) -> dict[str, Any]:
    found = parsed(value)
    return found if isinstance(found, dict) else {}


def _payload(value: Any) -> Any:
    return None if value in _DEFAULTS else parsed(value)


FORMATS = (
    Format(
        name="litellm",
        title="LiteLLM",
        files="rows of the spend logs; JSON, pages, lines, CSV, Parquet",
        yields="a run for each session, its calls with tokens, cached tokens, status and LiteLLM's own spend",
        cannot_know="what stands above a call; calls that LiteLLM did not log; units other than tokens",
        recognises=_recognises,
        read=_Rows.read,
        suffixes=(".csv", ".parquet"),
    ),
)
