"""A registry with a bit of everything: two features, three majors' worth of steps, prompts, tools."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from beleg.contract import lifecycle, promotion
from beleg.contract.registry.registry import Registry
from beleg.contract.tools import Tool
from tests.contract.promotion.support import NAME, NOW, Project, migration, tool, with_field, with_prompt

BY: dict[str, Any] = {"by": "Paul", "now": NOW}


def furnished(root: Path) -> Project:
    """Published, rolled back, deprecated; prompts added and activated; a tool in use."""
    project = Project(root).write()
    described = tool()
    project.registry.write_tool(**{key: value for key, value in described.items() if key != "digest"})
    first = with_prompt(project.contract(tools=(Tool(**described),)), "Read the total. Use lookup_account.")
    project.publish(first)
    second = with_field(first, "vendor")
    project.publish(second)
    project.publish(with_field(second, "country", required=True, migration=migration()), confirm_breaking=True)
    promotion.rollback(project.registry, NAME, "1.0.0", why="Wrong totals.", **BY)
    lifecycle.deprecate(project.registry, NAME, why="Replaced.", **BY)
    for text in ("Write a letter.", "Write a kind letter."):
        promotion.add_prompt(project.registry, "dunning", text, **BY)
    promotion.activate_prompt(project.registry, "dunning", "2", why="Kinder.", **BY)
    return project


def files(registry: Registry) -> dict[str, bytes]:
    """Every file but the locks, by its path."""
    found = (path for path in registry.root.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(registry.root).as_posix(): path.read_bytes() for path in found}


def commit(shelf: Any, expected: int, verb: str = "step", **given: Any) -> Any:
    """One step of a shelf that holds anything."""
    return shelf.commit(expected, {"state": verb}, verb=verb, at="2030-05-01T12:00:00Z", by="Paul", why="", **given)


def encoded(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values).encode() + b"\n"


def sha(data: bytes) -> str:
    return sha256(data).hexdigest()
