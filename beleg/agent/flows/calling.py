"""How a function becomes a tool: its signature with id and revision, and what makes two calls the same call."""

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from beleg.agent.flows.flow import Record
from beleg.agent.flows.store import Stored
from beleg.core.errors import BelegError, UsageError
from beleg.trace.fingerprint import fingerprint

MOST_ID_CHARS = 200
_GIVEN = ("record", "record_id")


class RefusedError(BelegError):
    """A tool does not take what it was given; the message is for the model, the state comes with it."""


def given(**fields: Any) -> dict[str, Any]:
    """The fields that are not None: what an update leaves out stays as it is."""
    return {name: value for name, value in fields.items() if value is not None}


def is_record_id(value: object) -> TypeGuard[str]:
    """Whether a model's words can name a record at all; whether there is one the store knows."""
    return isinstance(value, str) and 0 < len(value) <= MOST_ID_CHARS and value.isprintable()


def same(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two sets of fields are the same JSON: to Python 1 and True are equal, to a record they are not."""
    return fingerprint(dict(first)) == fingerprint(dict(second))


def bound_arguments(signature: inspect.Signature, record_id: str, given: Any, named: Any) -> dict[str, Any]:
    """The arguments of a call by name; raises RefusedError for such as the tool does not have."""
    try:
        return signature.bind(record_id, *given, **named).arguments
    except TypeError as error:
        raise RefusedError(f"{error}; the parameters are {', '.join(signature.parameters)}") from error


def record_of(stored: Stored | None) -> Record:
    """The record; an empty one where there is none yet."""
    return {} if stored is None else stored.record


def call_key(function: Callable[..., Any], args: Mapping[str, Any], revision: str | None) -> str:
    """What makes a call the same call. Made here: a key made by the model is new at every retry."""
    return fingerprint([function.__name__, dict(args), revision])[:16]


def called(function: Callable[..., Any], record_id: str, stored: Stored | None, args: Mapping[str, Any]) -> Any:
    """What the function gives; it gets a copy of the record, so that it cannot change what is stored."""
    known = {"record": copy.deepcopy(record_of(stored)), "record_id": record_id}
    wanted = inspect.signature(function).parameters
    return function(**{name: value for name, value in known.items() if name in wanted}, **args)


def tool_signature(function: Callable[..., Any], revision: str | None) -> inspect.Signature:
    """The signature that a model and a dispatch table see."""
    own = [each for name, each in inspect.signature(function).parameters.items() if name not in _GIVEN]
    if any(each.name == "if_revision" for each in own):
        raise UsageError(f"{function.__name__} cannot have a parameter `if_revision`: its decorator adds it")
    parameters = [inspect.Parameter("record_id", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=str), *own]
    if revision == "required":
        parameters.append(inspect.Parameter("if_revision", inspect.Parameter.KEYWORD_ONLY, annotation=str))
    elif revision == "optional":
        parameters.append(
            inspect.Parameter("if_revision", inspect.Parameter.KEYWORD_ONLY, annotation=str | None, default=None)
        )
    return inspect.Signature(parameters, return_annotation=dict[str, Any])
