"""The page of all rules with their examples: `python -m beleg.contract.compat.table > docs/schema-changes.md`."""

import json
import sys
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from beleg.contract.compat.engine import compare
from beleg.contract.compat.verdict import NO_WITNESS, Comparison, Schema

_HEAD = """\
# Schema changes
What a new output schema means for those who read the results. `beleg.contract.compare(old, new)` applies these rules;
`beleg contract diff` shows what it finds.

- **none**: the same interface in another spelling. **patch**: only notes changed. **minor**: every reader goes on as
  before. **major**: a reader may break, a promise was added that a rollback would take back, or nothing could be
  proved; then it says `unprovable`.
- **Readers ignore members they do not know.** A value is readable for a reader of the old schema if it is valid there
  once the members that a closed object does not name are dropped. That holds for members of closed objects only, not
  for entries of lists, nor for maps, whose readers do read every member, nor for a field declared `false`.
- **`reader_safe`**: readers built on the old schema can read every new result. Where it is false, a whole result
  proves it, unless the verdict is `unprovable`. **`rollback_safe`**: readers built on the new schema can read every
  old result.
- A new version is compared with **every** published version of its major: two steps, each minor, can together break
  readers of the first.
- Prompt variables are compared the other way round: callers write them and the prompt reads.
- The order of fields and the descriptions are no interface, but the model sees them: `raw_digest` moves, and the
  evals must run again. `interface_digest` does not move.

Every example shows the old schema, the new one, and what the comparison says.
"""


class Example(NamedTuple):
    """An example of a rule: two schemas and the verdict."""

    rule: str
    old: Schema
    new: Schema
    bump: str
    unprovable: bool
    reported: str
    """Rule under which the comparison reports it."""


def sections() -> list[dict[str, Any]]:
    """The rules by section, as the file has them."""
    loaded: list[dict[str, Any]] = yaml.safe_load(_text())
    return loaded


def examples() -> list[Example]:
    """All examples, in the order of the page."""
    rules = [pair for section in sections() for pair in section["rules"].items()]
    return [_example(rule, raw) for rule, about in rules for raw in about["examples"]]


def page() -> str:
    """The page in Markdown."""
    return "\n".join([_HEAD, *(_section(section) for section in sections())])


@cache
def _text() -> str:
    return files("beleg.contract.compat").joinpath("examples.yaml").read_text(encoding="utf-8")


def _example(rule: str, raw: dict[str, Any]) -> Example:
    reported = raw.get("rule", rule)
    return Example(rule, raw["old"], raw["new"], raw["bump"], raw.get("unprovable", False), reported)


def _section(section: dict[str, Any]) -> str:
    parts = [f"## {section['title']}"]
    for rule, about in section["rules"].items():
        note = f" {about['note']}" if "note" in about else ""
        parts.append(f"**{rule}** {about['change']}{note}")
        parts += [_shown(_example(rule, raw)) for raw in about["examples"]]
    return "\n\n".join(parts) + "\n"


def _shown(example: Example) -> str:
    found = compare(example.old, example.new)
    lines = ["```", f"old  {_json(example.old)}", f"new  {_json(example.new)}", *_said(found), "```"]
    return "\n".join(lines)


def _said(found: Comparison) -> list[str]:
    verdict = f"     {found.bump}{' (unprovable)' if found.unprovable else ''}"
    if not found.changes:
        return [verdict]
    first = found.changes[0]
    lines = [f"{verdict}: {first.sentence}"]
    if first.witness is not NO_WITNESS:
        what = "for example" if first.witness_kind == "reader" else "no longer possible"
        lines.append(f"     {what}: {_json(first.witness)}")
    return lines


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.stdout.write(page())
