"""`beleg correct`: what a person says of a run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from beleg.cli.options import Json
from beleg.cli.output import console, print_json
from beleg.core.errors import UsageError
from beleg.core.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("correct")(correct)


def correct(
    run_id: Annotated[str | None, typer.Argument(help="The run that made the result.")] = None,
    *,
    field: Annotated[str | None, typer.Option(help='JSON pointer of what was wrong; "" is the whole result.')] = None,
    reason: Annotated[
        str | None, typer.Option(help="extraction_error, mapping_bug, unsupported_case or user_preference.")
    ] = None,
    expected: Annotated[str | None, typer.Option(help="The right value: JSON where it is JSON, else text.")] = None,
    text: Annotated[bool, typer.Option("--text", help="Take the right value as text, 4400 too.")] = False,
    by: Annotated[str | None, typer.Option(help="Who says so; stored as a fingerprint.")] = None,
    rating: Annotated[str | None, typer.Option(help="like or dislike, in place of a correction.")] = None,
    input_hash: Annotated[
        str | None, typer.Option(help="Fingerprint of the run's input, where its id is gone.")
    ] = None,
    output_hash: Annotated[str | None, typer.Option(help="Fingerprint of the run's result.")] = None,
    ref: Annotated[str | None, typer.Option(help="input_ref: the key into your own system.")] = None,
    workflow: Annotated[str | None, typer.Option(help="Workflow of the run, where its id is gone.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Tenant of the run, where its id is gone.")] = None,
    supersedes: Annotated[str | None, typer.Option(help="Correction that this one replaces.")] = None,
    sheet: Annotated[Path | None, typer.Option(help="A CSV with a correction in each row.")] = None,
    json: Json = False,
) -> None:
    """Say what was wrong with a result, or like or dislike it; `beleg run` takes it in.

    Example: beleg correct 0198f2aa-7c1e-7000-8000-000000000001 --field /gross --reason extraction_error
    --expected 119.00 --by anna

    A sheet has the columns run_id, or input_hash, output_hash or input_ref, and field, reason, expected, author;
    rows that cannot be taken are named and make the command end with 1.
    """
    from beleg.evals.findings.saying import UNKNOWN, Desk, Word, value_of

    said: dict[str, Any] = {
        "run_id": run_id,
        "input_hash": input_hash,
        "output_hash": output_hash,
        "input_ref": ref,
        "workflow": workflow,
        "tenant": tenant,
        "field": field,
        "reason": reason,
        "supersedes": supersedes,
        "rating": rating,
        "author": by,
    }
    desk = Desk(Settings.load())
    if sheet is not None:
        if expected is not None or any(value is not None for value in said.values()):
            raise UsageError("a sheet says everything itself; leave the other options out")
        _sheet(desk, sheet, as_text=text, json=json)
        return
    word = Word(**said, expected=UNKNOWN if expected is None else value_of(expected, as_text=text))
    desk.look_up([word])
    id_ = desk.take(word)
    desk.write()
    known = desk.is_known(word)
    if json:
        print_json({"schema_version": 1, "id": id_, "run_is_published": known if run_id else None})
        return
    out = console()
    out.print(f"{'Rating' if rating else 'Correction'} {id_} was written; `beleg run` takes it in.")
    if not known:
        out.print("No run of that id is published yet: it is bound when one is.")


def _sheet(desk: Any, path: Path, *, as_text: bool, json: bool) -> None:
    from beleg.evals.findings.sheet import take

    taken = take(desk, path, as_text=as_text)
    if json:
        refused = [row._asdict() for row in taken.refused]
        told = {"corrections": list(taken.ids), "refused": refused, "runs_not_published": taken.unknown_runs}
        print_json({"schema_version": 1, **told})
    else:
        out = console()
        out.print(f"{len(taken.ids)} corrections were written; `beleg run` takes them in.")
        if taken.unknown_runs:
            out.print(f"{taken.unknown_runs} of them name runs that are not published yet: they are bound when one is.")
        for row in taken.refused:
            out.print(f"line {row.line}: {row.reason}")
    if taken.refused:
        raise typer.Exit(1)
