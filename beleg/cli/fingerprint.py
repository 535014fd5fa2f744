"""`beleg fingerprint`: the fingerprint of a file's JSON, or of its bytes."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fingerprint")(fingerprint)


def fingerprint(
    file: Annotated[Path, typer.Argument(help="A file with JSON; - reads standard input.", allow_dash=True)],
    key: Annotated[str | None, typer.Option(help="Id of a key in BELEG_HASH_KEYS: a keyed fingerprint.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the fingerprint of a JSON value: 64 hex digits, the same in any language (RFC 8785).

    Example: beleg fingerprint invoice.json
    """
    from beleg.trace.canon_types import NotCanonicalError
    from beleg.trace.fingerprint import full_fingerprint
    from beleg.trace.keys import KeyRingError, key_ring

    try:
        found = full_fingerprint(_load(file), key_ring().key(key) if key is not None else None)
    except (OSError, ValueError, KeyError, NotCanonicalError, KeyRingError) as error:
        typer.echo(f"{file}: {error.args[0] if error.args else error}", err=True)
        raise typer.Exit(2 if isinstance(error, KeyError | KeyRingError | FileNotFoundError) else 4) from error
    if as_json:
        typer.echo(json.dumps(found._asdict()))
    else:
        typer.echo(found.digest)


def _load(file: Path) -> Any:
    data = typer.get_binary_stream("stdin").read() if str(file) == "-" else file.read_bytes()
    return json.loads(data.decode("utf-8"), object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """RFC 8785 refuses objects that name a member twice: which one counts would be a guess."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("an object names a member twice; JSON with duplicate keys has no fingerprint")
    return made
