"""Prompts from templates: sandboxed, strict, bounded; strangers' words stay inside their delimiters.

An expression that uses an untrusted variable, however derived, is put between two markers when it is
output. The markers hold a digest of all untrusted values that occurs in none of them, so no value can close
its own delimiter; the same variables give the same prompt.
"""

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from jinja2 import StrictUndefined, TemplateError, nodes, pass_context
from jinja2.exceptions import SecurityError, UndefinedError
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from beleg.contract.client.errors import PromptInvalid
from beleg.contract.model import Prompt

MAX_CHARS = 2_000_000
"""Most characters of one part of a prompt."""
_MARK = "__beleg_mark"
_FILTER = "__beleg_delimited"
_UNDEFINED = re.compile(r"'\w+' is undefined")
_PLACES = frozenset({"index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0"})
"""Parts of `loop` that say where a loop stands; any other may hold what it goes over."""
_CAPTURING = (
    nodes.AssignBlock,
    nodes.FilterBlock,
    nodes.Macro,
    nodes.CallBlock,
    nodes.Block,
    nodes.ScopedEvalContextModifier,
    nodes.EvalContextModifier,
)
"""Statements that take what was rendered and can change it, delimiters included."""
_GROWING = frozenset({"center", "format", "indent", "wordwrap"})
"""Filters that make much out of little."""


class _Absent(StrictUndefined):
    """An optional variable that was not given: false in a condition, an error anywhere else."""

    __slots__ = ()

    def __bool__(self) -> bool:  # type: ignore[override]
        return False


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox without what could grow without bound."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if not all(isinstance(each, (int, float)) and abs(each) < 1e9 for each in (left, right)) or operator == "**":
            raise SecurityError(f"{operator} is for moderate numbers only")
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> None:
        """`str.format` pads without bound; without a wrapper it is an attribute like any other of a text."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return not isinstance(obj, (str, int, float)) and super().is_safe_attribute(obj, attr, value)


def _shown(value: Any) -> Any:
    """Texts as they are, everything else as JSON; what is undefined stays so and raises."""
    return value if isinstance(value, (str, Undefined)) else json.dumps(value, ensure_ascii=False)


@pass_context
def _delimited(context: Context, value: Any, name: str) -> str:
    mark = context[_MARK]
    return f'<untrusted name="{name}" mark="{mark}">\n{_shown(value)}\n</untrusted mark="{mark}">'


def _environment() -> _Environment:
    made = _Environment(undefined=StrictUndefined, finalize=_shown, autoescape=False, keep_trailing_newline=True)
    for name in _GROWING:
        del made.filters[name]
    for name in ("cycler", "joiner", "lipsum", "namespace"):
        del made.globals[name]
    made.filters[_FILTER] = _delimited
    return made


_ENVIRONMENT = _environment()


class Template:
    """The two parts of a prompt, compiled."""

    def __init__(self, prompt: Prompt) -> None:
        """Raises PromptInvalid for a template that is none."""
        self._names = frozenset(each.name for each in prompt.variables)
        self._untrusted = tuple(each.name for each in prompt.variables if each.untrusted)
        self._optional = tuple(each.name for each in prompt.variables if not each.required)
        self._parts = [self._compiled(text, part) for part, text in (("system", prompt.system), ("user", prompt.user))]

    def render(self, variables: Mapping[str, Any]) -> tuple[str, str]:
        """System and user part; raises PromptInvalid, whose message holds no value."""
        absent = {name: _Absent(name=name) for name in self._optional}
        given = {**absent, **variables, _MARK: self._mark(variables)}
        system, user = (_bounded(part, given) for part in self._parts)
        return system, user

    def _compiled(self, text: str, part: str) -> Any:
        try:
            tree = _ENVIRONMENT.parse(text)
            _refuse(tree, self._names)
            _delimit(tree, self._untrusted)
            return _ENVIRONMENT.from_string(tree)
        except (TemplateError, RecursionError) as error:
            raise PromptInvalid(f"the {part} part of the prompt is no template: {error}") from error

    def _mark(self, variables: Mapping[str, Any]) -> str:
        if not self._untrusted:
            return ""
        values = [str(_shown(variables.get(name))) for name in self._untrusted]
        mark = sha256(json.dumps(values).encode()).hexdigest()[:16]
        while any(mark in value for value in values):
            mark = sha256(mark.encode()).hexdigest()[:16]
        return mark


def _bounded(template: Any, given: Mapping[str, Any]) -> str:
    pieces: list[str] = []
    size = 0
    try:
        for piece in template.generate(given):
            size += len(piece)
            pieces.append(piece)
            if size > MAX_CHARS:
                break
    except Exception as error:  # noqa: BLE001 - values of the caller's raise what they like
        raise PromptInvalid(f"the prompt cannot be rendered: {_why(error)}") from None
    if size > MAX_CHARS:
        raise PromptInvalid(f"the prompt is longer than {MAX_CHARS} characters")
    text = "".join(pieces)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PromptInvalid("the prompt holds half a character (a lone surrogate)") from None
    return text


def _why(error: Exception) -> str:
    """The name that is undefined; any other message may hold a value."""
    text = str(error) if isinstance(error, UndefinedError) else ""
    return text if _UNDEFINED.fullmatch(text) else type(error).__name__


def _refuse(tree: nodes.Template, variables: frozenset[str]) -> None:
    """Raise TemplateError for what could get around the delimiters."""
    for node in tree.find_all(_CAPTURING):
        raise TemplateError(f"line {node.lineno}: {type(node).__name__.lower()} is not rendered")
    if "loop" in variables or any(each.name == "loop" and each.ctx != "load" for each in tree.find_all(nodes.Name)):
        raise TemplateError("the name 'loop' is that of loops; give the variable another one")


def _delimit(tree: nodes.Template, untrusted: tuple[str, ...]) -> None:
    """Put every output that uses an untrusted name, or one derived from it, into the delimiter."""
    tainted = _tainted(tree, set(untrusted))
    if not tainted:
        return
    for output in tree.find_all(nodes.Output):
        output.nodes = [_wrapped(each, tainted) for each in output.nodes]


def _wrapped(expression: nodes.Expr, tainted: set[str]) -> nodes.Expr:
    used = sorted(_names(expression) & tainted)
    if not used:
        return expression
    line = expression.lineno
    name = nodes.Const(used[0], lineno=line)
    return nodes.Filter(expression, _FILTER, [name], [], None, None, lineno=line)


def _tainted(tree: nodes.Template, tainted: set[str]) -> set[str]:
    """Names that hold untrusted values: loops and assignments pass it on, until nothing more follows."""
    flows = list(_flows(tree))
    size = -1
    while size != len(tainted):
        size = len(tainted)
        for targets, sources in flows:
            if sources & tainted:
                tainted |= targets
    return tainted


def _flows(tree: nodes.Template) -> Iterator[tuple[set[str], set[str]]]:
    for loop in tree.find_all(nodes.For):
        yield _names(loop.target) | {"loop"}, _names(loop.iter)
    for assigned in tree.find_all(nodes.Assign):
        yield _names(assigned.target), _names(assigned.node)
    for block in tree.find_all(nodes.With):
        for target, value in zip(block.targets, block.values, strict=True):
            yield _names(target), _names(value)


def _names(node: nodes.Node) -> set[str]:
    """Names that an expression uses for more than to say where a loop stands."""
    if isinstance(node, nodes.Getattr) and node.attr in _PLACES and _is_loop(node.node):
        return set()
    own = {node.name} if isinstance(node, nodes.Name) else set()
    return own.union(*(_names(each) for each in node.iter_child_nodes()))


def _is_loop(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "loop"
