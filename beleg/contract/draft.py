"""A feature on disk, as a domain expert edits it: `contracts/features/<feature>/`.

feature.yaml          who owns it, which workflow it serves, how risky it is
draft/prompt.md       variables and samples in the front matter; `# System` and `# User` below
draft/output.schema.json
draft/tools.yaml  providers.yaml  evals.yaml  examples.yaml  change.yaml
draft/budget.yaml     where the feature has one
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from beleg.contract import document as documents
from beleg.contract.document import ContractError
from beleg.contract.model import Contract
from beleg.core import yamlfile
from beleg.core.errors import UsageError

_FRONT = re.compile(r"\A---\n(.*?)^---[ \t]*\n", re.DOTALL | re.MULTILINE)
_ROLE = re.compile(r"^# (System|User)[ \t]*\n", re.MULTILINE)
PARTS = {
    "prompt.md": "prompt",
    "output.schema.json": "output_schema",
    "tools.yaml": "tools",
    "providers.yaml": "providers",
    "evals.yaml": "evals",
    "examples.yaml": "examples",
    "change.yaml": "change",
    "budget.yaml": "budget",
}
"""File of a draft → part of the contract."""


@dataclass(frozen=True)
class Feature:
    """What does not change from version to version (`feature.yaml`)."""

    name: str
    folder: Path
    title: str
    workflow: str
    owner: str
    risk_owner: str | None = None
    """The person whose approval tier 3 asks for by name."""
    description: str = ""

    @property
    def draft(self) -> Path:
        """Folder of the draft's files."""
        return self.folder / "draft"


def features(project: Path) -> list[Feature]:
    """Every feature of a project, by name."""
    return [feature(path.parent) for path in sorted((project / "contracts" / "features").glob("*/feature.yaml"))]


def find(project: Path, name: str) -> Feature:
    """The feature called `name`; raises UsageError that lists those there are."""
    found = {each.name: each for each in features(project)}
    if name not in found:
        raise UsageError(f"no feature {name!r} under contracts/features; there are: {', '.join(found) or 'none'}")
    return found[name]


def feature(folder: Path) -> Feature:
    """Read `feature.yaml`; raises UsageError for what is missing or unknown."""
    values = _yaml(folder / "feature.yaml")
    governance = {"risk_tier", "governance"}
    known = {"title", "workflow", "owner", "risk_owner", "description"} | governance
    if unknown := sorted(set(values) - known):
        raise UsageError(
            f"{folder.name}/feature.yaml: unknown {', '.join(unknown)}; allowed: {', '.join(sorted(known))}"
        )
    for name in ("title", "workflow", "owner"):
        if not isinstance(values.get(name), str) or not values[name]:
            raise UsageError(f"{folder.name}/feature.yaml: {name} is missing; write {name}: <text>")
    return Feature(folder.name, folder, **{name: value for name, value in values.items() if name not in governance})


def read(feature: Feature) -> Contract:
    """The draft as a contract; raises UsageError or ContractError that names file and place."""
    if not feature.draft.is_dir():
        raise UsageError(f"{feature.name} has no draft; make one with: beleg contract draft {feature.name}")
    own = _yaml(feature.folder / "feature.yaml")
    whole = {
        "contract_format": documents.FORMAT,
        "feature": feature.name,
        "risk_tier": own.get("risk_tier"),
        "prompt": prompt(_text(feature.draft / "prompt.md")),
        "output_schema": _json(feature.draft / "output.schema.json"),
        "providers": _yaml(feature.draft / "providers.yaml"),
        "evals": _yaml(feature.draft / "evals.yaml"),
        "tools": _yaml(feature.draft / "tools.yaml", optional=True).get("tools", []),
        "examples": _yaml(feature.draft / "examples.yaml", optional=True).get("examples", []),
        "governance": own.get("governance", {}),
        "workflow": feature.workflow,
        **({"risk_owner": feature.risk_owner} if feature.risk_owner else {}),
        **_yaml(feature.draft / "change.yaml", optional=True),
    }
    if budget := _yaml(feature.draft / "budget.yaml", optional=True):
        whole["budget"] = budget
    try:
        values = json.loads(json.dumps(whole, default=str, allow_nan=False))
    except ValueError as error:
        raise ContractError([f"{feature.name}: {error}; NaN and infinity are no JSON"]) from error
    try:
        return documents.contract(values)
    except ContractError as error:
        raise ContractError([f"{feature.name}/draft: {each}" for each in error.problems]) from error


def prompt(text: str) -> dict[str, Any]:
    """The prompt part of a document from the text of `prompt.md`."""
    front = _FRONT.match(text)
    values = _parsed(front[1], "prompt.md") if front else {}
    pieces = _ROLE.split(text[front.end() if front else 0 :])
    roles = {"System": pieces[0].strip(), "User": ""}
    for role, body in zip(pieces[1::2], pieces[2::2], strict=True):
        roles[role] = "\n\n".join(part for part in (roles[role], body.strip()) if part)
    return {"system": roles["System"], "user": roles["User"], **values}


def write(contract: Contract, folder: Path) -> None:
    """Write a contract as a draft's files; a new draft inherits the active version this way."""
    whole = contract.document()
    folder.mkdir(parents=True, exist_ok=True)
    part = whole["prompt"]
    front = _dump({"variables": part["variables"], "samples": part["samples"]})
    body = f"---\n{front}---\n# System\n{part['system']}\n\n# User\n{part['user']}\n"
    (folder / "prompt.md").write_text(body, encoding="utf-8")
    schema = json.dumps(whole["output_schema"], ensure_ascii=False, indent=2)
    (folder / "output.schema.json").write_text(schema + "\n", encoding="utf-8")
    for name in ("tools", "examples"):
        (folder / f"{name}.yaml").write_text(_dump({name: whole[name]}), encoding="utf-8")
    for name in ("providers", "evals"):
        (folder / f"{name}.yaml").write_text(_dump(whole[name]), encoding="utf-8")
    if "budget" in whole:
        (folder / "budget.yaml").write_text(_dump(whole["budget"]), encoding="utf-8")
    (folder / "change.yaml").write_text(
        _dump({"author": whole["author"], "change_note": whole["change_note"]}), encoding="utf-8"
    )


def _dump(values: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(values), sort_keys=False, allow_unicode=True, width=110))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError as error:
        raise UsageError(f"{_short(path)} is missing") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{_short(path)} is not UTF-8: byte {error.start}; save it as UTF-8") from error


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{_short(path)} is no JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)!r} stands here twice")
    return values


def _yaml(path: Path, *, optional: bool = False) -> dict[str, Any]:
    if optional and not path.exists():
        return {}
    return _parsed(_text(path), _short(path))


def _parsed(text: str, name: str) -> dict[str, Any]:
    values = yamlfile.load_text(text, name)
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UsageError(f"{name} must hold keys and values, not {type(values).__name__}")
    return values


def _short(path: Path) -> str:
    return "/".join(path.parts[-3:])
