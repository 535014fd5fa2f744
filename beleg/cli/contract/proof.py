"""Commands that prove what was released, and hand it on: verify, export, push."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beleg.cli.contract import look, place
from beleg.cli.contract import show as shown
from beleg.cli.contract.place import FeatureName
from beleg.cli.options import Json
from beleg.cli.output import json_text, print_json
from beleg.core.errors import DamagedError, UsageError
from beleg.core.files import replace_text

if TYPE_CHECKING:
    from beleg.contract.draft import Feature


def verify(json: Json = False) -> None:
    """Prove the registry: digests, history, heads, and that no contract holds a binding tool. Exit code 4 if not.

    Example: beleg contract verify
    """
    from beleg.contract.registry.verify import verify as proved

    found = proved(place.registry())
    if json:
        print_json({"schema_version": 1, **found.to_dict()})
    else:
        for each in found.problems:
            shown.say(("✗", "bold red"), f" {each.feature}  {each.what}", (f"  {each.path}", "dim"))
        for each in found.notes:
            shown.say(("·", "dim"), f" {each.feature}  {each.what}", (f"  {each.path}", "dim"))
        shown.say(
            f"{found.features} features, {found.releases} versions, {found.tools} tools in them, none of them binding"
            if found.proved
            else f"{len(found.problems)} problems"
        )
    if not found.proved:
        raise DamagedError("the registry is not as it was written; restore it from a backup or a mirror")


def export(
    name: FeatureName,
    version: Annotated[str | None, typer.Option(help="A published version; default: the active one.")] = None,
    compliance: Annotated[
        bool, typer.Option("--compliance", help="The dossier: tiers, versions, approvals, evidence, proofs.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="A file to write instead of standard output.")] = None,
    json: Annotated[bool, typer.Option("--json", help="As always: the answer is JSON in any case.")] = True,  # noqa: ARG001
) -> None:
    """Write a released contract, or a feature's dossier for an auditor, as JSON.

    Example: beleg contract export vat-return-preparation --compliance --out dossier.json
    """
    from beleg.contract.compliance import dossier

    if compliance:
        if version is not None:
            raise UsageError("--compliance is about all versions; leave --version out")
        value = dossier(place.registry(), name, _known(name))
    else:
        release = look.release_of(name, version)
        value = {
            "schema_version": 1,
            "version": release.version,
            "digest": release.digest,
            "contract": dict(release.document),
        }
    text = json_text(value)
    if out is None:
        typer.echo(text, nl=False)
    else:
        replace_text(out, text)


def _known(name: str) -> "Feature | None":
    try:
        return place.feature(name)
    except UsageError:
        return None  # the registry knows features whose project is elsewhere


def push(
    destination: Annotated[str, typer.Argument(help="A folder or any fsspec URL, for example s3://bucket/registry.")],
    json: Json = False,
) -> None:
    """Send the registry to where applications read it; heads last, so that readers never see half of it.

    Example: beleg contract push s3://bucket/registry
    """
    from beleg.contract.registry.mirror import push as send

    done = send(place.registry(), destination)
    if json:
        print_json({"schema_version": 1, **vars(done)})
        return
    shown.say(f"{done.files} files, {done.bytes:,} bytes sent; {done.heads} heads moved")
