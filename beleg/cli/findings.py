"""`beleg findings`: patterns in what people corrected."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from beleg.cli.options import Csv, Json
from beleg.cli.output import console, print_csv, print_json, show_rows
from beleg.core.settings import Settings

COLUMNS = (
    "finding_id",
    "kind",
    "status",
    "workflow",
    "field",
    "reason",
    "prompt_version",
    "inputs",
    "people",
    "runs",
    "of_runs",
    "rate",
    "rate_low",
    "rate_high",
    "base_rate",
    "base",
    "p_value",
    "adjusted_p",
    "corrections",
    "rejected_corrections",
    "previous_version",
    "previous_inputs",
    "previous_of_runs",
    "trend",
    "trend_p",
    "earlier_finding_id",
    "first_said_at",
    "last_said_at",
)
SHOWN = ("finding_id", "kind", "status", "workflow", "field", "reason", "version", "inputs", "people", "rate", "trend")
Workflow = Annotated[str | None, typer.Option(help="Only this workflow.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    noun = typer.Typer(help="Patterns in what people corrected: real errors apart from noise.")
    noun.callback(invoke_without_command=True)(list_)
    noun.command("show")(show)
    noun.command("unbound")(unbound)
    app.add_typer(noun, name="findings")


def list_(
    context: typer.Context,
    *,
    workflow: Workflow = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Also single slips, matters of taste, what was rejected.")
    ] = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """List findings: fields that people corrected more often than noise explains.

    Rates are different inputs per run of the prompt version, with exact intervals at 95 %. docs/corrections.md
    states the rule.

    Example: beleg findings --workflow ocr --all
    """
    if context.invoked_subcommand is not None:
        return
    from beleg.evals import findings

    settings = Settings.load()
    rows = findings.findings(settings, workflow=workflow, everything=all_)
    if json:
        print_json(
            {"schema_version": 1, "confidence": 0.95, "findings": [{c: row[c] for c in COLUMNS} for row in rows]}
        )
    elif csv:
        print_csv(rows, COLUMNS)
    else:
        show_rows(f"{len(rows)} findings", SHOWN, [_cells(row) for row in rows], numbers=("inputs", "people"))
        _print_rest(findings.spoken(settings), everything=all_)


def _print_rest(counts: Any, *, everything: bool) -> None:
    out = console()
    if not everything:
        out.print("Slips, matters of taste and what is too little to tell: --all")
    for count in counts:
        if count.ambiguous:
            out.print(f"{count.ambiguous} of {count.bound} {count.kind} words fit several runs; each counts once.")
        for reason, words in count.unbound.items():
            out.print(f"{words} {count.kind} words are bound to no run ({reason}): beleg findings unbound")


def show(
    finding_id: Annotated[str, typer.Argument(help="Id of the finding, or its first six digits or more.")],
    *,
    json: Json = False,
) -> None:
    """Show a finding: its corrections with their runs, and how many people made them.

    Example: beleg findings show 1a15ff8e9d19
    """
    from beleg.evals import findings

    shown = findings.show(Settings.load(), finding_id)
    row = shown.finding
    if json:
        told = {"finding": {c: row[c] for c in COLUMNS}, "corrections": shown.corrections, "people": shown.people}
        print_json({"schema_version": 1, "confidence": 0.95, **told})
        return
    show_rows("", SHOWN, [_cells(row)], numbers=("inputs", "people"))
    out = console()
    out.print(_because(row))
    if row["earlier_finding_id"]:
        out.print(f"Likely the same error as {row['earlier_finding_id']}, under an earlier version.")
    columns = ("event_time", "correction_id", "run_id", "field", "input_ref", "how", "decision", "expected")
    show_rows("Corrections", columns, [[c[name] for name in columns] for c in shown.corrections])
    people = [[p["author_hash"], p["inputs"], p["corrections"]] for p in shown.people]
    show_rows("People", ("author_hash", "inputs", "corrections"), people, numbers=("inputs", "corrections"))


def unbound(*, workflow: Workflow = None, json: Json = False, csv: Csv = False) -> None:
    """List words that are bound to no run, with the reason, latest first.

    Example: beleg findings unbound --workflow ocr
    """
    from beleg.evals import findings

    rows = [vars(word) for word in findings.unbound(Settings.load(), workflow=workflow)]
    columns = tuple(findings.Unbound.__dataclass_fields__)
    if json:
        print_json({"schema_version": 1, "words": rows})
    elif csv:
        print_csv(rows, columns)
    else:
        show_rows(f"{len(rows)} words bound to no run", columns, [[row[c] for c in columns] for row in rows])


def _cells(row: Mapping[str, Any]) -> list[Any]:
    share, low, high = (f"{100 * row[name]:.1f}" for name in ("rate", "rate_low", "rate_high"))
    told = {**row, "version": row["prompt_version"], "field": row["field"] or '""'}
    told["rate"] = f"{row['inputs']}/{row['of_runs']} = {share} % ({low}–{high})"
    told["finding_id"] = row["finding_id"][:12]
    return [told[name] for name in SHOWN]


def _because(row: Mapping[str, Any]) -> str:
    """The verdict in words."""
    if row["kind"] == "preference":
        return "A matter of taste: no error, however often."
    if row["base_rate"] is None:
        return "Every correction was rejected."
    against = {
        "other_fields": f"the other fields were corrected in {100 * row['base_rate']:.1f} % of the runs",
        "most": f"compared with at most {100 * row['base_rate']:.0f} %",
        "assumed": f"the workflow has one field, so {100 * row['base_rate']:.0f} % is assumed as noise",
    }[row["base"]]
    return f"{row['kind']}: {against}; p = {row['p_value']:.2g}, after Holm's correction {row['adjusted_p']:.2g}."
