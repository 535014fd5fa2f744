"""`beleg demo`: the whole pipeline over some weeks of a made-up company, from nothing to the report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.options import MOST, Json
from beleg.cli.output import console, print_json, table
from beleg.core.errors import CheckFailed

if TYPE_CHECKING:
    from rich.console import Console

    from beleg.demo.play import Played


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    runs: Annotated[int, typer.Option(min=1, max=MOST, help="Agent runs to make.")] = 20_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same events.")] = 1,
    home: Annotated[
        Path, typer.Option(help="Folder of the demo; an earlier demo in it is removed, anything else is left alone.")
    ] = Path(".beleg/demo"),
    json: Json = False,
) -> None:
    """Make five weeks of a made-up company's agent runs, price them and write the report.

    Example: beleg demo --runs 100000
    """
    from beleg.cli.ingest import progress_bar
    from beleg.demo.play import play

    with progress_bar(show=not json) as show:
        played = play(home, runs=runs, seed=seed, on_progress=show)
    tell(played, json=json)


def tell(played: "Played", *, json: bool) -> None:
    """Show what a demo found; raises CheckFailed where that is not what was known beforehand."""
    if json:
        print_json(_record(played))
    else:
        _tell(played, console())
    wrong = [check.what for check in played.checks if not check.holds]
    if wrong:
        msg = f"the pipeline found other answers than the known ones for {', '.join(wrong)}: please report this"
        raise CheckFailed(msg)


def _record(played: "Played") -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "schema_version": 1,
        "synthetic": True,
        "home": played.settings.home,
        "report": played.report,
        "known": played.summary.as_dict(),
        "ingest": asdict(played.flow.ingest),
        "gate": asdict(played.gate),
        "checks": {check.what: check.holds for check in played.checks},
        "unit_costs": [line.record() for line in played.unit_costs],
        "flags": played.flags,
        "reconciliation": played.reconciliation,
    }


def _tell(played: "Played", out: "Console") -> None:
    taken = played.flow.ingest
    out.print("Synthetic data: a made-up company's agent runs; nothing in it is real.\n")
    out.print(f"{played.summary.runs:,} runs in {taken.read:,} lines of {taken.files:,} files:")
    out.print(f"  {taken.accepted:,} accepted ({taken.duplicates:,} duplicates, {taken.superseded:,} superseded)")
    out.print(f"  {taken.quarantined:,} refused, {taken.pending:,} still being written\n")
    for part in (_unit_costs(played), _flags(played), _quarantine(played), _reconciliation(played), _gate(played)):
        out.print(part)
        out.print()
    held = sum(check.holds for check in played.checks)
    out.print(f"{held} of {len(played.checks)} answers known beforehand were found exactly:")
    out.print("  " + ", ".join(check.what for check in played.checks) + "\n")
    out.print(f"Report: {played.report}", soft_wrap=True)
    out.print(f"Gate:   {played.gate.page}", soft_wrap=True)
    out.print("Your own data: beleg ingest PATH", soft_wrap=True)


def _unit_costs(played: "Played") -> Any:
    rows = []
    for line in played.unit_costs:
        known = line.record()
        cells = [line.group["workflow"], known["cost_usd"], line.unpriced_steps, f"{line.runs:,}", f"{line.results:,}"]
        rows.append([*cells, known["unit_cost_usd"], line.unit_label])
    columns = ["workflow", "cost usd", "unpriced", "runs", "results", "unit cost usd", "per"]
    title = "What a result costs (cost of all runs; unit cost of production)"
    return table(title, columns, rows, numbers=columns[1:6])


def _flags(played: "Played") -> Any:
    rows = [[row["kind"], row["workflow"], row["flags"], row["first_day"], row["last_day"]] for row in played.flags]
    return table("Flags", ["kind", "workflow", "flags", "first day", "last day"], rows, numbers=["flags"])


def _quarantine(played: "Played") -> Any:
    from beleg.ingest.reasons import REASONS

    found = played.flow.ingest.quarantined_by_reason
    rows = [[reason, lines, REASONS.get(reason)] for reason, lines in found.items()]
    return table("Quarantine", ["reason", "lines", "meaning"], rows, numbers=["lines"])


def _reconciliation(played: "Played") -> Any:
    from beleg.cost.money import usd_text

    rows = []
    for row in played.reconciliation:
        amounts = (usd_text(int(row[f"{name}_pico_usd"])) for name in ("billed", "computed", "difference"))
        rows.append([row["provider"], row["model"], row["compared_steps"], row["equal_steps"], *amounts])
    columns = ["provider", "model", "calls", "equal", "billed usd", "computed usd", "difference usd"]
    return table("Billed against computed", columns, rows, numbers=columns[2:])


def _gate(played: "Played") -> Any:
    gate = played.gate
    title = f"Gate on the draft of receipt extraction: {gate.verdict} over {gate.cases} cases"
    return table(title, ["criterion", "verdict"], [[name, verdict] for name, verdict in gate.criteria.items()])
