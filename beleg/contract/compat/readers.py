"""One verdict for readers of both kinds: those who read patterns as Python does, and as ECMAScript does."""

import dataclasses
from collections.abc import Iterable

from beleg.contract.compat.spelling import Grammar
from beleg.contract.compat.verdict import BUMPS, Change, Comparison, in_order, worst

_NAMES: dict[Grammar, str] = {"python": "Python", "ecmascript": "ECMAScript"}
_Groups = dict[tuple[str, str], list[Change]]


def together(found: dict[Grammar, Comparison]) -> Comparison:
    """The worst for any reader; of a change that both see, what the worse off sees."""
    verdicts = list(found.values())
    if len(verdicts) == 1:
        return verdicts[0]
    groups = {grammar: _grouped(verdict.changes) for grammar, verdict in found.items()}
    changes = [
        change for at in dict.fromkeys(at for each in groups.values() for at in each) for change in _of(at, groups)
    ]
    proved = any(change.witness_kind == "reader" for change in changes)
    return Comparison(
        worst([verdict.bump for verdict in verdicts]),
        in_order(changes),
        reader_safe=all(verdict.reader_safe for verdict in verdicts),
        rollback_safe=all(verdict.rollback_safe for verdict in verdicts),
        unprovable=not proved and any(verdict.unprovable for verdict in verdicts),
    )


def _grouped(changes: Iterable[Change]) -> _Groups:
    groups: _Groups = {}
    for change in changes:
        groups.setdefault((change.rule, change.pointer), []).append(change)
    return groups


def _of(at: tuple[str, str], groups: dict[Grammar, _Groups]) -> list[Change]:
    """What is said of one rule at one place: what the readers see who see the worst."""
    seen = {grammar: each.get(at, []) for grammar, each in groups.items()}
    worse = max(seen, key=lambda grammar: _weight(seen[grammar]))
    if any(_weight(changes)[0] >= BUMPS.index("major") for grammar, changes in seen.items() if grammar != worse):
        return seen[worse]
    return [_named(change, worse) for change in seen[worse]]


def _weight(changes: list[Change]) -> tuple[int, bool]:
    return BUMPS.index(worst([change.bump for change in changes])), any(c.witness_kind == "reader" for c in changes)


def _named(change: Change, grammar: Grammar) -> Change:
    if change.bump != "major":
        return change
    return dataclasses.replace(change, sentence=f"{change.sentence} So it is for readers in {_NAMES[grammar]}.")
