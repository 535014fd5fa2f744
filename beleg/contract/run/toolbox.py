"""The caller's functions that stand for tools of the contract: offered, checked, used."""

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from beleg.contract.client.errors import ToolsInvalid
from beleg.contract.run.exchange import ToolCall, ToolResults
from beleg.contract.run.prepared import Prepared
from beleg.contract.tools import Tool
from beleg.trace.run import Run

MAX_RESULT_CHARS = 400_000
"""Most characters of one tool's result."""


@dataclass(frozen=True)
class Use:
    """Call a tool of the caller's."""

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any]


class ToolStopped(Exception):
    """Carries a StopIteration of a tool's through the conversation, a generator that would take it for its end."""

    def __init__(self, error: StopIteration) -> None:
        self.error = error
        super().__init__()


@dataclass(frozen=True)
class Toolbox:
    """The tools of one run: of the contract's, those that the caller handed over."""

    prepared: Prepared
    functions: Mapping[str, Callable[..., Any]]

    @property
    def offered(self) -> tuple[Tool, ...]:
        """What the model gets to see."""
        return tuple(tool for tool in self.prepared.contract.tools if tool.name in self.functions)

    def check(self) -> None:
        """Raise ToolsInvalid for what is no tool of the contract, or no function."""
        known = [tool.name for tool in self.prepared.contract.tools]
        there = f"the contract's tools: {', '.join(known) or 'none'}"
        if unknown := [str(name) for name in self.functions if name not in known]:
            raise ToolsInvalid(f"{', '.join(unknown)} is no tool of the contract; {there}")
        if wrong := [name for name in self.functions if not callable(self.functions[name])]:
            raise ToolsInvalid(f"{', '.join(wrong)}: a tool is a function that takes the tool's arguments by name")

    def use(self, trace: Run, calls: tuple[ToolCall, ...]) -> Generator[Use, Any, ToolResults]:
        """Every call's result for the model, in order."""
        results: tuple[tuple[ToolCall, str], ...] = ()
        for call in calls:
            results += ((call, (yield from self._used(trace, call))),)
        return ToolResults(results)

    def _used(self, trace: Run, call: ToolCall) -> Generator[Use, Any, str]:
        """What the model got wrong is told to it; what the function raises is not caught."""
        if call.name not in self.functions:
            return f"There is no tool {call.name!r}."
        if not isinstance(call.arguments, dict):
            return "The arguments are no JSON object."
        broken = self.prepared.arguments[call.name].broken(call.arguments)
        if broken is not None:
            return f"The arguments break {broken.rule!r} at {broken.place or 'their root'}."
        with trace.tool(call.name, input_payload=call.arguments) as step:
            result = yield Use(call.name, self.functions[call.name], call.arguments)
            step.set_output(result)
        return _told(call.name, result)


def _told(name: str, result: Any) -> str:
    try:
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolsInvalid(f"the tool {name!r} gave back a {type(result).__name__} that is no JSON") from error
    if len(text) > MAX_RESULT_CHARS:
        raise ToolsInvalid(f"the tool {name!r} gave back {len(text)} characters; at most {MAX_RESULT_CHARS} are sent")
    return text
