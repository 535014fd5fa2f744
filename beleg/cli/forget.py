"""`beleg forget`: removes what leads back to a document, a tenant or a person."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from beleg.cli.options import Json
from beleg.cli.output import console, print_json, show_rows
from beleg.core.errors import UsageError
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.retention.forget import Forgetting


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("forget")(forget)


def forget(
    *,
    ref: Annotated[str | None, typer.Option(help="An input_ref: the key into your own system.")] = None,
    tenant: Annotated[str | None, typer.Option(help="A tenant; its own key is destroyed as well.")] = None,
    person: Annotated[str | None, typer.Option(help="The author_hash of a person.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what it would change, and change nothing.")] = False,
    json: Json = False,
) -> None:
    """Forget a reference, a tenant or a person, at once and everywhere below the home. Cannot be undone.

    References, fingerprints, labels, contents and names go; money and counts stay, so no figure changes.
    The same events will not bring it back. Files outside the home are yours to delete.

    Example: beleg forget --ref invoice-4711 --dry-run
    """
    from beleg.lake.forgotten import Kind
    from beleg.retention.forget import forget as do

    asked: dict[Kind, str | None] = {"ref": ref, "tenant": tenant, "person": person}
    given = [(kind, value) for kind, value in asked.items() if value is not None]
    if len(given) != 1:
        msg = "give exactly one of --ref, --tenant and --person"
        raise UsageError(msg)
    ((kind, value),) = given
    done = do(Settings.load(), kind, value, dry_run=dry_run)
    if json:
        print_json({"schema_version": 1, **asdict(done)})
    else:
        _show(done)
    if done.left:
        raise typer.Exit(1)


def _show(done: "Forgetting") -> None:
    title = f"{'Would forget' if done.dry_run else 'Forgot'} the {done.kind}"
    show_rows(title, ("table", "rows"), list(done.rows.items()), numbers=("rows",))
    out = console()
    if not done.dry_run:
        out.print(
            f"Spool lines: {done.spool_lines}; lines of evaluations: {done.answers}; "
            f"reports removed: {len(done.reports)}; key: {done.key or '—'}."
        )
    for word in (*done.notes, *done.left):
        out.print(word)
