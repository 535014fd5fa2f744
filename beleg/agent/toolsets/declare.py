"""How a tool is declared: a function in a group, with what it does to the world. There is no way to say `binding`."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeVar, get_args

from beleg.agent.errors import ArgumentsRefused, BindingRefused
from beleg.agent.toolsets import schema as schemas
from beleg.agent.toolsets.conditions import Condition
from beleg.agent.toolsets.tool import AgentTool, Effect
from beleg.contract.binding import Sign, signs
from beleg.contract.tools import Tool
from beleg.contract.unseen import unseen
from beleg.core.errors import UsageError
from beleg.trace.canon import PLAIN, canonical

_GROUP = re.compile(r"\w[\w-]{0,63}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Group:
    """Tools that are offered together, under one condition or to everybody.

    `rank` orders groups in the prompt, the one that most users have first; a constant, so that the order in
    which modules are loaded or servers connect never shows. Closed once a toolset was built with it.
    """

    def __init__(self, name: str, *, rank: int, when: Condition | None = None) -> None:
        """Raises UsageError for a name that is no word, a rank that is no number, a `when` that is no condition."""
        said: tuple[object, object, object] = (name, rank, when)  # whoever calls without a type checker
        if not isinstance(said[0], str) or not _GROUP.fullmatch(name):
            raise UsageError(f"{str(name)[:80]!r} is no name of a group: up to 64 letters, digits, `_`, `-`")
        if type(said[1]) is not int or not isinstance(said[2], Condition | None):
            raise UsageError(
                f"group `{name}`: rank is {rank!r}, when is {when!r}; a whole number and a Condition, or None"
            )
        self._name = name
        self._rank = rank
        self._when = when
        self._closed = False
        self._tools: dict[str, AgentTool] = {}

    @property
    def name(self) -> str:
        """Its name, of which cohorts get theirs."""
        return self._name

    @property
    def rank(self) -> int:
        """Where it stands among groups with a condition, or among those without."""
        return self._rank

    @property
    def when(self) -> Condition | None:
        """Who gets it; None for everybody."""
        return self._when

    def close(self) -> None:
        """No tool can be declared from now on."""
        self._closed = True

    @property
    def tools(self) -> tuple[AgentTool, ...]:
        """The tools by name."""
        return tuple(self._tools[name] for name in sorted(self._tools))

    def tool(
        self,
        *,
        binding: Literal[False],
        effect: Effect,
        version: str = "1.0.0",
        name: str | None = None,
        description: str | None = None,
        input_schema: Mapping[str, Any] | None = None,
        writable: Iterable[str] = (),
        keep: str | None = None,
    ) -> Callable[[_Function], _Function]:
        """Declare a function as a tool; name and description are its name and docstring unless given.

        A parameter `context` receives the user's context and is not shown to the model. `input_schema` replaces
        the schema from type hints. `writable` names what a free-form parameter of a writing tool may hold. `keep`
        says why it stays however seldom it is called.

        Raises BindingRefused for a tool that binds or that calls other tools by name, UsageError for a
        declaration that says too little. Nothing is registered then.
        """

        said: tuple[object, ...] = (binding, effect, name, description, keep)  # whoever calls without a type checker
        if said[0] is not False or said[1] not in get_args(Effect):
            raise BindingRefused(_BINDING.format(binding=binding, effect=effect))
        if isinstance(writable, str) or not all(isinstance(each, str | None) for each in (*said[2:], version or 0)):
            raise UsageError("name, description, version and keep of a tool are texts, writable is a list of them")

        def declare(function: _Function) -> _Function:
            called = name or str(getattr(function, "__name__", ""))
            told = description or inspect.getdoc(function) or ""
            self._check_place(called, told)
            schema, check = _arguments(called, function, input_schema, effect, frozenset(writable))
            found = signs(
                Tool(name=called, version=version, description=told, input_schema=schema, binding=False, digest="")
            )
            _check_facade(called, found)
            data = _data(called, told, schema)
            _check_seen(called, data)
            self._tools[called] = AgentTool(
                name=called,
                version=version,
                description=told,
                input_schema=json.loads(data)["input_schema"],
                effect=effect,
                group=self.name,
                function=function,
                check=check,
                takes_context=_takes_context(function),
                writable=frozenset(writable),
                data=data,
                keep=keep,
                refuse=getattr(function, "refuse", None),
                signs=found,
            )
            return function

        return declare

    def _check_place(self, name: str, description: str) -> None:
        if self._closed:
            raise UsageError(f"group `{self.name}` is part of a toolset already: declare `{name}` before it is built")
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name[:80]!r} is no name of a tool: a letter, then up to 63 letters, digits, `_`, `-`")
        if name in self._tools:
            raise UsageError(f"group `{self.name}` has a tool `{name}` already")
        if not description.strip():
            raise UsageError(f"tool `{name}` has no description: give it a docstring or `description`")


_BINDING = (
    "a tool is declared with binding={binding!r}, effect={effect!r}. An agent's tool must say binding=False and be one "
    "of read, draft, write: give the user a link to where a person submits, pays or sends"
)


def _data(name: str, description: str, schema: Mapping[str, Any]) -> bytes:
    data, version = canonical({"name": name, "description": description, "input_schema": schema})
    if version != PLAIN:
        raise UsageError(
            f"the schema or description of `{name}` holds what JSON cannot: beyond ±2**53, NaN, half a character"
        )
    return data


def _check_seen(name: str, data: bytes) -> None:
    if codes := unseen(data.decode()):
        raise UsageError(f"`{name}` holds characters that nobody sees and the model reads: {codes}; take them out")


def _takes_context(function: Callable[..., Any]) -> bool:
    try:
        return schemas.CONTEXT in inspect.signature(function).parameters
    except ValueError:  # a built-in without a signature
        return False


def _check_facade(name: str, found: tuple[Sign, ...]) -> None:
    for each in found:
        if each.kind == "proxy" and (each.place == "name" or "tool" in each.word):
            raise BindingRefused(f"`{name}` calls other tools by name ({each.word}): offer those tools themselves")


def _arguments(
    name: str,
    function: Callable[..., Any],
    given: Mapping[str, Any] | None,
    effect: Effect,
    writable: frozenset[str],
) -> tuple[dict[str, Any], schemas.Check]:
    schema, check = schemas.from_hints(function) if given is None else schemas.from_schema(given)
    open_to = list(schemas.open_objects(schema)) if effect != "read" else []
    return _limited(name, schema, check, open_to, writable) if open_to else (schema, check)


def _limited(
    name: str, schema: dict[str, Any], check: schemas.Check, open_to: list[str], writable: frozenset[str]
) -> tuple[dict[str, Any], schemas.Check]:
    """The schema and the check with a free-form parameter limited to the names it may write."""
    parameter = open_to[0]
    values = schema["properties"].get(parameter)
    plain = isinstance(values, dict) and values.get("type") == "object" and "properties" not in values
    if len(open_to) > 1 or not plain or not writable:
        raise UsageError(
            f"`{name}` writes through {', '.join(open_to)}, which may hold anything, a status too: type the parameter, "
            "or make it one plain dict and say `writable=[names]`"
        )
    limited = {**values, "propertyNames": {"enum": sorted(writable)}}
    properties = {**schema["properties"], parameter: dict(sorted(limited.items()))}

    def narrow(arguments: Mapping[str, Any]) -> dict[str, Any]:
        given = check(arguments)
        if set(given.get(parameter) or {}) - writable:
            raise ArgumentsRefused(f"{parameter} may hold {', '.join(sorted(writable))} and nothing else")
        return given

    return {**schema, "properties": properties}, narrow
