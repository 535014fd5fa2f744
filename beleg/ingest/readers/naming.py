"""Maps a foreign trace to the names Beleg counts by: workflow, units, tenant, prompt version, outcome.

The rules stand in `contracts/policies/naming.yaml` of the project, see docs/naming.md. They are asked in
order; the first that fits decides each name it gives, later ones those that are still open. A trace that no
rule gives a workflow lands under its format's own one and is counted in `Naming.unmapped`.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from beleg.trace import policy

FACTS = (
    "format",
    "service",
    "span",
    "trace",
    "workflow",
    "agent",
    "project",
    "session",
    "user",
    "tenant",
    "environment",
    "release",
    "tag",
    "prompt.name",
    "prompt.version",
    "scope",
)
"""What a reader may tell of a trace; besides, `metadata.KEY` and `resource.KEY`."""
NAMES = {"workflow": 200, "tenant": 200, "team": 200, "environment": 100, "prompt_version": 200, "feature": 200,
         "input_ref": 512, "input_key": 512}  # fmt: skip
"""Names a rule may give, with their most characters."""
UNIT_CHARS = 100
OPEN = ("metadata.", "resource.")
"""Beginnings of further facts, each followed by a key of the source's own."""
_MOST_CHARS = 4096
"""Longer facts are payload by their size and fit nothing: no pattern is tried on them."""
_LARGEST = 10**18
_COUNT_DIGITS = 12
"""Digits of the largest count, as `policy.MAX_COUNT` has it."""

Facts = Mapping[str, Any]
"""Fact → its value, or a list of them (`tag`). They are looked at here and stored only where a rule says so."""


@dataclass(frozen=True)
class Outcome:
    """A business result that a rule reads off a trace."""

    kind: str
    count: int


@dataclass(frozen=True)
class Named:
    """What a trace is called here."""

    workflow: str
    purpose: str = "production"
    fields: Mapping[str, str] = field(default_factory=dict)
    """tenant, team, environment, prompt_version, feature, input_ref, input_key as far as they are known."""
    units: Mapping[str, int] = field(default_factory=dict)
    outcome: Outcome | None = None
    rules: tuple[int, ...] = ()
    """Numbers of the rules that gave a name, from 1."""
    facts: Facts = field(default_factory=dict, repr=False, compare=False)
    """What it was named by, where someone is to see that; readers keep no facts."""


@dataclass(frozen=True)
class Taken:
    """A name that is given as it is, or taken from a fact."""

    given: str | int | None = None
    fact: str | None = None
    pattern: re.Pattern[str] | None = None

    def text(self, facts: Facts) -> str | None:
        """The text it gives; None where the fact is missing or does not match."""
        value = text_of(self.given if self.fact is None else _first(facts.get(self.fact)))
        if value is None or self.pattern is None:
            return value
        found = self.pattern.search(value)
        return None if found is None else found.group(found.re.groups and 1)

    def count(self, facts: Facts) -> int | None:
        """The count it gives; None where that is no whole number from 0 on."""
        text = self.text(facts)
        is_whole = text is not None and text.isascii() and text.isdecimal() and len(text) <= _COUNT_DIGITS
        return int(text or "") if is_whole else None


@dataclass(frozen=True)
class Rule:
    """One rule of the file."""

    when: Mapping[str, tuple[str, ...]]
    """Fact → patterns (* and ?), one of which must fit."""
    names: Mapping[str, Taken]
    purpose: str | None = None
    units: Mapping[str, Taken] = field(default_factory=dict)
    outcome: tuple[str, Taken] | None = None

    def fits(self, facts: Facts) -> bool:
        """True where every condition holds."""
        return all(_fits(facts.get(fact), patterns) for fact, patterns in self.when.items())


@dataclass
class _Open:
    """The names of a trace while rules are asked for them: the first to give one decides it."""

    names: dict[str, str] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    purpose: str | None = None
    outcome: Outcome | None = None
    rules: list[int] = field(default_factory=list)

    def take(self, rule: Rule, facts: Facts) -> bool:
        """Take what the rule gives and is still open; True where that is anything."""
        texts = {name: taken.text(facts) for name, taken in rule.names.items() if name not in self.names}
        names = {name: text for name, text in texts.items() if text is not None and _is_storable(name, text)}
        counts = {unit: taken.count(facts) for unit, taken in rule.units.items() if unit not in self.units}
        units = {unit: count for unit, count in counts.items() if count is not None}
        self.names |= names
        self.units |= units
        return bool(names or units) | self._take_purpose(rule) | self._take_outcome(rule, facts)

    def _take_purpose(self, rule: Rule) -> bool:
        taken = self.purpose is None and rule.purpose is not None
        self.purpose = self.purpose or rule.purpose
        return taken

    def _take_outcome(self, rule: Rule, facts: Facts) -> bool:
        if self.outcome is not None or rule.outcome is None:
            return False
        kind, taken = rule.outcome
        count = taken.count(facts)
        self.outcome = None if count is None else Outcome(kind, count)
        return count is not None


@dataclass
class Naming:
    """The rules of a project, and what they did not cover."""

    rules: Sequence[Rule] = ()
    unmapped: Counter[str] = field(default_factory=Counter)
    """Format → traces that landed under its own workflow."""

    @classmethod
    def load(cls, project: Path | None) -> "Naming":
        """The rules of a project's naming.yaml; none where there is none. Raises UsageError for a wrong file."""
        from beleg.ingest.readers.naming_file import rules_of  # noqa: PLC0415  # the file knows the rules, not they it

        return cls(() if project is None else rules_of(project))

    def name(self, facts: Facts, *, count: bool = True) -> Named:
        """What the trace with these facts is called. `count` is False for a part that only stands for it."""
        open_ = _Open()
        for number, rule in enumerate(self.rules, 1):
            if rule.fits(facts) and open_.take(rule, facts):
                open_.rules.append(number)
        workflow = open_.names.pop("workflow", None) or self._own(facts, count=count)
        usual = {name: _first(facts.get(fact)) for fact, name in _USUAL.items()}
        known = {name: text for name, text in usual.items() if _is_storable(name, text)}
        purpose = open_.purpose or "production"
        return Named(workflow, purpose, known | open_.names, open_.units, open_.outcome, tuple(open_.rules))

    def _own(self, facts: Facts, *, count: bool) -> str:
        """The workflow the trace names itself, else that of its format."""
        told = text_of(_first(facts.get("workflow")))
        if told is not None and _is_storable("workflow", told):
            return told
        form = str(facts["format"])
        if count:
            self.unmapped[form] += 1
        return form


_USUAL = {"tenant": "tenant", "environment": "environment", "prompt.version": "prompt_version"}
"""Facts that are names of their own where no rule says otherwise."""


def _is_storable(name: str, text: Any) -> bool:
    return isinstance(text, str) and policy.is_key(text, NAMES[name])


def text_of(value: Any) -> str | None:
    """A fact as rules see it: numbers and truth as JSON writes them, 3.0 as 3; None for everything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int | float):
        return str(value) if abs(value) < _LARGEST else None
    return value if isinstance(value, str) and len(value) <= _MOST_CHARS else None


def _first(value: Any) -> Any:
    return (value[0] if value else None) if isinstance(value, list | tuple) else value


def _fits(value: Any, patterns: tuple[str, ...]) -> bool:
    given = value if isinstance(value, list | tuple) else (value,)
    texts = [text for text in map(text_of, given) if text is not None]
    return any(fnmatchcase(text, pattern) for text in texts for pattern in patterns)
