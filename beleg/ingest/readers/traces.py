"""What readers of tracing platforms share: facts from metadata, costs of the source, runs told in parts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from beleg.ingest.readers.events import (
    WEAK,
    Maker,
    Status,
    Unit,
    earlier_wins,
    instant,
    key,
    later_wins,
    milliseconds,
    word,
)
from beleg.ingest.readers.files import File
from beleg.ingest.readers.item import Event, Value
from beleg.ingest.readers.naming import Named, Naming, Outcome
from beleg.ingest.reasons import Refused
from beleg.trace.call import Call
from beleg.trace.semconv_names import PROVIDERS
from beleg.trace.semconv_usage import plausible_pico_usd, whole
from beleg.trace.usage import Reported
from beleg.trace.usage_provider import provider_of
from beleg.trace.usage_read import read_call

ROOT_REVISION = "2000-01-02T00:00:00Z"
"""Revision of a run's start and end as its root tells them: above a guess from another part, below the run itself."""
_RESPONSE_IDS = ("chatcmpl-", "resp_", "msg_", "gen-")
_PROVIDERS = {
    "google_genai": "google",
    "google_vertexai": "google",
    "google_anthropic_vertex": "google",
    "amazon_bedrock": "aws",
    "bedrock_converse": "aws",
    "azure_openai": "azure",
    "mistralai": "mistral",
}
"""Names that LangChain and MLflow give to providers, beside those of the conventions."""


def values(file: File, large: tuple[str, ...]) -> Iterator[Value]:
    """Documents or lines of JSON as a whole, too large ones in parts at the prefixes `large`; rows of a table."""
    return file.values("", large=large) if file.is_json else file.rows()


def known_time(value: Any, unit: Unit | None = None) -> str | None:
    """A time as events have it; None for what is none."""
    try:
        return instant(value, unit)
    except Refused:
        return None


def named_values(prefix: str, values: Any) -> dict[str, Any]:
    """Facts from a map of the source: its texts and numbers, and lists of them."""
    if not isinstance(values, Mapping):
        return {}
    return {f"{prefix}.{name}": value for name, value in values.items() if isinstance(value, str | int | float | list)}


def provider(name: Any, model: str | None) -> str | None:
    """Who bills a call, from what the source calls the provider, else from the model."""
    if (told := word(name)) is not None:
        told = told.lower()
        first = told.partition("/")[0].partition(".")[0]
        return _PROVIDERS.get(told) or PROVIDERS.get(told) or _PROVIDERS.get(first) or PROVIDERS.get(first, first)
    if model is not None and "publishers/google/models/" in model:
        return "google"
    return provider_of({}, {}, None, model)


def provider_body(output: Any) -> Call:
    """What a provider's own answer tells, where it is kept as the output of a step; else an empty Call.

    Only what carries a provider's response id counts as one: a model may well write JSON about usage.
    """
    identity = output.get("id") if isinstance(output, dict) else None
    if not isinstance(identity, str) or not identity.startswith(_RESPONSE_IDS):
        return Call()
    call = read_call(output)
    return replace(call, raw_usage={f"answer.{name}": count for name, count in call.raw_usage.items()})


def most_telling(*reports: Reported) -> Reported:
    """The report that tells most of one call: both sides, the cached part, the reasoning; the first of equal ones."""
    return max(reports, key=_telling)


def _telling(r: Reported) -> tuple[bool, bool, bool]:
    cached = (r.cache_read, r.cache_write, r.cache_write_5m, r.cache_write_1h)
    reasoning = r.reasoning is not None or r.hidden_reasoning
    return None not in (r.input, r.output), any(count is not None for count in cached), reasoning


def source_cost(usd: Any, counts: Mapping[str, Any]) -> dict[str, int]:
    """The raw figure of a cost that the source computed itself; empty for one that cannot be a cost in USD."""
    whole_counts = {name: count for name, value in counts.items() if (count := whole(value)) is not None and count > 0}
    pico = plausible_pico_usd(usd, whole_counts)
    return {} if pico is None else {"source_cost_pico_usd": pico}


@dataclass(frozen=True, slots=True)
class Told:
    """A run as one part of a file tells it."""

    run_id: str
    at: str
    end: str | None
    named: Named
    revision: str | None = None
    is_part: bool = False
    """True where several parts may tell of the run: the earliest start and the latest end then win."""

    def start(self, make: Maker, payload: Any, session: Any = None) -> Event:
        """The run's start; `session` is the source's id of its conversation."""
        revision = earlier_wins(self.at, self.revision) if self.is_part and self.revision else self.revision
        return make.run_started(
            self.run_id, self.at, self.named, input=payload, conversation_id=key(session), revision=revision
        )

    def finish(self, make: Maker, status: Status, payload: Any) -> Iterator[Event]:
        """The run's end and the business result that a naming rule reads off it; nothing for one that goes on."""
        if self.end is None:
            return
        revision = later_wins(self.end, self.revision) if self.is_part and self.revision else self.revision
        yield make.run_finished(
            self.run_id,
            self.end,
            status,
            units=dict(self.named.units) or None,
            duration_ms=milliseconds(self.at, self.end),
            output=payload,
            tenant=self.named.fields.get("tenant"),
            revision=revision,
        )
        if self.named.outcome is not None and status == "succeeded":
            yield self._outcome(make, self.end, self.named.outcome, revision)

    def _outcome(self, make: Maker, end: str, outcome: Outcome, revision: str | None) -> Event:
        identity = f"{self.run_id}-outcome"
        return make.event(
            "outcome",
            identity,
            end,
            outcome_id=identity,
            run_ids=[self.run_id],
            workflow=self.named.workflow,
            kind=outcome.kind,
            count=outcome.count,
            occurred_at=end,
            **({} if revision is None else {"revision": revision}),
        )


def from_cache(call: Call, marked: Any) -> Call:
    """The call, without tokens where it is `marked` as a hit of the client's own cache of answers.

    Such an answer costs nothing, whatever counts are repeated with it; they stay as raw figures.
    """
    if marked not in (True, "True", "true"):
        return call
    return replace(call, reported=Reported(input=0, output=0), raw_usage={**call.raw_usage, "response_cache_hit": 1})


class Untold:
    """Runs of a file of which parts were seen, but neither the run itself nor its root."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._first: dict[str, str] = {}

    def told(self, run_id: str) -> bool:
        """Note that a run's start is told; True where it was before."""
        before = run_id in self._told
        self._told.add(run_id)
        self._first.pop(run_id, None)
        return before

    def part(self, run_id: str, at: str) -> None:
        """Note a part of a run."""
        if run_id not in self._told:
            self._first[run_id] = min(at, self._first.get(run_id, at))

    def starts(self, make: Maker, naming: Naming) -> Iterator[Event]:
        """A start for each of these runs at its first part, for as long as nothing else tells of it."""
        for run_id, at in self._first.items():
            named = naming.name({"format": make.source})
            yield make.run_started(run_id, at, named, revision=earlier_wins(at, WEAK))
