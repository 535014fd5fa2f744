"""What a tool's function can reach: a walk over the syntax of everything it calls, down to where effects leave.

Names are looked up in the live modules, nothing is called. Sound down to dynamic Python: what cannot be
followed is reported as such, and counts as reached where its name is that of an effect.
"""

import ast
import dataclasses
import functools
import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any

from beleg.agent.verbs import resolve, sinks
from beleg.agent.verbs.scope import Scope


@dataclass(frozen=True)
class Reached:
    """An effect that a tool can reach."""

    kind: str
    """The kind of universal verb."""
    sink: str
    path: tuple[str, ...]
    """The functions on the way, the tool's own first."""


@dataclass(frozen=True)
class Reach:
    """All that a function can reach, and what could not be followed."""

    sinks: tuple[Reached, ...]
    unknown: tuple[str, ...]
    """`function: call` of each call that could not be resolved."""


@dataclass
class _Walk:
    package: str
    seen: set[Any] = field(default_factory=set)
    found: dict[Reached, None] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)

    def function(self, function: Any, path: tuple[str, ...]) -> None:
        function = inspect.unwrap(function) if not hasattr(function, "__closure__") else function
        code: Any = getattr(function, "__code__", None)
        if code in self.seen:
            return
        self.seen.add(code)
        here = (*path, function.__qualname__)
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
        except (OSError, TypeError, SyntaxError, ValueError):
            self.unknown[f"{function.__qualname__}: its source cannot be read"] = None
            return
        Scope(self, function, here).visit(tree)

    def called(self, target: Any, shown: str, path: tuple[str, ...]) -> None:
        """Follow one call whose target was resolved, or not."""
        target = target.func if isinstance(target, functools.partial) else target
        if isinstance(target, resolve.Instance):
            target = resolve.attribute_of(target, "__call__")
        plain = target.__func__ if isinstance(target, MethodType) else target
        package = resolve.package_of(plain)
        if kind := sinks.kind_of(plain):
            self.found[Reached(kind, shown, path)] = None
        elif plain is resolve.UNKNOWN or package not in {self.package, *sys.stdlib_module_names}:
            self.unresolved(shown, path)
        elif package == self.package and not str(plain.__module__).startswith(sinks.KNOWN):
            self.own(plain, shown, path)

    def own(self, target: Any, shown: str, path: tuple[str, ...]) -> None:
        if isinstance(target, FunctionType):
            self.function(target, path)
        elif isinstance(target, type):
            made = () if dataclasses.is_dataclass(target) else ("__init__", "__new__")
            for name in (*made, "__post_init__"):
                if isinstance(method := inspect.getattr_static(target, name, None), FunctionType):
                    self.called(method, shown, path)
        else:
            self.unresolved(shown, path)

    def unresolved(self, shown: str, path: tuple[str, ...]) -> None:
        name = shown.rpartition(".")[2]
        if sinks.METHODS.fullmatch(name) or not name.isidentifier():
            self.found[Reached("unknown", shown, path)] = None
        elif name not in sinks.HARMLESS:
            self.unknown[f"{path[-1]}: {shown}"] = None


def reach(function: Callable[..., Any]) -> Reach:
    """What a tool's function can reach, following everything of its own top-level package."""
    while isinstance(function, functools.partial):
        function = function.func
    plain = getattr(function, "__func__", function)
    plain = plain if isinstance(plain, FunctionType) else inspect.getattr_static(type(plain), "__call__")
    walk = _Walk(resolve.package_of(plain))
    walk.function(plain, ())
    return Reach(tuple(walk.found), tuple(walk.unknown))
