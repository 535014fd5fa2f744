"""Rules about tools: what they are called, what they are pinned to, and that none of them binds anybody."""

import json
import re
from collections import Counter
from collections.abc import Iterator

from beleg.contract.binding import signs
from beleg.contract.lint.judge import schema_faults
from beleg.contract.lint.schemas import TooLarge, walk
from beleg.contract.lint.subject import Hit, Subject, text
from beleg.contract.tools import Tool

PORTABLE = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,63}\Z")
"""What every provider's pattern accepts."""


def names(subject: Subject) -> Iterator[Hit]:
    """L17: a name that one provider refuses fails exactly when the fallback steps in."""
    counts = Counter(each.name.casefold() for each in subject.contract.tools)
    for tool in subject.contract.tools:
        if not PORTABLE.match(tool.name):
            yield Hit(_place(tool), f"The name “{text(tool.name)}” is refused by some providers.")
        if counts[tool.name.casefold()] > 1:
            yield Hit(_place(tool), f"The name “{text(tool.name)}” is there more than once.")


def pins(subject: Subject) -> Iterator[Hit]:
    """L18: an unpinned tool changes what the feature does under an unchanged contract."""
    for tool in subject.contract.tools:
        if not tool.version.strip():
            yield Hit(_place(tool), f"“{text(tool.name)}” names no version.")
        if tool.digest != tool.pin():
            yield Hit(_place(tool), f"The pin of “{text(tool.name)}” does not fit it; it would be {tool.pin()}.")
        for where, what in _input_faults(tool):
            yield Hit(
                f"{_place(tool)}#/{where}",
                f"The input schema is not valid: {text(what, 160)}.",
                fix="correct the schema",
            )


def _input_faults(tool: Tool) -> list[tuple[str, str]]:
    try:
        walk(tool.input_schema)
    except TooLarge:
        return [("", "it is larger or nested more deeply than lint looks at")]
    return schema_faults(tool.input_schema)


def catalogue(subject: Subject) -> Iterator[Hit]:
    """L19: the catalogue holds what a version of a tool is; nothing else may go by its name."""
    known = subject.facts.catalogue or {}
    for tool in subject.contract.tools:
        entry = known.get((tool.name, tool.version))
        if entry is None:
            yield Hit(
                _place(tool),
                f"The catalogue has no “{text(tool.name)}” in version {text(tool.version)}.",
                fix="take a version that the catalogue has, or add this one: beleg contract tool FILE",
            )
            continue
        for part in ("description", "input_schema", "binding"):
            if _bytes(entry.get(part)) != _bytes(getattr(tool, part)):
                yield Hit(
                    _place(tool),
                    f"The catalogue's {text(tool.name)} {text(tool.version)} has another {part}.",
                    fix="take the tool as the catalogue has it, or add a new version: beleg contract tool FILE",
                )


def _bytes(value: object) -> str:
    return json.dumps(value, default=dict)


def unnamed(subject: Subject) -> Iterator[Hit]:
    """L20: a tool that nothing asks for costs tokens and can only be misused."""
    prompt = subject.contract.prompt.system + subject.contract.prompt.user
    for tool in subject.contract.tools:
        if tool.name not in prompt and tool.name not in (subject.facts.called_tools or ()):
            yield Hit(_place(tool), f"“{text(tool.name)}” is neither named in the prompt nor known to be called.")


def binding(subject: Subject) -> Iterator[Hit]:
    """L42: what binds is not guarded but absent."""
    for tool in subject.contract.tools:
        if tool.binding:
            yield Hit(_place(tool), f"“{text(tool.name)}” binds; a contract holds no binding tool.")


def unreviewed(subject: Subject) -> Iterator[Hit]:
    """L43: from tier 2 on somebody other than the author looks; the signs stand in the sentence."""
    from beleg.contract.registry.people import identity  # noqa: PLC0415 - one meaning of "the same person"

    author = identity(subject.contract.author)
    for tool in subject.contract.tools:
        found = () if tool.binding else signs(tool)
        if not found:
            continue
        what = ", ".join(f"“{text(each.word)}” in {text(each.place)}" for each in found[:5])
        if not (tool.reviewed_by or "").strip() or not (tool.reviewed_why or "").strip():
            yield Hit(_place(tool), f"“{text(tool.name)}” looks binding ({what}) and nobody has said why it is not.")
        elif subject.contract.risk_tier > 1 and identity(tool.reviewed_by or "") == author:
            yield Hit(_place(tool), f"“{text(tool.name)}” looks binding ({what}) and its author alone says it is not.")


def _place(tool: Tool) -> str:
    return f"tools.{text(tool.name)}"


CHECKS = {"L17": names, "L18": pins, "L19": catalogue, "L20": unnamed, "L42": binding, "L43": unreviewed}
