"""Reads the naming rules of a project; docs/naming.md describes the file."""

import re
from pathlib import Path
from typing import Any, NoReturn

from beleg.core import yamlfile
from beleg.core.errors import UsageError
from beleg.ingest.readers.naming import FACTS, NAMES, OPEN, UNIT_CHARS, Rule, Taken, text_of
from beleg.trace import policy

FILE = "contracts/policies/naming.yaml"


def rules_of(project: Path) -> list[Rule]:
    """The rules of a project's naming.yaml; none where there is none. Raises UsageError for a wrong file."""
    path = project / FILE
    if not path.exists():
        return []
    raw = yamlfile.load(path, hint="see docs/naming.md")
    top = _object(raw, FILE, {"naming", "rules"})
    if top.get("naming") != 1:
        _fail(f"naming: {top.get('naming')!r} is no version of the format; write `naming: 1`")
    if not isinstance(top.get("rules"), list):
        _fail("rules: expected a list of rules")
    return [_rule(rule, f"rules[{number}]") for number, rule in enumerate(top["rules"], 1)]


def _rule(raw: Any, where: str) -> Rule:
    given = _object(raw, where, {"when", "purpose", "units", "outcome", *NAMES})
    if not given.keys() - {"when"}:
        _fail(f"{where}: gives no name; names are {', '.join((*NAMES, 'purpose', 'units', 'outcome'))}")
    when = _object(given.get("when", {}), f"{where}.when", None)
    for fact in when:
        _known_fact(fact, f"{where}.when")
    purpose = given.get("purpose")
    if purpose is not None and purpose not in policy.PURPOSES:
        _fail(f"{where}.purpose: {purpose!r} is none of {', '.join(policy.PURPOSES)}")
    return Rule(
        {str(fact): _patterns(value, f"{where}.when.{fact}") for fact, value in when.items()},
        {name: _name(given[name], f"{where}.{name}", chars) for name, chars in NAMES.items() if name in given},
        purpose,
        _units(given.get("units", {}), f"{where}.units"),
        _outcome(given["outcome"], f"{where}.outcome") if "outcome" in given else None,
    )


def _units(raw: Any, where: str) -> dict[str, Taken]:
    units = _object(raw, where, None)
    return {_word(unit, where, UNIT_CHARS): _count(value, f"{where}.{unit}") for unit, value in units.items()}


def _outcome(raw: Any, where: str) -> tuple[str, Taken]:
    given = _object(raw, where, {"kind", "count"})
    return _word(given.get("kind"), f"{where}.kind", UNIT_CHARS), _count(given.get("count", 1), f"{where}.count")


def _name(raw: Any, where: str, max_chars: int) -> Taken:
    if isinstance(raw, dict):
        return _from(raw, where)
    return Taken(given=_word(text_of(raw), where, max_chars))


def _count(raw: Any, where: str) -> Taken:
    if isinstance(raw, dict):
        return _from(raw, where)
    if not isinstance(raw, int) or isinstance(raw, bool) or not 0 <= raw < policy.MAX_COUNT:
        _fail(f"{where}: {raw!r} is no count; write a whole number from 0 on, or where it is taken from")
    return Taken(given=raw)


def _from(raw: Any, where: str) -> Taken:
    given = _object(raw, where, {"from", "pattern"})
    fact, pattern = given.get("from"), given.get("pattern")
    _known_fact(fact, f"{where}.from")
    try:
        return Taken(fact=fact, pattern=None if pattern is None else re.compile(str(pattern)))
    except (re.error, RecursionError, OverflowError) as error:
        _fail(f"{where}.pattern: {error}")


def _known_fact(fact: Any, where: str) -> None:
    if fact not in FACTS and not (isinstance(fact, str) and fact.startswith(OPEN)):
        _fail(f"{where}: no fact {fact!r}; facts are {', '.join(FACTS)}, metadata.KEY and resource.KEY")


def _patterns(raw: Any, where: str) -> tuple[str, ...]:
    values = raw if isinstance(raw, list) else [raw]
    texts = [text_of(value) for value in values]
    if not texts or None in texts:
        _fail(f"{where}: expected a text with * and ?, or a list of them")
    return tuple(text.replace("[", "[[]") for text in texts if text is not None)


def _word(raw: Any, where: str, max_chars: int) -> str:
    if not isinstance(raw, str) or not policy.is_word(raw, max_chars):
        _fail(f"{where}: {raw!r} is no word without blanks of at most {max_chars} characters")
    return raw


def _object(raw: Any, where: str, allowed: set[str] | None) -> dict[str, Any]:
    if not isinstance(raw, dict):
        _fail(f"{where}: expected names with values, not {type(raw).__name__}")
    unknown = sorted(str(name) for name in raw if allowed is not None and name not in allowed)
    if unknown:
        _fail(f"{where}: unknown key {unknown[0]!r}; allowed are {', '.join(sorted(allowed or ()))}")
    return raw


def _fail(message: str) -> NoReturn:
    raise UsageError(f"{FILE}: {message}; see docs/naming.md")
