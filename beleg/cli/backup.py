"""`beleg backup` and `beleg restore`: an installation to another place, and back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.options import MOST, Csv, Json
from beleg.cli.output import console, print_csv, print_json, show_rows
from beleg.core.errors import UsageError
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.backup.manifest import Manifest


FIELDS = ("backup", "publication", "files", "bytes", "lake_format", "beleg_version")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("backup")(backup)
    app.command("restore")(restore)


def backup(
    target: Annotated[str, typer.Argument(help="Folder or fsspec URL, for example s3://bucket/beleg.")],
    *,
    spool: Annotated[
        bool, typer.Option("--spool", help="The spool as well, for which the rest stands otherwise.")
    ] = False,
    keep: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="Remove all but the newest N backups afterwards.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Read everything back and compare it.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Make none; list what is there, oldest first.")] = False,
    json: Json = False,
    csv: Csv = False,
) -> None:
    """Back up lake, ledger and registry as of now, beside a running pipeline; copies only what is new.

    Killed in the middle it leaves no backup, and the next call goes on from there.

    Example: beleg backup s3://bucket/beleg --keep 30
    """
    from beleg.backup import make, manifest
    from beleg.backup.store import store_at
    from beleg.cli.ingest import progress_bar

    if list_:
        store = store_at(target)
        _list([manifest.read(store, name) for name in manifest.names(store).values()], json=json, csv=csv)
        return
    if csv:
        raise UsageError("--csv prints the list of backups: give --list as well")
    with progress_bar(show=not json) as show:
        done = make.backup(Settings.load(), target, spool=spool, keep=keep, verify=verify, on_progress=show)
    if json:
        copied = {"copied_files": done.copied, "copied_bytes": done.copied_bytes, "removed": done.removed}
        print_json({"schema_version": 1, **_record(done.manifest), **copied})
        return
    made = done.manifest
    out = console()
    out.print(
        f"backup {made.id} of publication {made.publication}: {len(made.files):,} files, {made.size_bytes:,} bytes"
    )
    out.print(f"copied {done.copied:,} files, {done.copied_bytes:,} bytes; the rest was there already")
    if done.removed:
        out.print(f"removed {len(done.removed):,} older backups: {', '.join(done.removed)}")


def restore(
    source: Annotated[str, typer.Argument(help="Folder or fsspec URL that `beleg backup` wrote to.")],
    into: Annotated[Path | None, typer.Option(help="Folder of the installation; default BELEG_HOME.")] = None,
    backup_id: Annotated[str | None, typer.Option("--backup", help="Id of a backup; default the newest.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Put what is there already aside.")] = False,
    json: Json = False,
) -> None:
    """Bring an installation back, compared byte for byte before anything is changed; the spool stays as it is.

    Example: beleg restore s3://bucket/beleg --into /srv/beleg
    """
    from beleg.backup.restore import restore as bring_back
    from beleg.cli.ingest import progress_bar

    settings = Settings.load() if into is None else _settings_at(into)
    with progress_bar(show=not json) as show:
        done = bring_back(settings, source, backup_id=backup_id, replace=replace, on_progress=show)
    if json:
        told = {"home": done.home, "put_aside": done.put_aside, "forgets_undone": done.forgets_undone}
        print_json({"schema_version": 1, **_record(done.manifest), **told})
        return
    made, out = done.manifest, console()
    out.print(f"restored backup {made.id} into {done.home}: publication {made.publication}, {len(made.files):,} files")
    if done.put_aside is not None:
        out.print(f"what was there before lies in {done.put_aside}; delete it when you need it no more", soft_wrap=True)
    for forgotten in done.forgets_undone:
        out.print(f"came back with the backup, `beleg forget` it again: {forgotten}")
    out.print("`beleg run` goes on from here with what the spool holds")


def _settings_at(home: Path) -> Settings:
    """The settings of an installation elsewhere, its spool included."""
    import os

    return Settings.load({k: v for k, v in os.environ.items() if k != "BELEG_SPOOL"} | {"BELEG_HOME": str(home)})


def _list(backups: "list[Manifest]", *, json: bool, csv: bool) -> None:
    if csv:
        print_csv([_record(made) for made in backups], FIELDS)
        return
    if json:
        print_json({"schema_version": 1, "backups": [_record(made) for made in backups]})
        return
    columns = ["backup", "publication", "files", "bytes", "format", "release"]
    rows = [[m.id, m.publication, len(m.files), m.size_bytes, m.lake_format, m.beleg_version] for m in backups]
    show_rows("Backups", columns, rows, numbers=columns[1:5])


def _record(made: "Manifest") -> dict[str, Any]:
    return {
        "backup": made.id,
        "publication": made.publication,
        "files": len(made.files),
        "bytes": made.size_bytes,
        "lake_format": made.lake_format,
        "beleg_version": made.beleg_version,
    }
