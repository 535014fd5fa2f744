"""`beleg explain`: what exactly a run did, and why it cost what it cost."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from beleg.cli.options import Json
from beleg.cli.output import console, print_json, records, show_rows
from beleg.core.settings import Settings

RUN = (
    "run_id",
    "workflow",
    "purpose",
    "status",
    "exception_class",
    "tenant",
    "team",
    "started_at",
    "finished_at",
    "latency_ms",
    "duration_ms",
    "parent_run_id",
    "conversation_id",
    "prompt_version",
    "prompt_source",
    "feature",
    "contract_version",
    "contract_digest",
    "input_key",
    "input_ref",
    "input_hash",
    "output_hash",
    "hash_key_id",
    "labels",
    "units",
)
STEPS = ("#", "kind", "name", "provider", "model", "attempt", "status", "latency_ms", "cost_usd")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explain")(explain)


def explain(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run; `beleg runs` finds it.")],
    json: Json = False,
) -> None:
    """Explain a run: its steps in order, its fingerprints, what people said of it, and the arithmetic of its cost.

    Exits with 1 for a run that is unknown.

    Example: beleg explain 019b0a3e-7c1f-7a20-9d31-5f0c2b8e6a44
    """
    from beleg.ask.explain import explain as ask
    from beleg.ask.record import record

    told = record(ask(Settings.load(), run_id))
    if json:
        print_json(told)
        return
    out = console()
    known = [name for name in RUN if told["run"][name] not in (None, {})]
    out.print(f"Run {told['run']['run_id']}", style="bold")
    out.print(records(known, [[told["run"][name] for name in known]]))
    rows = [_step(number, step) for number, step in enumerate(told["steps"], start=1)]
    show_rows("Steps", STEPS, rows, numbers=("#", "attempt", "latency_ms", "cost_usd"))
    _print_arithmetic(out, told)
    for title, name in (
        ("Artifacts", "artifacts"),
        ("Feedback", "feedback"),
        ("Corrections", "corrections"),
        ("Earlier runs of the same input", "same_input"),
        ("Runs it started", "children"),
    ):
        _print_rows(out, title, told[name])


def _step(number: int, step: dict[str, Any]) -> list[Any]:
    name = step["tool_name"] or step["name"]
    again = step["attempt"] and f"{step['attempt']} {step['attempt_reason'] or ''}".strip()
    named = [number, step["kind"], name, step["provider"], step["model"], again]
    return [*named, step["exception_class"] or step["status"], step["latency_ms"], step["cost_usd"]]


def _print_arithmetic(out: Any, told: dict[str, Any]) -> None:
    """The lines of every step that cost something or says why it did not."""
    rows = []
    for number, step in enumerate(told["steps"], start=1):
        rows += [[number, *(line[c] for c in ("what", "quantity", "price", "pico_usd"))] for line in step["lines"]]
    if rows:
        columns = ("step", "what", "quantity", "micro-USD per million (else pico-USD each)", "pico-USD")
        show_rows("Cost, line by line", columns, rows, numbers=columns[2:])
    for text, numbers in _by_text(told["steps"]).items():
        out.print(f"Step {', '.join(map(str, numbers))}: {text}", markup=False)
    run = told["run"]
    sum_ = f"Run: {run['cost_pico_usd']} pico-USD = {run['cost_exact_usd']} USD"
    state = "the lines add up to it exactly" if told["adds_up"] else "the lines do not add up to it, see above"
    out.print(f"{sum_}; {state}; {run['unpriced_steps']} of {run['steps']} steps unpriced.", markup=False)


def _by_text(steps: Sequence[dict[str, Any]]) -> dict[str, list[int]]:
    """Which price row applied, or why none did → numbers of the steps."""
    found: dict[str, list[int]] = {}
    for number, step in enumerate(steps, start=1):
        if (price := step["price"]) is not None:
            text = f"{price['source']} price of {price['price_key']}, {_validity(price)}"
            found.setdefault(text, []).append(number)
        if step["note"]:
            found.setdefault(step["note"], []).append(number)
    return found


def _validity(price: dict[str, Any]) -> str:
    """When a price row holds; its end is excluded."""
    ends = {"from": price["valid_from"], "until": price["valid_to"]}
    told = " ".join(f"{word} {instant}" for word, instant in ends.items() if instant is not None)
    return f"valid {told or 'at any time'}"


def _print_rows(out: Any, title: str, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        columns = [name for name in rows[0] if any(row[name] is not None for row in rows)]
        if {row.get("bound_by") for row in rows} <= {"run_id", None} and "counts_for" in columns:
            columns.remove("counts_for")  # it is this run
        out.print(title, style="bold")
        out.print(records(columns, [[row[name] for name in columns] for row in rows]))
