"""Events of the samples of an Inspect log."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from beleg.ingest.readers.events import Maker, Status, instant, key, milliseconds
from beleg.ingest.readers.item import Event
from beleg.ingest.readers.naming import Named, Naming
from beleg.ingest.readers.parsing import member
from beleg.ingest.readers.traces import Told, from_cache, named_values, provider, source_cost
from beleg.ingest.reasons import Refused, refuse
from beleg.trace.call import Call
from beleg.trace.semconv_usage import whole
from beleg.trace.usage import Reported
from beleg.trace.usage_view import figures

_COUNTS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "total": "total_tokens",
    "cache_read": "input_tokens_cache_read",
    "cache_write": "input_tokens_cache_write",
    "reasoning": "reasoning_tokens",
}
_MAX_DEPTH = 50
_SERVICES = ("azure", "bedrock", "vertex")
"""What stands between provider and model where a cloud bills the call."""


class Part(NamedTuple):
    """A call of a sample."""

    event: Any
    identity: str
    """Its own id, else its place among the sample's events."""
    parent: str | None
    """Step id of the tool call within which it happened."""


@dataclass
class Log:
    """One eval log: what all of its samples share."""

    eval: Mapping[str, Any]
    make: Maker
    naming: Naming
    named: Named = field(init=False)

    def __post_init__(self) -> None:
        told = self.eval
        facts = {
            "format": "inspect",
            "workflow": told.get("task"),
            "project": member(told, "dataset", "name"),
            "tag": told.get("tags"),
            **named_values("metadata", told.get("metadata")),
            **named_values("metadata", {"model": told.get("model"), "solver": told.get("solver")}),
        }
        named = self.naming.name(facts)
        self.named = replace(named, purpose="eval") if named.purpose == "production" else named


class Sample:
    """One sample in one epoch: a run."""

    def __init__(self, log: Log, content: Mapping[str, Any]) -> None:
        self._log, self._content = log, content
        self.run_id = _run_id(log.eval, content)
        events = content.get("events")
        self._events: Sequence[Any] = events if isinstance(events, list) else ()
        times = [at for event in self._events if (at := _instant(event, "timestamp")) is not None]
        given = [at for name in ("started_at", "completed_at") if (at := _instant(content, name)) is not None]
        begun = [*times, *given] or [instant(log.eval.get("created"))]
        ends = [at for event in self._events if (at := _instant(event, "completed")) is not None]
        self._start, self._end = min(begun), max([*begun, *ends])

    def run(self) -> Iterator[Event]:
        """Start and end of the run."""
        log, content = self._log, self._content
        reference = f"{member(log.eval, 'dataset', 'name')}/{content.get('id')}"
        yield log.make.run_started(self.run_id, self._start, log.named, input_ref=reference, input=content.get("input"))
        status: Status = "succeeded" if content.get("error") is None else "failed"
        output = member(content, "output", "choices", 0, "message", "content")
        yield from Told(self.run_id, self._start, self._end, log.named).finish(log.make, status, output)

    def parts(self) -> Iterator[Part]:
        """Its calls; of a sample without events, the sums of each model and the tool messages."""
        if self._events:
            yield from _calls(self._events, self.run_id, None, 0)
            return
        usages = self._content.get("model_usage")
        for model, usage in usages.items() if isinstance(usages, dict) else ():
            told = {"event": "model", "model": model, "output": {"usage": usage}}
            yield Part(told, f"{self.run_id}-{model}", None)
        messages = self._content.get("messages")
        for number, message in enumerate(messages if isinstance(messages, list) else ()):
            if member(message, "role") == "tool":
                yield Part(
                    {**message, "event": "tool", "result": message.get("content")}, f"{self.run_id}-{number}", None
                )

    def step(self, part: Part) -> Iterator[Event]:
        """The step of a call."""
        event, make = part.event, self._log.make
        at = _instant(event, "timestamp") or self._start
        is_model = event["event"] == "model"
        shared: dict[str, Any] = {
            "parent_step_id": part.parent,
            "exception_class": member(event, "error", "type"),
            "latency_ms": _latency_ms(event),
        }
        status: Status = "succeeded" if event.get("error") is None else "failed"
        step_id = key(part.identity)
        if step_id is None:
            raise Refused(refuse("no_id"))
        if is_model:
            answer = member(event, "output", "choices")
            yield make.step(
                self.run_id, step_id, at, "model", status, call=_call(event), name=event.get("role") or "generate",
                input=event.get("input"), output=answer, **shared,
            )  # fmt: skip
        else:
            yield make.step(
                self.run_id, step_id, at, "tool", status, name=event.get("function"), tool_name=event.get("function"),
                input=event.get("arguments"), output=event.get("result"), **shared,
            )  # fmt: skip


def _run_id(told: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    own = key(content.get("uuid"))
    if own is not None:
        return own
    parts = [told.get("eval_id"), told["run_id"], told["task_id"], told.get("created"), content["id"], content["epoch"]]
    return hashlib.sha256(repr([str(part) for part in parts]).encode()).hexdigest()[:32]


def _calls(events: Sequence[Any], place: str, parent: str | None, depth: int) -> Iterator[Part]:
    """The calls among events, and among those that happened within one of them."""
    for number, event in enumerate(events):
        if not isinstance(event, dict) or depth > _MAX_DEPTH:
            continue
        identity = event.get("uuid") or f"{place}-{number}"
        called = event.get("event") in ("model", "tool") and not event.get("pending")
        if called:
            yield Part(event, identity, parent)
        inner = event.get("events")
        if isinstance(inner, list):
            yield from _calls(inner, identity, key(identity) if called else parent, depth + 1)


def _call(event: Mapping[str, Any]) -> Call:
    told, usage = event.get("model"), member(event, "output", "usage")
    sold_by, model = _sold_by(told)
    answered = member(event, "output", "model")
    own = answered if isinstance(answered, str) and answered and answered != told else model
    counts: dict[str, Any] = {name: whole(member(usage, field)) for name, field in _COUNTS.items()}
    response = member(event, "call", "response", "id")
    call = Call(
        provider=provider(sold_by, own),
        api="generate",
        model=own or (told if isinstance(told, str) else None),
        response_id=response if isinstance(response, str) else None,
        # Logs before 2026 count cache reads inside the input for some providers: the total decides.
        reported=Reported(**counts, provider_rule="exclusive", reasoning_rule=True),
        raw_usage={
            **figures(usage),
            **source_cost(member(usage, "total_cost"), usage if isinstance(usage, dict) else {}),
        },
    )
    hit = event.get("cache") == "read"
    if hit:
        call.response_id = None  # that of the call which filled the cache
    return from_cache(call, hit)


def _sold_by(told: Any) -> tuple[str | None, str | None]:
    """Who bills, and the model: `openai/gpt-4o` names both, `anthropic/bedrock/…` the service within a provider."""
    first, slash, model = told.partition("/") if isinstance(told, str) else ("", "", "")
    service, inner, rest = model.partition("/")
    if inner and service in _SERVICES:
        return service, rest
    return (first, model) if slash else (None, None)


def _latency_ms(event: Mapping[str, Any]) -> int | None:
    seconds = member(event, "output", "time") if event["event"] == "model" else None
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < 10**9:
        return round(seconds * 1000)
    return milliseconds(event.get("timestamp"), event.get("completed"))


def _instant(value: Any, name: str) -> str | None:
    told = member(value, name)
    return instant(told) if isinstance(told, str) else None
