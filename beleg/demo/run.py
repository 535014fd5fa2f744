"""One run of an agent as it unfolds, told to the tracer as an application would tell it."""

from asyncio import CancelledError
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from typing import Any

import beleg
from beleg.demo.answers import Answer, answer_of
from beleg.demo.company import (
    BILL_CATCHES_UP_US,
    OCR,
    OWN,
    OWN_PRICES,
    ROUTED,
    SECOND_US,
    TENANTS,
    Model,
    Workflow,
)
from beleg.demo.events import Event, envelope, uuid7
from beleg.demo.receipts import receipt
from beleg.demo.recorder import Recorder
from beleg.demo.tally import own_cost_pico_usd
from beleg.trace.run import Run as Trace
from beleg.trace.step import Step

_SLOW = 0.002
"""Share of calls that take twenty times as long."""
_ROUTED_PRICES = {"input_uncached": 1_000_000, "cache_read": 100_000, "cache_write": 1_250_000, "output": 5_000_000}
"""micro-USD per million tokens that OpenRouter bills; the same as its list prices."""


class Run:
    """A run; each of its calls moves the clock on."""

    def __init__(
        self,
        recorder: Recorder,
        workflow: Workflow,
        *,
        subject: int,
        revision: int = 0,
        purpose: str = "production",
        tenant: str | None = None,
    ) -> None:
        self.recorder = recorder
        self.workflow = workflow
        self.purpose = purpose
        self.tenant = tenant or TENANTS[subject % len(TENANTS)]
        self.input = _input(workflow, subject, revision)
        self.output: Mapping[str, Any] | None = None
        """The result, where a story has one that matters."""
        self.reference = f"books/{workflow.subject}:{subject}" + (f"@{revision}" if revision else "")
        self._trace: Trace = self._traced(f"{workflow.subject}:{subject}")
        self._trace.__enter__()
        self.id = str(self._trace.run_id)
        self._started_us = self.now_us
        if not recorder.is_over:
            recorder.tally.start(workflow.name, purpose)

    def _traced(self, key: str) -> Trace:
        return beleg.traced_agent_run(
            workflow=self.workflow.name,
            input_payload=self.input,
            input_key=key,
            input_ref=self.reference,
            tenant=self.tenant,
            team=self.workflow.team,
            environment="staging" if self.purpose == "test" else "production",
            purpose=self.purpose,
            prompt_version=self.workflow.prompt_version(self.now_us),
            prompt_source="baked" if self.recorder.chance(0.02) else "registry",
        )

    @property
    def now_us(self) -> int:
        """The present, in microseconds since 1970."""
        return self.recorder.now_us

    def model(
        self,
        model: Model,
        buckets: Mapping[str, int] | None,
        *,
        latency_ms: int,
        error: type[Exception] | None = None,
        attempt: int = 1,
        **options: Any,
    ) -> None:
        """A call of a model; `buckets` None where the answer never came and its usage is unknown."""
        billed = None if buckets is None else _billed_pico_usd(model, buckets, self.now_us)
        if buckets is not None and not self.recorder.is_over:
            self.recorder.tally.use(model.name, buckets, self.now_us, billed)
        if "toolset_hash" in options and not self.recorder.is_over:
            found = (buckets or {}).get("cache_read", 0)
            version = self.workflow.prompt_version(self._started_us)
            self.recorder.tally.offer(options["toolset_hash"], options.get("playbook"), version, found)
        name = f"{model.provider}.{model.api}"
        step = self._trace.step(name, provider=model.provider, model=model.name, attempt=attempt, **options)
        answer = None
        if buckets is not None:
            answer = answer_of(model, buckets, self.recorder.rng.getrandbits(64), billed_pico_usd=billed)
        self._call(step, latency_ms, error, answer)
        if model is ROUTED and not self.recorder.is_over and self.recorder.chance(0.05):
            self._report_again(self.recorder.last)

    def tool(self, name: str, *, latency_ms: int, error: type[Exception] | None = None) -> None:
        """A call of a tool."""
        self.recorder.tally.call(name, is_over=self.recorder.is_over)
        self._call(self._trace.tool(name), latency_ms, error)

    def search(self, name: str, *, latency_ms: int) -> None:
        """A search for what the model is to know."""
        self._call(self._trace.step(name, kind="retrieval"), latency_ms, None)

    def _call(self, step: Step, latency_ms: int, error: type[Exception] | None, answer: Answer | None = None) -> None:
        if not error and self.recorder.chance(_SLOW):
            latency_ms *= 20
        with nullcontext() if error is None else suppress(error), step:
            self.recorder.now_us += latency_ms * 1000
            step.record(answer)
            if error is not None:
                raise error
        self.recorder.now_us += self.recorder.between(500, 9_000)

    def _report_again(self, step: Event) -> None:
        """The gateway in front of the provider reports the call too, under ids of its own."""
        name = "gw-" + step["response_id"].removeprefix("gen-")
        self.recorder.put({**step, "source": "gateway", "event_id": name, "step_id": name})
        self.recorder.tally.repeated_calls += 1

    def finish(self, error: type[BaseException] | None = None, **units: int) -> bool:
        """End the run, with an error or with its results; False if that lies beyond the end of the demo."""
        if error is None:
            self._trace.set_output(self.output or {**self.input, "answer": self.recorder.between(0, 3)})
        for kind, count in units.items():
            self._trace.units(count, kind)
        self._trace.__exit__(error, None, None)
        if self.recorder.is_over:
            return False
        status = "succeeded" if error is None else "cancelled" if error is CancelledError else "failed"
        self.recorder.tally.finish(status, units if self.purpose == "production" else {})
        return True

    def ask_person(self, wait_us: int) -> None:
        """Wait for a person; another process goes on after `wait_us`."""
        self._trace.needs_input()
        self._trace.__exit__(None, None, None)
        self.recorder.now_us += wait_us
        self._trace = beleg.resume_run(self.id, tenant=self.tenant)
        self._trace.__enter__()

    def artifact(self, kind: str, content: Mapping[str, Any]) -> None:
        """Keep a small structured output."""
        self._trace.artifact(kind, content)

    def outcome(self, kind: str, wait_us: int, *, count: int = 1, retracts: str | None = None) -> str | None:
        """A business result of the run, or taking one back; its id, None beyond the end of the demo."""
        outcome_id = f"{kind}-{self.id}" if retracts is None else f"{retracts}-retracted"
        with self.recorder.later(wait_us):
            if self.recorder.is_over:
                return None
            beleg.outcome(
                self.workflow.name,
                kind,
                count,
                run_ids=[self.id],
                occurred_at=datetime.fromtimestamp(self.now_us // SECOND_US, UTC),
                outcome_id=outcome_id,
                retracts=retracts,
                tenant=self.tenant,
            )
            self.recorder.tally.results[kind] += count
        return outcome_id

    def report(self, kind: str, wait_us: int, **fields: Any) -> None:
        """An event about this run that others than the tracer write, `wait_us` after its end."""
        at_us = self.now_us + wait_us
        event = envelope(kind, uuid7(at_us, self.recorder.rng), at_us)
        self.recorder.put(event | {"tenant": self.tenant, "team": self.workflow.team} | fields)

    def think(self, seconds: int) -> None:
        """Let time pass between two calls."""
        self.recorder.now_us += seconds * SECOND_US


def _input(workflow: Workflow, subject: int, revision: int) -> dict[str, Any]:
    """What a run is given: a receipt that an evaluation can fetch again, of other workflows a stand-in."""
    if workflow is OCR:
        return receipt(subject, revision).variables()
    return {workflow.subject: subject, "revision": revision}


def _billed_pico_usd(model: Model, buckets: Mapping[str, int], at_us: int) -> int | None:
    """What those say who tell what they bill; the own model's host went on billing the old price for some days."""
    if model is ROUTED:
        return sum(tokens * _ROUTED_PRICES[bucket] for bucket, tokens in buckets.items())
    if model is not OWN:
        return None
    if at_us >= BILL_CATCHES_UP_US:
        return own_cost_pico_usd(buckets, at_us)
    return sum(tokens * OWN_PRICES[0][bucket] for bucket, tokens in buckets.items())
