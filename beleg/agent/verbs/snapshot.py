"""The vocabulary of every role as committed files: a new verb shows in review, and fails CI until then."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beleg.agent.toolsets.offer import Cohort
from beleg.agent.verbs.audit import Audit
from beleg.core.errors import UsageError


def texts(result: Audit) -> dict[str, str]:
    """One JSON text per role, by file name."""
    return {f"{role}.json": _text(role, result, cohort) for role, cohort in sorted(result.roles.items())}


def write(result: Audit, folder: Path) -> None:
    """Write the files; those of roles that are gone are removed."""
    wanted = texts(result)
    folder.mkdir(parents=True, exist_ok=True)
    for old in set(_present(folder)) - set(wanted):
        (folder / old).unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


def differences(result: Audit, folder: Path) -> list[str]:
    """What changed against the committed files, one sentence each; empty where nothing did."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder.name}: write the vocabulary once, look at it, and commit it")
    wanted = texts(result)
    gone = [f"{name}: the role is gone" for name in sorted(set(_present(folder)) - set(wanted))]
    return [*gone, *(said for name, text in wanted.items() for said in _changes(folder / name, json.loads(text)))]


def _text(role: str, result: Audit, cohort: Cohort) -> str:
    found: dict[str, list[str]] = {}
    for each in result.of(role):
        found.setdefault(each.tool, []).append(f"{each.kind}: {each.place}: {each.word}")
    tools = [
        {"name": tool.name, "effect": tool.effect, "digest": tool.digest, "findings": sorted(found.get(tool.name, []))}
        for tool in cohort.tools
    ]
    return json.dumps({"role": role, "cohort": cohort.name, "tools": tools}, ensure_ascii=False, indent=1) + "\n"


def _present(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("*.json")]


def _changes(path: Path, now: dict[str, Any]) -> Iterator[str]:
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        old = {tool["name"]: tool for tool in before["tools"]}
    except FileNotFoundError:
        yield f"{path.name}: the role is new, with {len(now['tools'])} tools"
        return
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path.name} is no vocabulary: write it anew") from error
    new = {tool["name"]: tool for tool in now["tools"]}
    yield from (f"{path.name}: `{name}` is gone" for name in old if name not in new)
    for name, tool in new.items():
        if name not in old:
            yield f"{path.name}: `{name}` is new ({tool['effect']})"
        yield from (
            f"{path.name}: `{name}`: {part} changed"
            for part in tool
            if name in old and tool[part] != old[name].get(part)
        )
    if list(old) != list(new) and set(old) == set(new):
        yield f"{path.name}: the order of the tools changed, and with it every cached prefix"
