"""Beleg: a receipt for every run of an AI agent.

    import beleg

    with beleg.traced_agent_run(workflow="ocr", input_payload=document) as trace:
        response = client.chat.completions.create(...)
        trace.set_output(parse(response), response=response)

Names are loaded when they are first used: `import beleg` needs no file, no other package and little time.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beleg import testing as testing
    from beleg.contract.client.load import load as load
    from beleg.contract.prompts.prompt import prompt as prompt
    from beleg.trace.api import attach_run as attach_run
    from beleg.trace.api import current_run as current_run
    from beleg.trace.api import resume_run as resume_run
    from beleg.trace.api import traced_agent_run as traced_agent_run
    from beleg.trace.context import carry as carry
    from beleg.trace.fingerprint import fingerprint as fingerprint
    from beleg.trace.runtime import configure as configure
    from beleg.trace.runtime import health as health
    from beleg.trace.shapes import register_shape as register_shape
    from beleg.trace.signals import correct as correct
    from beleg.trace.signals import feedback as feedback
    from beleg.trace.signals import outcome as outcome

_MODULES = {
    "attach_run": "beleg.trace.api",
    "current_run": "beleg.trace.api",
    "resume_run": "beleg.trace.api",
    "traced_agent_run": "beleg.trace.api",
    "load": "beleg.contract.client.load",
    "prompt": "beleg.contract.prompts.prompt",
    "carry": "beleg.trace.context",
    "fingerprint": "beleg.trace.fingerprint",
    "configure": "beleg.trace.runtime",
    "health": "beleg.trace.runtime",
    "register_shape": "beleg.trace.shapes",
    "correct": "beleg.trace.signals",
    "feedback": "beleg.trace.signals",
    "outcome": "beleg.trace.signals",
}
"""Public name → module that holds it."""


def __getattr__(name: str) -> Any:
    if name == "testing":
        return importlib.import_module("beleg.testing")
    if name not in _MODULES:
        raise AttributeError(f"module 'beleg' has no attribute {name!r}; it has {', '.join(sorted(_MODULES))}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, "testing"})
