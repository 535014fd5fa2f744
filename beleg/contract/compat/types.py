"""The types a place declares: by `type`, by the values listed, or by the alternatives of a union."""

from collections.abc import Iterable
from typing import Any

from beleg.contract.compat.documents import Document
from beleg.contract.compat.formula import ALL_KINDS
from beleg.contract.compat.scope import always
from beleg.contract.compat.values import kind


def kinds_of(document: Document, parts: Iterable[dict[str, Any]], depth: int = 0) -> frozenset[str]:
    """The kinds of values that the subschemas declare together; numbers and integers are one kind."""
    found = ALL_KINDS
    for part in parts:
        words = document.keywords(part)
        if "type" in words:
            types = [words["type"]] if isinstance(words["type"], str) else words["type"]
            found &= {"number" if name == "integer" else name for name in types}
        if "const" in words:
            found &= {kind(words["const"])}
        if "enum" in words:
            found &= set(map(kind, words["enum"]))
        for word in ("anyOf", "oneOf") if depth < 10 else ():
            if word in words:
                found &= frozenset().union(*(_of_branch(document, branch, depth) for branch in words[word]))
    return found


def _of_branch(document: Document, branch: Any, depth: int) -> frozenset[str]:
    if not isinstance(branch, dict):
        return ALL_KINDS if branch else frozenset()
    return kinds_of(document, always(document, branch), depth + 1)
