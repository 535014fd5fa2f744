"""`beleg eval`: runs an evaluation, takes in results made elsewhere, hands cases out."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.contract import place
from beleg.cli.contract.place import FeatureName
from beleg.cli.ingest import progress_bar
from beleg.cli.options import MOST, Json
from beleg.cli.output import console, print_json, show_rows
from beleg.core.errors import UsageError
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.evals.exchange.take import Taken
    from beleg.evals.scoring.order import Report

PARTIAL = 3
"""Exit code of a run that has answers still to come."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    noun = typer.Typer(help="Answers of versions to frozen cases, scored.", no_args_is_help=True)
    commands: dict[str, Callable[..., None]] = {"run": run, "import": import_, "export": export}
    for name, command in commands.items():
        noun.command(name)(command)
    app.add_typer(noun, name="eval")


def run(
    feature: FeatureName,
    *,
    candidate: Annotated[str, typer.Option(help="`draft`, or a released version.")] = "draft",
    baseline: Annotated[str, typer.Option(help="A released version, `active` or `none`.")] = "active",
    repeat: Annotated[int | None, typer.Option(min=1, max=MOST, help="Answers per case and version.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=MOST, help="Calls at the same time.")] = None,
    max_cost_usd: Annotated[str | None, typer.Option(help="Stop before more is spent, for example 5.00.")] = None,
    cases: Annotated[list[str] | None, typer.Option(help="Only this case; may be given several times.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Ask again what was answered already.")] = False,
    fallbacks: Annotated[
        bool, typer.Option("--fallbacks", help="Have each fallback answer too, in the primary's place.")
    ] = False,
    json: Json = False,
) -> None:
    """Have candidate and baseline answer the frozen cases, and score the answers.

    What was answered already is not asked again, also after a kill. Exit code 3: answers are still to come.

    Example: beleg eval run receipt-extraction --repeat 3 --max-cost-usd 2.50
    """
    from beleg.evals.scoring.order import Order
    from beleg.evals.scoring.run import run as carry_out

    limit = None if max_cost_usd is None else _pico(max_cost_usd)
    order = Order(feature, candidate, baseline, repeat, workers, limit, tuple(cases or ()), again, fallbacks)
    with progress_bar(show=not json) as show:
        report = carry_out(Settings.load(), place.registry(), order, on_progress=show)
    if json:
        print_json(_document(report))
    else:
        _tell(report)
        if fallbacks and not report.fallbacks:
            console().print("No fallback was asked: the candidate has none, or none but its baseline.")
    if report.state != "complete":
        raise typer.Exit(PARTIAL)


def import_(
    file: Annotated[Path, typer.Argument(help="The file with the answers.")],
    *,
    feature: Annotated[str, typer.Option(help="The feature whose answers they are.")],
    format: Annotated[str, typer.Option(help="inspect, csv, promptfoo or deepeval.")],
    dataset: Annotated[str | None, typer.Option(help="The cases; default: those that the contract names.")] = None,
    version: Annotated[str | None, typer.Option(help="The version that answered: `draft` or a released one.")] = None,
    digest: Annotated[str | None, typer.Option(help="Or the digest of its contract.")] = None,
    variant: Annotated[str | None, typer.Option(help="Which answers, where the file holds several per case.")] = None,
    first_object: Annotated[
        bool, typer.Option("--first-object", help="Take the first JSON object out of the words around it.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Replace answers that are there already.")] = False,
    json: Json = False,
) -> None:
    """Score answers that were given elsewhere: a CSV, a log of Inspect, an output of promptfoo or DeepEval.

    Example: beleg eval import answers.csv --format csv --feature receipt-extraction --version draft
    """
    from beleg.evals.exchange.take import Delivery, take

    delivery = Delivery(file, format, feature, dataset, version, digest, variant, first_object, again)
    taken = take(Settings.load(), place.registry(), delivery)
    if json:
        print_json({"schema_version": 1, **taken.document()})
    else:
        _tell_taken(taken)


def export(
    dataset: Annotated[str, typer.Argument(help="Name of the dataset.")],
    *,
    format: Annotated[str, typer.Option(help="inspect, promptfoo or langfuse.")],
    output: Annotated[Path | None, typer.Option(help="The file to write; default: standard output.")] = None,
    json: Json = False,
) -> None:
    """Hand cases to another tool: references and right values, hashed ones as hashes; inputs stay where they are.

    Example: beleg eval export receipts-2026-08 --format inspect --output cases.jsonl
    """
    from beleg.core.files import replace_text
    from beleg.evals.exchange.give import give

    text = give(Settings.load(), place.project(), dataset, format)
    if output is not None:
        replace_text(output, text)
    if json:
        print_json({"schema_version": 1, "format": format, "file": output, "text": text if output is None else None})
    elif output is None:
        typer.echo(text, nl=False)


def _pico(text: str) -> int:
    from beleg.cost.money import parse_usd, pico_usd

    try:
        return pico_usd(parse_usd(text))
    except ValueError as error:
        raise UsageError(f"--max-cost-usd: {error}") from error


def _document(report: "Report") -> dict[str, Any]:
    from beleg.cost.money import exact_usd_text

    sides = {"candidate": report.candidate, "baseline": report.baseline}
    return {
        "schema_version": 1,
        "state": report.state,
        "dataset": {"name": report.dataset.name, "version": report.dataset.version, "digest": report.dataset.digest},
        **{
            side: None if each is None else {"version": each.version, "digest": each.digest}
            for side, each in sides.items()
        },
        "planned": report.planned,
        "before": report.before,
        "answered": report.answered,
        "left": report.left,
        "failed": report.failed,
        "unusable": [
            {"case_id": each.case_id, "status": each.status, "reason": each.reason}
            for each in sorted(report.unusable.values(), key=lambda each: each.case_id)
        ],
        "stale": len(report.stale),
        "fallbacks": [
            {
                "provider": each.provider.provider,
                "model": each.provider.model,
                "name": each.name,
                "digest": each.contender.digest,
                "planned": each.planned,
                "before": each.before,
                "answered": each.answered,
                "left_out": each.left_out,
            }
            for each in report.fallbacks
        ],
        "cost_usd": exact_usd_text(report.cost_pico_usd),
        "unpriced": report.unpriced,
    }


_STOPS = {
    "budget": "The budget is used up; the same command with more goes on from here.",
    "unpriced": "The cost of an answer is unknown, so a budget cannot be kept: give the model a price in models.yaml, "
    "or leave the budget out.",
    "interrupted": "Interrupted; the same command goes on from here.",
}


def _tell(report: "Report") -> None:
    from beleg.cost.money import usd_text

    out = console()
    against = "no baseline" if report.baseline is None else f"against {report.baseline.version}"
    name = f"{report.dataset.name} version {report.dataset.version}"
    out.print(f"{report.candidate.version} {against} on {name} ({report.dataset.digest[:12]})")
    out.print(
        f"{report.answered:,} answers of {report.planned:,} ({report.before:,} were there before, {report.left:,} are "
        f"left), {usd_text(report.cost_pico_usd)} USD"
    )
    for fallback in report.fallbacks:
        counts = f"{fallback.answered:,} answers of {fallback.planned:,} ({fallback.before:,} were there before)"
        why = "" if fallback.left_out is None else f"; left out: {fallback.left_out}"
        out.print(f"{fallback.name}: {counts}{why}")
    if report.unpriced:
        out.print(f"{report.unpriced:,} answers have no known cost")
    for reason, count in sorted(report.failed.items()):
        out.print(f"failed {count:,}: {reason}")
    if report.unusable:
        rows = [[each.case_id, each.status, each.reason] for each in report.unusable.values()]
        show_rows(f"{len(rows)} cases could not be asked", ("case_id", "status", "reason"), sorted(rows))
    out.print(_STOPS.get(report.state, "Take the results in with `beleg run`, then `beleg gate` judges them."))


def _tell_taken(taken: "Taken") -> None:
    out = console()
    out.print(f"{taken.answers:,} answers of {taken.digest[:12]} taken in: {taken.failed:,} failed, {taken.missing:,} "
              f"not run, {taken.stale:,} stale; {taken.unchanged:,} were there already")  # fmt: skip
    if taken.unknown:
        shown = ", ".join(taken.unknown[:5])
        out.print(f"{len(taken.unknown):,} rows belong to no case of the dataset: {shown}")
    out.print("Take the results in with `beleg run`, then `beleg gate` judges them.")
