"""The head of a `SKILL.md`: YAML between two lines of dashes, read as texts and nothing else.

YAML makes 1.1 of `version: 1.10` and false of `name: no`; here every scalar stays the text that was written.
Files that other readers drop without a word (an unquoted colon) are read by quoting, and said to be so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

_HEAD = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_PLAIN = re.compile(r"([A-Za-z][\w.-]*):[ \t]+([^\s'\"|>\[{&*!%@`#].*)")
_COMMENT = re.compile(r"[^'\"].*\s#")


class _Texts(yaml.BaseLoader):
    """Every scalar a text, no key twice, no aliases: a head that repeats itself is an attack or a slip."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "an alias (*name) stands here; write the value out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise yaml.constructor.ConstructorError(None, None, f"the key {twice!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


@dataclass(frozen=True)
class Head:
    """What a file says about itself, and the text behind it."""

    fields: dict[str, Any]
    """Texts, and lists and mappings of texts."""
    body: str
    notes: tuple[tuple[str, int, str], ...]
    """Field, line (from 1) and what was done or looks wrong there."""


def read(text: str) -> Head:
    """The head and body of a file; raises ValueError saying what is wrong and where."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = _HEAD.match(plain)
    if found is None:
        raise ValueError("it does not begin with a head between two lines of ---")
    notes = tuple(_comments(found[1]))
    try:
        fields = _parsed(found[1])
    except ValueError as error:
        quoted, notes = _quoted(found[1])
        if not notes:
            raise
        try:
            fields = _parsed(quoted)
        except ValueError:
            raise error from None
    return Head(fields, plain[found.end() :].strip("\n"), notes)


def _parsed(head: str) -> dict[str, Any]:
    try:
        fields = yaml.load(head, Loader=_Texts)  # noqa: S506 - makes texts only
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" in line {mark.line + 2}"
        raise ValueError(f"its head is no YAML{where}: {getattr(error, 'problem', None) or error}") from error
    if fields in (None, ""):
        return {}
    if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
        raise ValueError("its head is no mapping of fields")
    return fields


def _comments(head: str) -> Iterator[tuple[str, int, str]]:
    for number, line in enumerate(head.split("\n"), start=2):
        found = _PLAIN.fullmatch(line)
        if found and _COMMENT.match(found[2]):
            yield found[1], number, "everything from ` #` on is a comment to YAML; quote the value"


def _quoted(head: str) -> tuple[str, tuple[tuple[str, int, str], ...]]:
    """The head with plain values that hold a colon in quotes, the lines that continue them included."""
    lines: list[str] = []
    notes: list[tuple[str, int, str]] = []
    for number, line in enumerate(head.split("\n"), start=2):
        found = _PLAIN.fullmatch(line)
        if found and re.search(r":(?:\s|$)", found[2]):
            lines.append(f"{found[1]}: {_in_quotes(found[2])}")
            notes.append((found[1], number, "a colon in an unquoted value; other readers drop the file: quote it"))
        elif notes and line[:1].isspace() and line.strip() and lines[-1].endswith("'"):
            lines[-1] = lines[-1][:-1] + " " + line.strip().replace("'", "''") + "'"
        else:
            lines.append(line)
    return "\n".join(lines), tuple(notes)


def _in_quotes(value: str) -> str:
    return "'" + value.strip().replace("'", "''") + "'"
