"""One model or tool call of a run."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from contextvars import Token
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from beleg.trace import policy
from beleg.trace.call import Call, call_fields, call_key
from beleg.trace.clock import milliseconds, timestamp
from beleg.trace.context import current_step
from beleg.trace.events import line
from beleg.trace.usage_read import read_calls
from beleg.trace.usage_stream import StreamUsage

if TYPE_CHECKING:
    from beleg.trace.run import Run
    from beleg.trace.runtime import Runtime

T = TypeVar("T")
Kind = Literal["model", "tool", "retrieval", "other"]
KINDS = ("model", "tool", "retrieval", "other")
_REASONS = ("retry", "fallback", "repair")
_MAX_ATTEMPT = 10_000
_WORDS = {
    "provider": 100,
    "model": 256,
    "name": 256,
    "tool_name": 256,
    "toolset_hash": policy.DIGEST_CHARS,
    "layout_hash": policy.DIGEST_CHARS,
    "cache_miss_reason": 200,
    "playbook": 200,
    "region": 100,
}
_OPTIONS = {*_WORDS, "attempt", "attempt_reason", "batch"}


def status_of(kind: type[BaseException] | None) -> str:
    """How a block ended that was left with an exception of this class, or without one."""
    if kind is None:
        return "succeeded"
    return "failed" if issubclass(kind, Exception) and not _is_cancelled(kind) else "cancelled"


def _is_cancelled(kind: type[BaseException]) -> bool:
    # concurrent.futures' CancelledError is an Exception, asyncio's is not.
    return kind.__name__ == "CancelledError"


class Step:
    """A call while it runs: `with trace.step("extract") as step: step.record(client.create(…))`.

    Written when the block ends. Nothing it does raises; without a run it does nothing.
    """

    # Class attributes where a value is only set later: a step costs its caller less that way.
    id: str | None = None
    _call: Call | None = None
    _more_calls: Sequence[Call] = ()
    _token: Token[str | None] | None = None
    _started_ns = _wall_ns = 0
    _done = False

    def __init__(self, run: "Run", kind: str, options: dict[str, Any], input_payload: Any) -> None:
        self._run = run
        self._kind = kind
        self._options = options
        self._input = input_payload
        self._fields: dict[str, Any] = {}

    def __enter__(self) -> "Step":
        """Start the clock."""
        runtime = self._run.runtime
        if runtime is None:
            return self
        try:
            self.id = runtime.new_id()
            parent = current_step.get()
            if parent is not None:
                self._fields["parent_step_id"] = parent
            self._token = current_step.set(self.id)
            self._wall_ns = runtime.clock.wall_ns()
            if self._input is not None:
                self._hash("input_hash", self._input)
                self._input = None
            self._started_ns = runtime.clock.monotonic_ns()
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the caller
            runtime.faults.note("step", error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Write the step; the caller's exception goes on untouched."""
        self.end(kind)

    async def __aenter__(self) -> "Step":
        """As `with`."""
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """As `with`."""
        self.end(kind)

    def record(
        self, response: Any, *, provider: str | None = None, model: str | None = None, api: str | None = None
    ) -> None:
        """Read usage, model and ids from a provider's answer (object or dict); the answer is not kept.

        `provider`, `model` and `api` (`messages`, `responses`, …) are what the caller knows better than the answer.
        """
        runtime = self._run.runtime
        if runtime is None or response is None:
            return
        try:
            main, *self._more_calls = read_calls(response, api)
            self._call = main.with_known(provider=provider, model=model)
            self._run.remember(response, self.call_key)
        except Exception as error:  # noqa: BLE001 - a hostile answer raises what it likes
            runtime.faults.note("response_unreadable", error)

    @property
    def call_key(self) -> str | None:
        """What tells the recorded call from others, where its answer has an id worth the name."""
        return None if self._call is None else call_key(self._call.response_id)

    def record_call(self, call: Call) -> None:
        """Take what is already read, for example by `beleg.trace.semconv`."""
        self._call = call

    def set_output(self, output: Any) -> None:
        """Fingerprint what the call returned."""
        if self._run.runtime is not None:
            self._hash("output_hash", output)

    def watch(self, stream: Iterable[T]) -> Iterator[T]:
        """Pass a streamed answer through and read its usage on the way; use inside the block."""
        usage = StreamUsage()
        try:
            for chunk in stream:
                self._add(usage, chunk)
                yield chunk
        finally:
            self._take(usage)

    async def awatch(self, stream: AsyncIterable[T]) -> AsyncIterator[T]:
        """As `watch`, for an asynchronous stream."""
        usage = StreamUsage()
        try:
            async for chunk in stream:
                self._add(usage, chunk)
                yield chunk
        finally:
            self._take(usage)

    def end(self, kind: type[BaseException] | None = None) -> None:
        """Write the step; a second time does nothing."""
        runtime = self._run.runtime
        if runtime is None or self._done or self.id is None:
            return
        self._done = True
        try:
            if self._token is not None:  # first, since a clock may raise
                try:
                    current_step.reset(self._token)
                except ValueError:  # ended in another context than it began
                    current_step.set(None)
            latency_ns = runtime.clock.monotonic_ns() - self._started_ns
            fields: dict[str, Any] = {
                "event_id": self.id,
                "event_time": timestamp(self._wall_ns),
                "step_id": self.id,
                "kind": self._kind if type(self._kind) is str and self._kind in KINDS else "other",
                "status": status_of(kind),
                "latency_ms": milliseconds(latency_ns),
                **self._fields,
            }
            if kind is not None:
                fields["exception_class"] = policy.exception_class(kind)
            if self._options or self._call is not None:
                self._describe(fields)
            runtime.emit(line("step", self._run.shared, fields))
            for call in self._more_calls:
                self._write_part(runtime, call)
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the caller
            runtime.faults.lose("not_encodable", error)

    def write_past(self, started_ns: int, wall_ns: int) -> None:
        """Write a call that is already over; `started_ns` is its start on the run's stopwatch."""
        runtime = self._run.runtime
        if runtime is None:
            return
        self.id, self._started_ns, self._wall_ns = runtime.new_id(), started_ns, wall_ns
        self.end()

    def _write_part(self, runtime: "Runtime", call: Call) -> None:
        """A call within the call, on a model of its own; its time is inside that of this step."""
        part_id = runtime.new_id()
        described, _ = call_fields(call)
        fields = {
            "event_id": part_id,
            "event_time": timestamp(self._wall_ns),
            "step_id": part_id,
            "parent_step_id": self.id,
            "kind": "model",
            "status": "succeeded",
            **described,
        }
        runtime.emit(line("step", self._run.shared, fields))

    def _describe(self, fields: dict[str, Any]) -> None:
        options = self._options
        refused: tuple[str, ...] = ()
        if self._call is not None:
            described, refused = call_fields(self._call)
            fields.update(described)
        refused += policy.take_words(options, _WORDS, fields)
        if "attempt" in options or "attempt_reason" in options:
            refused += _take_attempt(options, fields)
        if options.get("batch") is True:
            fields["batch"] = True
        if len(options) > 1 and not options.keys() <= _OPTIONS:
            refused += ("option",)  # a name that does not exist: probably a slip of the pen
        for name in refused:
            self._refuse(name)

    def _refuse(self, name: str) -> None:
        if self._run.runtime is not None:
            error = policy.PolicyError(f"{name} of a step is no value that may be stored; left out")
            self._run.runtime.faults.note(f"refused_{name}", error)

    def _hash(self, name: str, payload: Any) -> None:
        if payload is None or self._run.runtime is None:
            return
        found = self._run.runtime.fingerprint(payload, self._run.tenant)
        if found is not None:
            self._fields[name] = found.digest

    def _add(self, usage: StreamUsage, chunk: Any) -> None:
        if self._run.runtime is not None:
            try:
                usage.add(chunk)
            except Exception as error:  # noqa: BLE001 - a hostile chunk raises what it likes
                self._run.runtime.faults.note("response_unreadable", error)

    def _take(self, usage: StreamUsage) -> None:
        if self._run.runtime is not None:
            self.record(usage.response())


def _take_attempt(options: dict[str, Any], fields: dict[str, Any]) -> tuple[str, ...]:
    refused: tuple[str, ...] = ()
    attempt, reason = options.get("attempt"), options.get("attempt_reason")
    if type(attempt) is int and 1 <= attempt <= _MAX_ATTEMPT:
        fields["attempt"] = attempt
    elif attempt is not None:
        refused += ("attempt",)
    if policy.is_choice(reason, _REASONS):
        fields["attempt_reason"] = reason
    elif reason is not None:
        refused += ("attempt_reason",)
    return refused
