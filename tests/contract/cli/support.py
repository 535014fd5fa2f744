"""What the tests of the commands do to a draft."""

import json
from pathlib import Path
from typing import Any

import yaml

from beleg.cli.main import app
from tests.invoke import run

NAME = "expense-note"


def asked(*words: str) -> Any:
    """What a command answers as JSON."""
    return json.loads(run(app, *words, "--json").stdout)


def edit_schema(feature: Path, **properties: Any) -> None:
    """Add properties to the draft's output schema; None takes one away."""
    path = feature / "draft" / "output.schema.json"
    schema = json.loads(path.read_text())
    for name, value in properties.items():
        if value is None:
            del schema["properties"][name]
            schema["required"] = [each for each in schema["required"] if each != name]
        else:
            schema["properties"][name] = value
    path.write_text(json.dumps(schema))


def note(feature: Path, text: str, **more: Any) -> None:
    """Write the draft's change note."""
    values = {"author": "Ada Berg", "change_note": text, **more}
    (feature / "draft" / "change.yaml").write_text(yaml.safe_dump(values))
