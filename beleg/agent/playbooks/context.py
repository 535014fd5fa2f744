"""Keeps one body in the context: opening another playbook closes those before it."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from beleg.agent.playbooks.playbook import OPENING, closing, digest

_CLOSING = re.compile(r"\n</workflow:([0-9a-f]{16})>")


def keep_one_body(messages: Any) -> Any:
    """The messages with every opened playbook but the last one closed: its body replaced by one line.

    Works on any provider's messages (lists and dicts of texts), changes nothing in place, and gives the same
    again when repeated. A body is known by marks that hold its digest: a text that only looks like one stays.
    What stands behind a closed body is written to the provider's cache anew, once.
    """
    last = sum(1 for text in _texts(messages) for _ in _bodies(text))
    return _Closing(last).of(messages)


def closed(text: str) -> str:
    """A text with every body in it closed."""
    return str(_Closing(None).of(text))


class _Closing:
    def __init__(self, last: int | None) -> None:
        self._last = last
        self._seen = 0

    def of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {key: self.of(inner) for key, inner in value.items()}
        return [self.of(inner) for inner in value] if isinstance(value, list | tuple) else value

    def _text(self, text: str) -> str:
        parts, place = [], 0
        for name, start, end in _bodies(text):
            self._seen += 1
            if self._seen != self._last:
                parts += [text[place:start], f"[workflow {name} is closed; open it again with get_workflow_details]"]
                place = end
        return "".join([*parts, text[place:]])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _bodies(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, start and end of every body in a text.

    No body can hold the marks of its own digest, so the next mark with that digest is its end, or it is none.
    Bodies do not overlap, so that hashing comes to an end even where strangers wrote the text: past twice its
    length nothing more is taken for one.
    """
    ends: defaultdict[str, list[int]] = defaultdict(list)
    for mark in _CLOSING.finditer(text):
        ends[mark[1]].append(mark.start())
    place, left = 0, 2 * len(text)
    while left > 0 and (found := OPENING.search(text, place)):
        place, marks = found.end(), ends[found[2]]
        at = bisect_left(marks, found.end() - 1)
        if at == len(marks):
            continue
        left -= marks[at] - found.end()
        if digest(text[found.end() : marks[at]]) == found[2]:
            place = marks[at] + 1 + len(closing(found[2]))
            yield found[1], found.start(), place
