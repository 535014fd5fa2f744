"""How the commands on contracts show findings, differences and readiness to people."""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from beleg.cli.output import console, printable

if TYPE_CHECKING:
    from beleg.contract.compat.verdict import Bump
    from beleg.contract.lint import Finding
    from beleg.contract.maturity import Level
    from beleg.contract.model import Contract
    from beleg.contract.promotion import Readiness
    from beleg.contract.semver import Assessment

MARKS = {"error": ("✗", "bold red"), "warning": ("!", "yellow"), "info": ("·", "dim")}
BUMP_STYLES = {"major": "bold red", "minor": "yellow", "patch": "green", "none": "dim"}
WITNESSES = {
    "reader": "readers of {against} cannot read, for example",
    "rollback": "after a rollback, {against} may answer what readers of the new version cannot read, for example",
}
_PARTS = ("providers", "evals", "tools", "governance", "examples", "risk_tier")


def say(*pieces: str | tuple[str, str]) -> None:
    """Print one line from texts and (text, style) pairs; control characters are made visible."""
    styled = [(piece, "") if isinstance(piece, str) else piece for piece in pieces]
    console().print(Text.assemble(*((printable(text), style) for text, style in styled)), soft_wrap=True)


def findings(found: Sequence["Finding"]) -> None:
    """Findings with their fix, worst first."""
    for each in found:
        say(MARKS[each.severity], f" {each.rule} ", (each.place, "bold"), f"  {each.sentence}")
        say("      ", (f"{each.fix}  ({each.guide})", "dim"))
    numbers = {severity: sum(each.severity == severity for each in found) for severity in MARKS}
    counts = ", ".join(f"{n} {severity}{'s' * (n > 1)}" for severity, n in numbers.items() if n)
    say(counts or "nothing found")


def assessment(found: "Assessment", version: str, bump: "Bump | None" = None) -> None:
    """What a draft changes for readers, each change with the value that proves it; `bump` where it is a higher one."""
    bump = bump or found.bump
    say((bump, BUMP_STYLES[bump]), f" → {version}", _safety(found))
    seen = set()
    for each in found.changes:
        change = each.change
        if (change.rule, each.part, change.pointer, change.sentence) in seen:
            continue  # the same change against an older version tells nothing new
        seen.add((change.rule, each.part, change.pointer, change.sentence))
        place = f"{each.part}#{change.pointer}" if change.pointer else each.part
        say(
            (f"{change.bump:>5} ", BUMP_STYLES[change.bump]), f"{change.rule} ", (place, "bold"), f"  {change.sentence}"
        )
        if change.witness_kind is not None:
            told = WITNESSES[change.witness_kind].format(against=each.against)
            say("      ", (f"{told}: {json.dumps(change.witness, ensure_ascii=False)}", "dim"))


def _safety(found: "Assessment") -> str:
    if found.unprovable:
        return "; it could not be proved that readers are safe, so it counts as a break"
    if not found.reader_safe:
        return "; readers of an earlier version break"
    return "" if found.rollback_safe else "; readers are safe, but after a rollback new readers may meet old answers"


def bar(levels: Sequence["Level"]) -> None:
    """Maturity as a progress bar, and what is missing for each level."""
    met = 0
    while met < len(levels) and levels[met].met:
        met += 1
    line = "".join("█" * 4 if each.met else "░" * 4 for each in levels)
    say("maturity ", (line, "green" if met == len(levels) else "yellow"), f" {met} of {len(levels)}")
    for each in levels:
        missing = f"  missing: {', '.join(each.missing)}" if each.missing else ""
        say("  ", ("✓", "green") if each.met else ("○", "yellow"), f" {each.number} {each.name}{missing}")


def readiness(found: "Readiness") -> None:
    """All that stands between a draft and its publication."""
    if found.assessment is not None:
        assessment(found.assessment, found.version, found.bump)
    else:
        say((f"first version → {found.version}", "bold"))
    findings(found.findings)
    bar(found.levels)
    for each in found.approved.counted:
        say(("✓", "green"), f" approved by {each.by}")
    for passed_over in found.approved.passed_over:
        say(("!", "yellow"), f" approval does not count: {passed_over}")
    for blocker in found.blockers:
        say(("✗", "bold red"), f" {blocker.what}: {blocker.sentence}")
    say(
        ("ready to publish", "bold green") if found.ready else ("not ready to publish", "bold red"),
        f": {found.feature} {found.version}, digest {found.digest[:12]}",
    )


def texts(old: "Contract", new: "Contract", names: tuple[str, str]) -> None:
    """The differences of the prompt line by line, and of every other part."""
    for role in ("system", "user"):
        unified(getattr(old.prompt, role), getattr(new.prompt, role), f"prompt.{role}", names)
    before, after = old.document(), new.document()
    for name in ("variables", "samples"):
        unified(pretty(before["prompt"][name]), pretty(after["prompt"][name]), f"prompt.{name}", names)
    unified(pretty(before["output_schema"]), pretty(after["output_schema"]), "output_schema", names)
    for part in _PARTS:
        unified(pretty(before[part]), pretty(after[part]), part, names)


def unified(old: str, new: str, part: str, names: tuple[str, str]) -> None:
    """One part as a unified difference; nothing where it is the same."""
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"{part} {names[0]}", f"{part} {names[1]}", lineterm=""
    )
    for line in lines:
        say((line, _style(line)))


def _style(line: str) -> str:
    if line.startswith(("---", "+++")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


def lines(text: str) -> None:
    """A text as it stands, line by line."""
    for line in text.splitlines():
        say(line)


def pretty(value: Any) -> str:
    """A JSON value for reading."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def facts(pairs: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
    """Names and values one below the other; unknown is a dash."""
    found = dict(pairs)
    width = max(map(len, found), default=0)
    for name, value in found.items():
        say((f"{name:>{width}}", "dim"), f"  {printable(value)}")
