"""One function's syntax: what its names stand for, and every call it makes."""

import ast
import builtins
import sys
from collections.abc import Iterable
from types import FunctionType, MethodType
from typing import Any, Protocol

from beleg.agent.verbs import resolve, sinks

_LITERALS: dict[type, type] = {
    ast.JoinedStr: str,
    ast.List: list,
    ast.ListComp: list,
    ast.Dict: dict,
    ast.DictComp: dict,
    ast.Set: set,
    ast.SetComp: set,
    ast.Tuple: tuple,
}

_BY_SYNTAX = (
    *(ast.withitem, ast.Subscript, ast.For, ast.AsyncFor, ast.comprehension, ast.Starred, ast.YieldFrom, ast.Await),
    *(ast.BinOp, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.AugAssign, ast.FormattedValue),
    *(ast.If, ast.IfExp, ast.While, ast.Assert),
)
"""What calls special methods of the values in it, without a call to be seen."""


class Walk(Protocol):
    """What follows the calls."""

    def called(self, target: Any, shown: str, path: tuple[str, ...]) -> None:
        """Follow one call whose target was resolved, or not."""


class Scope(ast.NodeVisitor):
    """One function's names, and its calls in turn."""

    def __init__(self, walk: Walk, function: Any, path: tuple[str, ...]) -> None:
        self.walk = walk
        self.path = path
        self.package = resolve.package_of(function)
        self.inside = False
        """Whether the function's own head is behind us."""
        self.names: dict[str, Any] = {**vars(builtins), **function.__globals__, **resolve.closure_of(function)}
        hints = {name: resolve.instance(hint) for name, hint in resolve.hints_of(function).items()}
        names = function.__code__.co_varnames
        self.local = {name: hints.get(name, resolve.UNKNOWN) for name in (*names, *function.__code__.co_cellvars)}
        if names[:1] == ("self",):
            self.local["self"] = self.owner(function)

    def owner(self, function: Any) -> Any:
        """The class that a method belongs to."""
        module = sys.modules.get(function.__module__)
        found: Any = module
        for step in function.__qualname__.split(".")[:-1]:
            found = getattr(found, step, None)
        return resolve.Instance(found) if isinstance(found, type) else resolve.UNKNOWN

    def visit(self, node: ast.AST) -> None:
        """A part of the syntax, and what it calls without saying so."""
        super().visit(node)
        if isinstance(node, _BY_SYNTAX):
            self.special(each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))

    def special(self, nodes: Iterable[ast.expr]) -> None:
        """Special methods of values that an operator, a `with`, a loop or a built-in function uses.

        Those of other packages count where they are known to have an effect: which of them is called is not known.
        """
        for node in nodes:
            own = (m for m in resolve.special_of(self.value(node)) if self.is_own(m) or sinks.kind_of(m))
            for method in own:
                self.walk.called(method, f"{ast.unparse(node)[:80]}.{method.__name__}", self.path)

    def is_own(self, method: Any) -> bool:
        """Whether it stands in the package of the function."""
        return resolve.package_of(method) == self.package

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A property is a call."""
        self.generic_visit(node)
        if accessor := resolve.accessor_of(self.value(node.value), node.attr, type(node.ctx)):
            self.walk.called(accessor, ast.unparse(node)[:80], self.path)

    def visit_Assign(self, node: ast.Assign) -> None:
        """A name stands for what it was given last."""
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.local[target.id] = self.value(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """What is defined inside counts as called."""
        if self.inside:
            self.forget(node.args)
        self.inside = True
        for each in node.body:
            self.visit(each)  # no decorators: they ran when the module was imported

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """The same."""
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """The same."""
        self.forget(node.args)
        self.visit(node.body)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Its targets hide names of outside."""
        self.forget(node.target)
        self.generic_visit(node)

    def forget(self, node: ast.AST) -> None:
        """Names that an inner scope gives another meaning: of those nothing is known."""
        for each in ast.walk(node):
            name = each.arg if isinstance(each, ast.arg) else each.id if isinstance(each, ast.Name) else None
            if name is not None:
                self.local[name] = resolve.UNKNOWN

    def visit_Call(self, node: ast.Call) -> None:
        """A call, and every function that it is handed."""
        self.generic_visit(node)
        given = (*node.args, *(word.value for word in node.keywords))
        called = self.value(node.func)
        self.walk.called(called, ast.unparse(node.func)[:80], self.path)
        if getattr(called, "__module__", None) == "builtins":
            self.special(given)
        for each in given:
            if isinstance(each, ast.Name | ast.Attribute):  # a function handed on will be called
                passed = self.value(each)
                if isinstance(passed, FunctionType | MethodType) or sinks.kind_of(passed):
                    self.walk.called(passed, ast.unparse(each)[:80], self.path)

    def value(self, node: ast.expr) -> Any:
        """What an expression stands for, without running it."""
        if isinstance(node, ast.Name):
            return self.local.get(node.id, self.names.get(node.id, resolve.UNKNOWN))
        if isinstance(node, ast.Attribute):
            return resolve.attribute_of(self.value(node.value), node.attr)
        if isinstance(node, ast.Constant):
            return resolve.Instance(type(node.value))
        if isinstance(node, ast.Call):
            return resolve.result_of(self.value(node.func))
        return resolve.Instance(_LITERALS[type(node)]) if type(node) in _LITERALS else resolve.UNKNOWN
