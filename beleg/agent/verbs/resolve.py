"""What a name or an expression stands for, looked up in live modules and type hints without running anything."""

import ast
import functools
import inspect
import re
import typing
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any

UNKNOWN = object()
"""Stands for what cannot be said."""
_SPECIAL = re.compile(r"__(?!init__|new__|call__|post_init__|init_subclass__|class_getitem__)\w+__")
_GENERATED = "<string>"
"""Where a dataclass has its methods from: they compare, show and freeze, and are no text that could be read."""


@dataclass(frozen=True)
class Instance:
    """Something of which only the class is known."""

    of: type


def attribute_of(base: Any, name: str) -> Any:
    """A member of a module, class, object or Instance; UNKNOWN where there is none to be seen."""
    if base is UNKNOWN:
        return UNKNOWN
    if isinstance(base, ModuleType):
        return vars(base).get(name, UNKNOWN)
    owner = base.of if isinstance(base, Instance) else base if isinstance(base, type) else type(base)
    if not isinstance(base, Instance | type) and name in getattr(base, "__dict__", {}):
        return base.__dict__[name]
    found = inspect.getattr_static(owner, name, UNKNOWN)
    if isinstance(found, staticmethod | classmethod):
        return found.__func__
    if isinstance(found, property):
        return instance(hints_of(found.fget).get("return"))
    hint = hints_of(owner).get(name)
    return instance(hint) if hint is not None and not callable(found) else found


def special_of(base: Any) -> list[FunctionType]:
    """The special methods of an instance that somebody wrote: those that syntax calls."""
    if base is UNKNOWN or isinstance(base, ModuleType | type):
        return []
    owner = base.of if isinstance(base, Instance) else type(base)
    found = (inspect.getattr_static(owner, name, None) for name in dir(owner) if _SPECIAL.fullmatch(name))
    return [each for each in found if isinstance(each, FunctionType) and each.__code__.co_filename != _GENERATED]


def accessor_of(base: Any, name: str, use: type[ast.expr_context]) -> Any:
    """The function that reading, setting or deleting a member calls; None where that is no call."""
    if base is UNKNOWN or isinstance(base, ModuleType | type):
        return None
    found = inspect.getattr_static(base.of if isinstance(base, Instance) else type(base), name, None)
    if isinstance(found, functools.cached_property):
        return found.func if use is ast.Load else None
    accessors = {ast.Load: "fget", ast.Store: "fset", ast.Del: "fdel"}
    return getattr(found, accessors[use]) if isinstance(found, property) else None


def result_of(target: Any) -> Any:
    """What a call gives, as far as the target says."""
    if isinstance(target, type):
        return Instance(target)
    return instance(hints_of(target).get("return")) if isinstance(target, FunctionType | MethodType) else UNKNOWN


def instance(hint: Any) -> Any:
    """An Instance of what a type hint names; UNKNOWN for unions and everything else that is no class."""
    plain = typing.get_origin(hint) or hint
    return Instance(plain) if isinstance(plain, type) and plain is not object else UNKNOWN


def hints_of(thing: Any) -> dict[str, Any]:
    """The type hints of a function or class; empty where they cannot be read."""
    try:
        return typing.get_type_hints(thing)
    except Exception:  # noqa: BLE001 - hints are anybody's code
        return {}


def closure_of(function: Any) -> dict[str, Any]:
    """The names that a function took from where it was made, with what they hold."""
    try:
        return dict(inspect.getclosurevars(function).nonlocals)
    except (TypeError, ValueError):
        return {}


def package_of(thing: Any) -> str:
    """The top-level package of a function, class or object; the type's own for a built-in method."""
    owner = getattr(thing, "__objclass__", None) or type(getattr(thing, "__self__", None))
    module = getattr(thing, "__module__", None) or getattr(owner, "__module__", None)
    return str(module or "").partition(".")[0]
