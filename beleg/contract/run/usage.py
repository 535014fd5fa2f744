"""What an answer says about its call, read as the wire format by which it came."""

from collections.abc import Mapping
from typing import Any

from beleg.contract.model import Provider
from beleg.trace.call import Call
from beleg.trace.step import Step
from beleg.trace.usage_read import read_calls
from beleg.trace.usage_shapes import anthropic, counts


def record(step: Step, answer: Mapping[str, Any], provider: Provider) -> None:
    """Record an answer; the model that answered is what is paid for, an alias may stand in the contract."""
    model = None if isinstance(answer.get("model"), str) else provider.model
    step.record(answer, provider=provider.provider, model=model)
    if provider.api == "messages" and (call := _as_messages(answer)) is not None:
        step.record_call(call.with_known(provider=provider.provider, model=model))


def _as_messages(answer: Mapping[str, Any]) -> Call | None:
    """An answer whose usage names no cache looks like one of Responses; None where it does not."""
    try:
        call = read_calls(answer)[0]
        if call.api != "responses":
            return None
        call.api, call.reported = "messages", anthropic(counts(dict(call.raw_usage)), {})
    except Exception:  # noqa: BLE001 - an answer is hostile until read; `Step.record` has noted it
        return None
    return call
