"""Commands that change drafts: init, edit, draft, tool."""

import os
import shlex
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from beleg.cli.contract import look, place
from beleg.cli.contract import show as shown
from beleg.cli.contract.place import By, FeatureName
from beleg.cli.options import Json
from beleg.cli.output import print_json
from beleg.core.errors import UsageError

FILES = {
    "prompt": "prompt.md",
    "schema": "output.schema.json",
    "tools": "tools.yaml",
    "providers": "providers.yaml",
    "evals": "evals.yaml",
    "examples": "examples.yaml",
    "change": "change.yaml",
}


def init(
    name: FeatureName,
    *,
    workflow: Annotated[str, typer.Option(help="The workflow it serves, as traces name it.")],
    title: Annotated[str | None, typer.Option(help="Its name for people.")] = None,
    owner: Annotated[str | None, typer.Option(help="Who answers for it; default: you.")] = None,
    tier: Annotated[int, typer.Option(min=1, max=3, help="Risk tier, 1 (low) to 3 (high).")] = 1,
    by: By = None,
    json: Json = False,
) -> None:
    """Write the first draft of a feature: contracts/features/FEATURE.

    Example: beleg contract init receipt-extraction --workflow ocr
    """
    from beleg.contract.skeleton import create

    who = place.person(by)
    made = create(
        place.project(),
        name,
        title=title or name.replace("-", " ").capitalize(),
        workflow=workflow,
        owner=owner or who,
        risk_tier=tier,  # type: ignore[arg-type]
        author=who,
    )
    _drafted(made.draft, f"edit it, then: beleg contract status {name}", json=json)


def edit(
    name: FeatureName,
    part: Annotated[str, typer.Argument(help=f"What to edit: {', '.join(FILES)}.")] = "prompt",
    json: Json = False,
) -> None:
    """Open one part of a draft in your editor ($VISUAL, $EDITOR), then check it.

    Example: beleg contract edit receipt-extraction schema
    """
    from beleg.contract.lifecycle import check_changeable

    feature = place.feature(name)
    check_changeable(place.registry().head(name))
    if part not in FILES:
        raise UsageError(f"{part!r} is no part of a draft; there are: {', '.join(FILES)}")
    if not feature.draft.is_dir():
        raise UsageError(f"{name} has no draft; make one with: beleg contract draft {name}")
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        done = subprocess.run([*editor, str(feature.draft / FILES[part])], check=False)
    except OSError as error:
        raise UsageError(f"the editor {editor[0]!r} cannot be started: {error.strerror}; set EDITOR") from error
    if done.returncode:
        raise UsageError(f"the editor {editor[0]!r} ended with {done.returncode}; the draft is as it left it")
    found = look.readiness(feature)
    if json:
        print_json({"schema_version": 1, "feature": name, "readiness": found.to_dict()})
    else:
        shown.readiness(found)


def draft(name: FeatureName, by: By = None, json: Json = False) -> None:
    """Make a new draft from the active version; one that was edited is never overwritten.

    Example: beleg contract draft receipt-extraction
    """
    from beleg.contract.lifecycle import new_draft

    feature = place.feature(name)
    new_draft(place.registry(), feature, author=place.person(by))
    _drafted(feature.draft, f"edit it, then: beleg contract diff {name}", json=json)


def tool(
    file: Annotated[Path, typer.Argument(help="YAML with `tools`: name, version, description, input_schema, binding.")],
    json: Json = False,
) -> None:
    """Add versions of tools to the catalogue and print the pins that drafts name; a version never changes.

    Example: beleg contract tool tools/bookings.yaml
    """
    from beleg.contract import toolfile
    from beleg.contract.tools import pin

    registry, rows = place.registry(), []
    for values in toolfile.read(file):
        registry.write_tool(**values)
        digest = pin(values["name"], values["version"], values["description"], values["input_schema"])
        rows.append(
            {"name": values["name"], "version": values["version"], "binding": values["binding"], "digest": digest}
        )
    if json:
        print_json({"schema_version": 1, "tools": rows})
        return
    for row in rows:
        shown.say(f"{row['name']} {row['version']}  ", (row["digest"], "bold"), "  binding" if row["binding"] else "")


def _drafted(folder: Path, then: str, *, json: bool) -> None:
    if json:
        print_json({"schema_version": 1, "draft": str(folder)})
        return
    shown.say(f"wrote {folder}; {then}")
