"""Reads mapping files: a small YAML that says how a row of any table becomes events. See docs/mapping.md.

Everything that can be known without the table is checked here: unknown keys, events, fields and units are
a UsageError that lists what is allowed.
"""

import string
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import date, datetime
from pathlib import Path
from typing import Any, NoReturn, get_args

from beleg.core import yamlfile
from beleg.core.errors import UsageError
from beleg.ingest import cells
from beleg.ingest.cells import UNITS, BadCell
from beleg.ingest.mapping import FILE, ROW, EventMapping, Format, Get, Row, Table, TableMapping, usage_fields
from beleg.ingest.schemas import Schema, event_rules
from beleg.trace.usage import Reported

_SET_FOR_ALL = {"event", "schema_version", "retention_policy", "payload_policy"}
_USAGE_TEXTS = {"declared": ("inclusive", "exclusive"), "provider_rule": ("inclusive", "exclusive")}
_USAGE_FLAGS = {"reasoning_inside", "reasoning_rule", "hidden_reasoning"}


def load_mapping(path: Path) -> TableMapping:
    """Read and check a mapping file; raises UsageError that says where it is wrong and what is allowed."""
    return _Reader(path).mapping(yamlfile.load(path, hint="see docs/mapping.md"))


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns: set[str] = set()
        self._table = Table()
        self._schemas: dict[str, Schema] = {event: rule.schema for (event, _), rule in sorted(event_rules().items())}

    def mapping(self, raw: Any) -> TableMapping:
        """The mapping in a parsed file."""
        self._keys(
            raw, "the mapping", {"mapping", "table", "source", "every_event", "events"}, {"mapping", "source", "events"}
        )
        if raw["mapping"] != 1:
            self._fail(f"mapping: {raw['mapping']!r} is no version of the format; write `mapping: 1`")
        self._table = self._read_table(raw.get("table") or {})
        common = {"source": {"value": raw["source"]}, **(raw.get("every_event") or {})}
        if not isinstance(raw["events"], list) or not raw["events"]:
            self._fail("events: expected a list of at least one event")
        events = tuple(self._event(e, common, f"events[{n}]") for n, e in enumerate(raw["events"]))
        return TableMapping(self._path, self._table, events, frozenset(self._columns - {ROW, FILE}))

    def _read_table(self, raw: Any) -> Table:
        names = {f.name for f in fields(Table)}
        self._keys(raw, "table", names)
        unknown = raw.get("unknown", [""])
        if not isinstance(unknown, list) or not all(isinstance(word, str) for word in unknown):
            self._fail("table.unknown: expected a list of quoted texts, for example ['', 'n/a']")
        table = Table(**{**raw, "unknown": tuple(unknown)})
        self._one_of(table.format, "table.format", (*get_args(Format), None))
        self._one_of(table.decimal, "table.decimal", (".", ","))
        self._one_of(table.encoding, "table.encoding", ("utf-8", "cp1252", "latin-1"))
        if len(str(table.delimiter)) != 1:
            self._fail(f"table.delimiter: {table.delimiter!r} is not one character")
        return table

    def _event(self, raw: Any, common: Mapping[str, Any], where: str) -> EventMapping:
        self._keys(raw, where, {"event", "once_per", "when", "fields", "usage"}, {"event", "fields"})
        event = raw["event"]
        self._one_of(event, f"{where}.event", tuple(self._schemas))
        if raw.get("usage") is not None and event != "step":
            self._fail(f"{where}.usage: only a step has usage, {event} has none")
        known = self._schemas[event]["properties"]
        shared = {name: spec for name, spec in common.items() if name in known}
        specs = {**shared, **self._object(raw["fields"], f"{where}.fields")}
        return EventMapping(
            event,
            {name: self._field(event, name, spec, f"{where}.fields.{name}") for name, spec in specs.items()},
            None if raw.get("usage") is None else self._usage(raw["usage"], f"{where}.usage"),
            None if raw.get("once_per") is None else self._column(raw["once_per"], f"{where}.once_per"),
            self._when(raw.get("when"), f"{where}.when"),
        )

    def _when(self, raw: Any, where: str) -> Callable[[Row], bool]:
        if raw is None:
            return lambda _row: True
        self._keys(raw, where, {"column", "is"}, {"column", "is"})
        column = self._column(raw["column"], where)
        wanted = {self._word(w, f"{where}.is") for w in (raw["is"] if isinstance(raw["is"], list) else [raw["is"]])}
        return lambda row: row.get(column) is not None and cells.text(row[column]) in wanted

    def _field(self, event: str, name: str, spec: Any, where: str) -> Get:
        schema = self._target(event, name, where)
        if isinstance(spec, list):
            items = [self._value(s, schema.get("items", {}), name, f"{where}[{n}]") for n, s in enumerate(spec)]
            return lambda row: [item for get in items if (item := get(row)) is not None]
        return self._value(spec, schema, name, where)

    def _target(self, event: str, name: str, where: str) -> Schema:
        """The schema of a field; `labels.region` is a member of the object `labels`."""
        outer, _, inner = name.partition(".")
        properties = self._schemas[event]["properties"]
        allowed = sorted(set(properties) - _SET_FOR_ALL)
        if outer not in allowed:
            self._fail(f"{where}: {event} has no such field to map; fields are {', '.join(allowed)}")
        schema: Schema = properties[outer]
        if not inner:
            return schema
        member = schema.get("properties", {}).get(inner) or schema.get("additionalProperties")
        if not isinstance(member, dict):
            self._fail(f"{where}: {outer} has no member {inner!r}")
        return dict(member)

    def _value(self, spec: Any, schema: Schema, name: str, where: str) -> Get:
        self._keys(spec, where, {"column", "unit", "alias", "others", "value", "template"})
        given = [key for key in ("column", "value", "template") if key in spec]
        if len(given) != 1:
            self._fail(f"{where}: give exactly one of column, value, template")
        if given != ["column"] and len(spec) > 1:
            self._fail(f"{where}: {', '.join(sorted(set(spec) - set(given)))} goes with a column only")
        if "value" in spec:
            constant = self._constant(spec["value"], where)
            return lambda _row: constant
        if "template" in spec:
            return self._template(spec["template"], where)
        return self._cell(spec, schema, name, where)

    def _cell(self, spec: Mapping[str, Any], schema: Schema, name: str, where: str) -> Get:
        column = self._column(spec["column"], where)
        convert = self._converter(spec.get("unit"), schema, name, where)
        alias = None if spec.get("alias") is None else self._alias(spec["alias"], where)
        self._one_of(spec.get("others"), f"{where}.others", ("keep", None))
        mark = self._table.decimal
        otherwise = (lambda cell: convert(cell, mark)) if spec.get("others") == "keep" else _unlisted

        def get(row: Row) -> Any:
            cell = row.get(column)
            if cell is None:
                return None
            try:
                return convert(cell, mark) if alias is None else _renamed(cell, alias, otherwise)
            except BadCell as error:
                raise BadCell(f"{name} from column {column!r}: {error}") from None

        return get

    def _converter(self, unit: Any, schema: Schema, name: str, where: str) -> Callable[[Any, str], Any]:
        kind = _unit_kind(name, schema)
        allowed = [u for u, known in UNITS.items() if known.kind == kind]
        if unit is not None and unit not in allowed:
            fits = f"units are {', '.join(allowed)}" if allowed else f"{name} has no unit"
            self._fail(f"{where}.unit: {unit!r} does not fit; {fits}")
        if kind is not None and unit is None:
            self._fail(f"{where}: declare the unit; units are {', '.join(allowed)}")
        if unit is not None:
            return UNITS[unit].convert
        types = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", ["string"])
        by_type = {"integer": cells.integer, "number": cells.number, "boolean": cells.boolean, "string": _as_text}
        found = next((by_type[t] for t in types if t in by_type), None)
        if found is None:
            self._fail(f"{where}: {name} is no single value; map its members as {name}.MEMBER or give a list")
        return found

    def _alias(self, raw: Any, where: str) -> dict[str, Any]:
        listed = self._object(raw, f"{where}.alias")
        return {self._word(key, f"{where}.alias"): self._constant(value, where) for key, value in listed.items()}

    def _template(self, raw: Any, where: str) -> Get:
        if not isinstance(raw, str):
            self._fail(f"{where}.template: expected text such as '{{id}}:started'")
        try:
            parts = [(literal, name) for literal, name, form, _ in string.Formatter().parse(raw) if not form]
        except ValueError as error:
            self._fail(f"{where}.template: {error}")
        columns = [self._column(name, where) for _, name in parts if name is not None]

        def get(row: Row) -> str | None:
            if any(row.get(column) is None for column in columns):
                return None
            return "".join(literal + ("" if name is None else cells.text(row[name])) for literal, name in parts)

        return get

    def _usage(self, raw: Any, where: str) -> Callable[[Row], dict[str, Any]]:
        counts = {f.name for f in fields(Reported)} - set(_USAGE_TEXTS) - _USAGE_FLAGS
        self._keys(raw, where, {*counts, *_USAGE_TEXTS, *_USAGE_FLAGS})
        for name, allowed in _USAGE_TEXTS.items():
            self._one_of(raw.get(name), f"{where}.{name}", (*allowed, None))
        for name in _USAGE_FLAGS:
            self._one_of(raw.get(name), f"{where}.{name}", (True, False, None))
        fixed = {name: raw[name] for name in raw if name not in counts and raw[name] is not None}
        integer: Schema = {"type": "integer"}
        get = {n: self._cell(self._object(raw[n], n), integer, n, f"{where}.{n}") for n in raw if n in counts}
        named = {name: str(raw[name]["column"]) for name in get}
        return lambda row: usage_fields({name: read(row) for name, read in get.items()}, fixed, named)

    def _column(self, name: Any, where: str) -> str:
        if not isinstance(name, str) or not name:
            self._fail(f"{where}: {name!r} is no column name; quote it")
        self._columns.add(name)
        return str(name)

    def _constant(self, value: Any, where: str) -> Any:
        if isinstance(value, datetime) and value.tzinfo is not None:
            return value.isoformat().replace("+00:00", "Z")
        if isinstance(value, date | float):
            self._fail(f"{where}: quote {value!s}, so that it stays as written")
        return value

    def _word(self, value: Any, where: str) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int):
            self._fail(f"{where}: quote {value!r}, so that YAML leaves it as text")
        return str(value)

    def _object(self, raw: Any, where: str) -> dict[str, Any]:
        if not isinstance(raw, dict):
            self._fail(f"{where}: expected names with values, found {type(raw).__name__}")
        return dict(raw)

    def _keys(self, raw: Any, where: str, allowed: Iterable[str], required: Iterable[str] = ()) -> None:
        given = self._object(raw, where)
        unknown = sorted(str(key) for key in given if key not in allowed)
        missing = sorted(key for key in required if given.get(key) is None)
        if unknown:
            self._fail(f"{where}: unknown key {unknown[0]!r}; keys are {', '.join(sorted(allowed))}")
        if missing:
            self._fail(f"{where}: {missing[0]!r} is missing; it needs {', '.join(sorted(required))}")

    def _one_of(self, value: Any, where: str, allowed: Iterable[Any]) -> None:
        if not any(value is a or (type(value) is type(a) and value == a) for a in allowed):
            listed = ", ".join(str(a) for a in allowed if a is not None)
            self._fail(f"{where}: {value!r} is not allowed; use one of {listed}")

    def _fail(self, message: str) -> NoReturn:
        msg = f"{self._path}: {message}"
        raise UsageError(msg)


def _renamed(cell: Any, alias: Mapping[str, Any], otherwise: Callable[[Any], Any]) -> Any:
    name = cells.text(cell)
    return alias[name] if name in alias else otherwise(cell)


def _unlisted(_cell: Any) -> NoReturn:
    raise BadCell("expected a value that the alias lists; `others: keep` lets the rest pass")


def _as_text(cell: Any, _mark: str) -> str:
    return cells.text(cell)


def _unit_kind(name: str, schema: Schema) -> str | None:
    if schema.get("format") == "date-time":
        return "time"
    if name.endswith("_ms"):
        return "duration"
    return "money" if name.endswith("_pico_usd") else None
