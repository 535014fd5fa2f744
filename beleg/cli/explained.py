"""What `beleg ingest --explain` shows."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beleg.cli.output import console, print_json, show_rows
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.ingest.explained import Trace

COLUMNS = ("format", "run", "rules", "workflow", "names", "units", "outcome", "facts")


def show(paths: list[str], form: str | None, limit: int, *, json: bool) -> None:
    """Read without storing; a table for people, everything for machines."""
    from beleg.ingest.explained import explain
    from beleg.ingest.inbox import local_paths

    settings = Settings.load()
    found = explain(local_paths(settings, paths), form, settings.project)
    if json:
        rows = [_record(trace) for trace in found.traces.values()]
        counts = {"unmapped": dict(found.unmapped), "refused": found.refused, "other_files": found.other_files}
        print_json({"schema_version": 1, "rows": rows} | counts)
        return
    shown = found.shown(limit)
    show_rows(f"{len(shown):,} of {len(found.traces):,} traces", COLUMNS, [_row(trace) for trace in shown])
    out = console()
    for workflow, count in Counter(trace.named.workflow for trace in found.traces.values()).most_common():
        out.print(f"{count:,} traces of workflow {workflow}")
    for name, count in found.unmapped.items():
        out.print(f"{count:,} traces of {name} follow no naming rule, see docs/naming.md")
    if found.refused:
        out.print(
            f"{found.refused:,} items are not shaped as their format is: `beleg ingest` puts them into quarantine"
        )
    if found.other_files:
        out.print(f"{found.other_files:,} files are read as events in normal form, which need no naming")


def _record(trace: "Trace") -> dict[str, Any]:
    named = trace.named
    return {
        "file": str(trace.file),
        "format": trace.format,
        "run_id": trace.run_id,
        "facts": dict(trace.facts),
        "rules": list(named.rules),
        "is_mapped": trace.is_mapped,
        "workflow": named.workflow,
        "purpose": named.purpose,
        "names": dict(named.fields),
        "units": dict(named.units),
        "outcome": None if named.outcome is None else {"kind": named.outcome.kind, "count": named.outcome.count},
    }


def _row(trace: "Trace") -> list[Any]:
    named = trace.named
    outcome = None if named.outcome is None else f"{named.outcome.count} {named.outcome.kind}"
    rules = ", ".join(map(str, named.rules)) or None
    names = _listed({"purpose": named.purpose, **named.fields})
    facts = {fact: value for fact, value in trace.facts.items() if fact != "format"}
    return [trace.format, trace.run_id, rules, named.workflow, names, _listed(named.units), outcome, _listed(facts)]


def _listed(values: Mapping[str, Any]) -> str | None:
    return ", ".join(f"{name} = {_text(value)}" for name, value in values.items()) or None


def _text(value: Any) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
