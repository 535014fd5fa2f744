"""The call sites: `traced_agent_run` and what continues a run elsewhere."""

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from beleg.trace import context, policy
from beleg.trace.decorate import traced
from beleg.trace.run import Run
from beleg.trace.runtime import runtime

P = ParamSpec("P")
R = TypeVar("R")


class TracedRun(Run):
    """A run that is also a decorator: each call of the decorated function is a run of its own."""

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Trace each call. Without `input_payload` the arguments are the payload; a callable computes it."""
        return traced(function, self._for_call)

    def _for_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        payload = self._options.get("input_payload")
        if payload is None:
            payload = {"args": list(args), "kwargs": kwargs}
        elif callable(payload):
            payload = _computed(payload, args, kwargs)
        return Run({**self._options, "input_payload": payload})


def _computed(payload: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return payload(*args, **kwargs)
    except Exception:  # noqa: BLE001 - no fingerprint, but never in the caller's way
        return None


def traced_agent_run(
    *,
    workflow: str,
    input_payload: Any = None,
    input_ref: str | None = None,
    input_key: str | None = None,
    tenant: str | None = None,
    team: str | None = None,
    environment: str | None = None,
    purpose: str = "production",
    conversation_id: str | None = None,
    parent_run_id: str | None = None,
    prompt: Any = None,
    prompt_version: str | None = None,
    prompt_source: str | None = None,
    feature: str | None = None,
    contract_version: str | None = None,
    contract_digest: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> TracedRun:
    """One run of an agent, as `with`, `async with` or decorator.

    `input_payload` is fingerprinted, never stored; None means there is none. `input_ref` is an opaque key
    into your own system, `input_key` what "the same thing again" means to you. `prompt` is anything with
    `version` and `source` (what `beleg.prompt` returns). Never raises; see `docs/tracing.md`.
    """
    if prompt is not None:
        prompt_version = _of(prompt, "version") if prompt_version is None else prompt_version
        prompt_source = _of(prompt, "source") if prompt_source is None else prompt_source
    return TracedRun(
        {
            "workflow": workflow,
            "input_payload": input_payload,
            "input_ref": input_ref,
            "input_key": input_key,
            "tenant": tenant,
            "team": team,
            "environment": environment,
            "purpose": purpose,
            "conversation_id": conversation_id,
            "parent_run_id": parent_run_id,
            "prompt_version": prompt_version,
            "prompt_source": prompt_source,
            "feature": feature,
            "contract_version": contract_version,
            "contract_digest": contract_digest,
            "labels": labels,
        }
    )


def _of(prompt: Any, name: str) -> Any:
    try:
        return getattr(prompt, name, None)
    except Exception:  # noqa: BLE001 - a hostile object raises what it likes
        return None


def resume_run(run_id: str | None, *, tenant: str | None = None) -> Run:
    """Go on with a run that waited (`needs_input`), in any process; leaving the block ends it.

    Give the `tenant` again where fingerprints are keyed by tenant. None for `run_id` (tracing was off) does
    nothing.
    """
    return _continued(run_id, tenant, ends=True)


def attach_run(run_id: str | None, *, tenant: str | None = None) -> Run:
    """Add steps to a run of another process or thread; leaving the block does not end it."""
    return _continued(run_id, tenant, ends=False)


def _continued(run_id: str | None, tenant: str | None, *, ends: bool) -> Run:
    known = policy.text(run_id)
    if known is not None and policy.is_key(known, 200):
        return Run({"tenant": tenant}, run_id=known, ends=ends)
    found = runtime()
    if run_id is not None and found is not None:
        found.faults.note("refused_run_id", policy.PolicyError("run_id is no id of a run; left out"))
    return _NO_RUN


class _NoRun(Run):
    """Stands for a run that was never recorded."""

    def start(self) -> None:
        """Nothing to start."""


_NO_RUN = _NoRun({})


def current_run() -> Run:
    """The run that the calling code belongs to; outside of any, one that does nothing (`run_id` is None)."""
    run = context.current.get()
    return _NO_RUN if run is None else run
