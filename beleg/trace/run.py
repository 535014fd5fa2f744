"""One run of an agent, from its start to its end: the object behind `beleg.traced_agent_run`."""

from collections.abc import Callable, Mapping
from contextvars import Token
from types import TracebackType
from typing import Any

from beleg.trace import context, policy
from beleg.trace.clock import milliseconds, timestamp
from beleg.trace.events import line, members
from beleg.trace.runtime import Runtime, runtime
from beleg.trace.shapes import check_value, shape_of
from beleg.trace.step import Step, status_of

_WORDS = {
    "workflow": 200,
    "parent_run_id": 200,
    "conversation_id": 200,
    "input_key": 512,
    "input_ref": 512,
    "prompt_version": 200,
    "feature": 200,
    "contract_version": 100,
    "contract_digest": policy.DIGEST_CHARS,
    "tenant": 200,
    "team": 200,
    "environment": 100,
}
_SHARED = ("tenant", "team", "environment")
"""Those that stand in every event of a run."""
_PROMPT_SOURCES = ("registry", "override", "baked")
_REMEMBERED = 16
"""Answers that a run holds on to until it ends, to know them again."""


class Run:
    """A run while it goes on; use it as `with` or `async with` block.

    Nothing here raises, whatever happens to the spool or the payload. While tracing is switched off
    `run_id` is None and everything does nothing.
    """

    # Class attributes where a value is only set later: a run costs its caller less that way.
    run_id: str | None = None
    runtime: Runtime | None = None
    shared = b""
    """Members that all events of the run share, encoded."""
    tenant: str | None = None
    _token: "Token[Run | None] | None" = None
    _output_hash: str | None = None
    _seen: tuple[Any, ...] = ()
    _seen_keys: tuple[str, ...] = ()
    _wall_ns = _started_ns = _last_ns = _active_ns = 0
    _waiting = _finished = _has_output = False

    def __init__(self, options: Mapping[str, Any], *, run_id: str | None = None, ends: bool = True) -> None:
        self._options = options
        self._known_id = run_id
        self._ends = ends
        self._units: list[tuple[str, int]] = []

    # -- the block ---------------------------------------------------------------------------------

    def __enter__(self) -> "Run":
        """Write the start and make this the current run."""
        self.start()
        if self.runtime is not None:
            self._token = context.current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Write the end; the caller's exception goes on untouched."""
        if self._token is not None:
            context.leave(self._token, self)
            self._token = None
        self.finish(kind)

    async def __aenter__(self) -> "Run":
        """As `with`."""
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """As `with`."""
        self.__exit__(kind, error, traceback)

    def start(self) -> None:
        """Write the start, for code that cannot use a block; `finish` must follow."""
        found = runtime()
        if found is None or self.runtime is not None:
            return
        try:
            self._begin(found)
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the caller
            found.faults.lose("start", error)
            if not self.shared:  # what follows could not say which run it belongs to
                self.run_id = self.runtime = None

    def _begin(self, found: Runtime) -> None:
        self.run_id = self._known_id or found.new_id()
        self.runtime = found
        self._wall_ns = found.clock.wall_ns()
        given: dict[str, Any] = {}
        refused = policy.take_words(self._options, _WORDS, given)
        self._prepare_shared(found, given)
        for name in refused:
            self._refuse(name)
        if self._known_id is None:
            found.emit(line("run_started", self.shared, self._started_fields(found, given)))
        elif self._ends:
            self._emit("run_status", {"status": "running"})
        self._started_ns = self._last_ns = found.clock.monotonic_ns()

    def finish(self, kind: type[BaseException] | None = None) -> None:
        """Write the end; `kind` is the class of the exception that ended the run. Twice does nothing."""
        found = self.runtime
        if found is None or self._finished or not self._ends or (self._waiting and kind is None):
            return
        self._finished = True
        try:
            fields: dict[str, Any] = {"event_id": found.new_id(), "event_time": timestamp(found.clock.wall_ns())}
            fields["status"] = status_of(kind)
            if self._known_id is None:  # else only the pipeline knows the part before the wait
                fields["duration_ms"] = milliseconds(self._worked_ns(found))
            if self._output_hash is not None:
                fields["output_hash"] = self._output_hash
            if kind is not None:
                fields["exception_class"] = policy.exception_class(kind)
            if self._units:
                fields["units"] = self._summed_units()
            found.emit(line("run_finished", self.shared, fields))
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the caller
            found.faults.lose("not_encodable", error)
        self._seen = ()

    # -- what happens inside -----------------------------------------------------------------------

    def step(self, name: str | None = None, *, kind: str = "model", input_payload: Any = None, **options: Any) -> Step:
        """A model call (or another kind) as a block.

        Options: provider, model, attempt, attempt_reason, batch, toolset_hash, layout_hash, playbook, region,
        cache_miss_reason.
        """
        return Step(self, kind, {"name": name, **options}, input_payload)

    def tool(self, name: str, *, input_payload: Any = None, **options: Any) -> Step:
        """A tool call as a block."""
        return Step(self, "tool", {"tool_name": name, **options}, input_payload)

    def set_output(self, result: Any, response: Any = None, *, name: str | None = None, **options: Any) -> None:
        """Fingerprint the result; with a `response`, record the model call that gave it as a step.

        The call's latency is the time since the run began or its last such step ended. An answer that a
        step of this run has recorded already is not recorded again.
        """
        found = self.runtime
        if found is None:
            return
        self._has_output = True
        try:
            if response is not None and not any(response is seen for seen in self._seen):
                self._record(found, response, {"name": name, **options})
            digest = found.fingerprint(result, self.tenant)
            self._output_hash = None if digest is None else digest.digest
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the caller
            found.faults.note("set_output", error)

    def set_default_output(self, result: Any) -> None:
        """Fingerprint a decorated function's result, unless the function set an output itself."""
        if result is not None and not self._has_output:
            self.set_output(result)

    def _record(self, found: Runtime, response: Any, options: dict[str, Any]) -> None:
        known = self._seen_keys
        step = Step(self, "model", options, None)
        step.record(response)
        if step.call_key is None or step.call_key not in known:
            started_ns, self._last_ns = self._last_ns, found.clock.monotonic_ns()
            step.write_past(started_ns, self._wall_ns + started_ns - self._started_ns)

    def artifact(self, kind: str, content: Mapping[str, Any]) -> None:
        """Store a small structured output of a registered kind (`beleg.register_shape`)."""
        self._try("artifact", lambda found: self._artifact(found, kind, content))

    def _artifact(self, found: Runtime, kind: str, content: Mapping[str, Any]) -> None:
        check_value(content, shape_of(kind))
        digest = found.fingerprint(content, self.tenant)
        if digest is not None:
            self._emit("artifact", {"kind": kind, "content": dict(content), "content_hash": digest.digest})

    def units(self, count: int, kind: str = "result") -> None:
        """Count business results that came out of this run, for example `units(12, "transaction")`."""
        # Appending is one step for all threads, and leaves no lock behind that a fork could freeze.
        added = self._units.append
        self._try("units", lambda _: added((policy.word("kind", kind, 100), policy.count("count", count))))

    def _summed_units(self) -> dict[str, int]:
        sums: dict[str, int] = {}
        for kind, count in self._units:
            sums[kind] = sums.get(kind, 0) + count
        return sums

    def needs_input(self) -> str | None:
        """The run waits for a person; leaving the block does not end it. Returns the id to resume it with."""
        self._try("needs_input", self._wait)
        return self.run_id

    def _wait(self, found: Runtime) -> None:
        self._emit("run_status", {"status": "needs_input"})
        self._active_ns, self._waiting = self._worked_ns(found), True

    def resume(self) -> None:
        """The waiting run goes on, in the process where it waited; elsewhere use `beleg.resume_run`."""
        self._try("resume", self._go_on)

    def _go_on(self, found: Runtime) -> None:
        if self._waiting:
            self._emit("run_status", {"status": "running"})
            self._started_ns = self._last_ns = found.clock.monotonic_ns()
            self._waiting = False

    def _worked_ns(self, found: Runtime) -> int:
        """Nanoseconds from the start until now, without waiting."""
        return self._active_ns + (0 if self._waiting else found.clock.monotonic_ns() - self._started_ns)

    def remember(self, response: Any, key: str | None) -> None:
        """Note an answer that is recorded, and its call's key, so that `set_output` does not record it again.

        The object itself is held: the address of one that is gone may be that of the next answer.
        """
        self._seen = (*self._seen[1 - _REMEMBERED :], response)
        if key is not None:
            self._seen_keys = (*self._seen_keys[1 - _REMEMBERED :], key)

    # -- building events ---------------------------------------------------------------------------

    def _prepare_shared(self, found: Runtime, given: dict[str, Any]) -> None:
        fields: dict[str, Any] = {"run_id": self.run_id, **found.defaults}
        for name in _SHARED:
            if name in given:
                fields[name] = given.pop(name)
        self.tenant = fields.get("tenant")
        if self._options.get("labels") is not None:
            self._put_labels(fields, found, self._options["labels"])
        self.shared = members(fields)

    def _put_labels(self, fields: dict[str, Any], found: Runtime, labels: Any) -> None:
        if not issubclass(type(labels), Mapping):
            found.faults.note("refused_label", policy.PolicyError("labels are no mapping of names to short words"))
            return
        try:
            kept, refused = policy.labels(labels, found.settings.labels)
        except Exception as error:  # noqa: BLE001 - a hostile mapping raises what it likes
            found.faults.note("refused_label", error)
            return
        for why in refused:
            found.faults.note("refused_label", policy.PolicyError(why))
        if kept:
            fields["labels"] = kept

    def _started_fields(self, found: Runtime, given: dict[str, Any]) -> dict[str, Any]:
        fields: dict[str, Any] = {"event_id": self.run_id, "event_time": timestamp(self._wall_ns)}
        fields["workflow"] = "unnamed"
        parent = context.current.get()
        if parent is not None:
            fields["parent_run_id"] = parent.run_id
        fields.update(given)
        options = self._options
        if policy.is_choice(options.get("purpose"), policy.PURPOSES):
            fields["purpose"] = options["purpose"]
        else:
            fields["purpose"] = "test"  # an unknown purpose must not enter the unit costs of production
            self._refuse("purpose")
        source = options.get("prompt_source")
        if source is not None and policy.is_choice(source, _PROMPT_SOURCES):
            fields["prompt_source"] = source
        if options.get("input_payload") is not None:
            self._put_input_hash(fields, found, options["input_payload"])
        return fields

    def _put_input_hash(self, fields: dict[str, Any], found: Runtime, payload: Any) -> None:
        digest = found.fingerprint(payload, self.tenant)
        if digest is not None:
            fields["input_hash"], fields["canon_version"] = digest.digest, digest.canon_version
            if digest.key_id is not None:
                fields["hash_key_id"] = digest.key_id

    def _refuse(self, name: str) -> None:
        self._note(f"refused_{name}", policy.PolicyError(f"{name} of a run is no value that may be stored"))

    def _emit(self, event: str, fields: dict[str, Any]) -> None:
        found = self.runtime
        if found is None:
            return
        head = {"event_id": found.new_id(), "event_time": timestamp(found.clock.wall_ns())}
        found.emit(line(event, self.shared, {**head, **fields}))

    def _try(self, what: str, act: Callable[[Runtime], None]) -> None:
        found = self.runtime
        if found is None:
            return
        try:
            act(found)
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the caller
            found.faults.note(what, error)

    def _note(self, kind: str, error: Exception) -> None:
        if self.runtime is not None:
            self.runtime.faults.note(kind, error)
