"""A prompt's template: what it uses, and whether it holds only what the SDK renders.

Jinja's own parser reads it; what is allowed is a short list: variables and their parts, conditions, loops
over them, comparisons and the simple filters below. Calls, includes, macros, arithmetic and names with an
underscore in front are no part of a prompt.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import TemplateSyntaxError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_CHARS = 400_000
"""About 100 000 tokens: no prompt by hand is longer."""
MAX_LOOPS = 2
"""Loops within each other."""
MAX_NUMBER = 10_000
"""In a filter's arguments: `round(1000000000)` would take for ever."""
MAX_TEXT = 200
MAX_MARKS = 5_000
"""Opening braces; Jinja's parser recurses over what stands between them."""
_FILTERS = """
    abs capitalize d default first float int join last length count list lower reverse round sort string title
    tojson trim truncate unique upper wordcount
"""
FILTERS = frozenset(_FILTERS.split())
_TESTS = "defined undefined none string number mapping sequence iterable true false in eq ne lt le gt ge"
TESTS = frozenset(_TESTS.split())
_ALLOWED = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Const,
    nodes.List,
    nodes.Tuple,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Filter,
    nodes.Keyword,
    nodes.Test,
    nodes.If,
    nodes.CondExpr,
    nodes.For,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
)
_WORDS = {
    nodes.Call: "a call",
    nodes.Include: "an include",
    nodes.Import: "an import",
    nodes.FromImport: "an import",
    nodes.Extends: "an extends",
    nodes.Macro: "a macro",
    nodes.Block: "a block",
    nodes.Assign: "a set",
}


@dataclass(frozen=True)
class Template:
    """What lint knows about one template."""

    names: frozenset[str] = frozenset()
    """Variables that come from outside."""
    faults: tuple[str, ...] = ()
    """Why the SDK does not render it; empty where it does."""


def read(source: str) -> Template:
    """Parse a template; never raises, whatever the text."""
    if len(source) > MAX_CHARS:
        return Template(faults=(f"it has {len(source)} characters; at most {MAX_CHARS} are rendered",))
    if source.count("{{") + source.count("{%") > MAX_MARKS or _deep(source):
        return Template(faults=("it opens more braces than a prompt can need",))
    try:
        tree = _environment().parse(source)
        if faults := tuple(_faults(tree)):
            return Template(faults=faults)
        # Only now: it generates code, and in doing so works out what is constant.
        return Template(frozenset(meta.find_undeclared_variables(tree)))
    except TemplateSyntaxError as error:
        return Template(faults=(f"line {error.lineno}: {error.message}",))
    except (RecursionError, UnicodeError, ValueError, MemoryError):
        return Template(faults=("it is nested too deeply or holds characters that are none",))


def _environment() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(autoescape=False)


def _deep(source: str) -> bool:
    """Whether brackets follow each other so closely that parsing them would recurse hundreds of times."""
    return any(mark * 200 in source.replace(" ", "") for mark in ("(", "[", "{", "-", "not"))


def _faults(tree: nodes.Node, loops: int = 0) -> Iterator[str]:
    for node in tree.iter_child_nodes():
        if not isinstance(node, _ALLOWED):
            yield f"line {node.lineno}: {_WORDS.get(type(node), type(node).__name__.lower())} is not rendered"
            continue
        yield from _own_faults(node, loops)
        yield from _faults(node, loops + isinstance(node, nodes.For))


def _own_faults(node: nodes.Node, loops: int) -> Iterator[str]:
    at = f"line {node.lineno}:"
    if isinstance(node, nodes.Filter):
        if node.name not in FILTERS:
            yield f"{at} the filter {node.name!r} is not rendered; there are: {', '.join(sorted(FILTERS))}"
        if any(_large(each.value) for each in node.find_all(nodes.Const)):
            yield f"{at} a number above {MAX_NUMBER} or a text above {MAX_TEXT} characters in a filter is not rendered"
        if not isinstance(_source(node), nodes.Name):
            yield f"{at} a filter stands after a variable or a part of one"
    if isinstance(node, nodes.Test) and node.name not in TESTS:
        yield f"{at} the test {node.name!r} is not rendered; there are: {', '.join(sorted(TESTS))}"
    if isinstance(node, nodes.For):
        yield from (f"{at} {each}" for each in _loop_faults(node, loops))
    part = _part(node)
    if part is not None and part.startswith("_"):
        yield f"{at} the part {part!r} is not rendered"


def _loop_faults(node: nodes.For, loops: int) -> Iterator[str]:
    if loops >= MAX_LOOPS or node.recursive:
        yield f"loops go at most {MAX_LOOPS} deep, without recursion"
    if not isinstance(_source(node.iter), nodes.Name):
        yield "a loop goes over a variable or a part of one"


def _source(node: nodes.Node | None) -> nodes.Node | None:
    """What stands in front of filters and parts."""
    while isinstance(node, nodes.Filter | nodes.Getattr | nodes.Getitem):
        node = node.node
    return node


def _large(value: object) -> bool:
    return (isinstance(value, int) and abs(value) > MAX_NUMBER) or (isinstance(value, str) and len(value) > MAX_TEXT)


def _part(node: nodes.Node) -> str | None:
    if isinstance(node, nodes.Getattr):
        return node.attr
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        return str(node.arg.value)
    return None
