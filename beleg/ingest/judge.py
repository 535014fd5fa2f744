"""The verdict on each line of newline-delimited JSON.

`take` proves most lines good at the price of one parse and one validation. Whatever it cannot prove goes
through `judge`, which is exact, slower, and alone decides what is refused and why.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from beleg.ingest.exact import look
from beleg.ingest.explain import explain
from beleg.ingest.limits import Limits
from beleg.ingest.reasons import Refusal, refuse
from beleg.ingest.schemas import Rule, event_rules, shape_rules
from beleg.ingest.upcast import UPCASTERS, Upcasts
from beleg.ingest.values import Values

_BOM = b"\xef\xbb\xbf"
_SYNTAX = {"surrogate": "lone_surrogate", "depth limit": "nesting_too_deep", "infinity": "number_out_of_range"}
_FREE_FORM = {"artifact": "content", "correction": "expected"}
"""Event → its free-form field, whose size is limited."""


class Taken(NamedTuple):
    """Result of the fast path over some lines."""

    lines: list[bytes]
    good: dict[str, list[bytes]]
    """Event → lines proved good, as lines of its newest version."""
    left: list[int]
    """Indexes of the lines that are not proved: blank, bad or unusual."""


class Judge:
    """Judges lines by the event schemas and the artifact shapes of some folders.

    `stored` names the workflows whose corrected values may be stored.
    """

    def __init__(self, limits: Limits, shape_folders: Sequence[Path], stored: Collection[str] = ()) -> None:
        self._limits = limits
        self._rules = event_rules()
        self.upcasts = Upcasts(self._rules, UPCASTERS)
        self._shapes = shape_rules(shape_folders)
        self.events = sorted({event for event, _ in self._rules})
        self._values = Values(stored)

    def take(self, data: bytes) -> Taken:
        """Sort out the provably good among lines that each end in a line feed."""
        lines = data.split(b"\n")
        lines.pop()
        good: dict[str, list[bytes]] = {event: [] for event in self.events}
        left: list[int] = []
        if len(data) > self._limits.line_bytes or _spaced(data):
            return Taken(lines, good, list(range(len(lines))))
        fast = {
            v: (r.validator.is_valid, r.maps, good[v[0]].append, self.upcasts.outdated(*v))
            for v, r in self._rules.items()
            if r.flat
        }
        loads, dumps, unproved = orjson.loads, self.upcasts.dumps, left.append
        for index, line in enumerate(lines):
            try:
                event = loads(line)
                is_valid, maps, keep, outdated = fast[event["event"], event["schema_version"]]
            except (ValueError, KeyError, TypeError):
                unproved(index)
                continue
            keys = len(event)
            if is_valid(event):
                for name in maps:
                    inner = event.get(name)
                    if inner:
                        keys += len(inner)
                if line.count(b'":') == keys:
                    keep(dumps(event) if outdated else line)
                    continue
            unproved(index)
        return Taken(lines, good, left)

    def judge(self, line: bytes) -> str | Refusal:
        """The event type of a good line, or why it is refused."""
        if len(line) > self._limits.line_bytes:
            return refuse("line_too_long", f"longer than {self._limits.line_bytes} bytes")
        if (unreadable := _unreadable(line)) is not None:
            return unreadable
        try:
            value = orjson.loads(line)
        except ValueError as error:
            return self._syntax(line, error)
        if not isinstance(value, dict):
            return refuse("not_object")
        return look(line, self._limits.depth + 1) or self._event(value)

    def kept(self, event: str, line: bytes) -> bytes:
        """A good line as it is stored: of the newest version, without values that may not be."""
        return self._values.line(event, self.upcasts.line(event, line))

    def _syntax(self, line: bytes, error: ValueError) -> Refusal:
        message = str(error)
        for words, reason in _SYNTAX.items():
            if words in message:
                return refuse(reason)
        odd_number = b"NaN" in line or b"Infinity" in line
        found = look(line, self._limits.depth) if odd_number else None
        return found or refuse("not_json", f"no JSON text from character {getattr(error, 'pos', 0) + 1} on")

    def _event(self, value: dict[str, Any]) -> str | Refusal:
        event, version = value.get("event"), value.get("schema_version")
        if not isinstance(event, str) or event not in self.events:
            return refuse("unknown_event", f"/event: expected one of {', '.join(self.events)}")
        rule = self._rules.get((event, version)) if isinstance(version, int | float) else None
        if rule is None:
            known = ", ".join(str(v) for e, v in self._rules if e == event)
            return refuse("unknown_version", f"/schema_version: expected {known} for {event}")
        if not rule.validator.is_valid(value):
            return refuse("schema", explain(rule, value))
        return self._free_form(event, value) or event

    def _free_form(self, event: str, value: dict[str, Any]) -> Refusal | None:
        field = _FREE_FORM.get(event)
        if field is None or field not in value:
            return None
        size = len(orjson.dumps(value[field]))
        if size > self._limits.value_bytes:
            return refuse("value_too_large", f"/{field}: {size} bytes as JSON, at most {self._limits.value_bytes}")
        return self._shape(value) if event == "artifact" else None

    def _shape(self, value: dict[str, Any]) -> Refusal | None:
        shape: Rule | None = self._shapes.get(value["kind"])
        if shape is None:
            return refuse("unknown_shape", f"/kind: registered shapes are {', '.join(sorted(self._shapes))}")
        if shape.validator.is_valid(value["content"]):
            return None
        return refuse("shape", "/content" + explain(shape, value["content"]))


def _unreadable(line: bytes) -> Refusal | None:
    if line.startswith(_BOM):
        return refuse("byte_order_mark")
    if b"\0" in line or line.startswith((b"\xff\xfe", b"\xfe\xff")):
        return refuse("wrong_encoding")
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return refuse("not_utf8", f"no UTF-8 from byte {error.start + 1} on")
    return None


def _spaced(data: bytes) -> bool:
    """Whether white space may stand before a colon.

    Where it does not, `":` occurs at least once per key, so that a line whose distinct keys are as many
    as its `":` holds none twice.
    """
    return b"\t" in data or (b" " in data and b" :" in data) or (b"\r" in data and b"\r:" in data)
