"""Regular expressions as terms with derivatives: what may follow after a first character.

Intersection and complement are terms like any other; that is what makes inclusion decidable.
"""

from functools import lru_cache
from typing import Any, Final

from beleg.contract.compat.charsets import ANY, CharSet, both, has, others

Term = tuple[Any, ...]

NOTHING: Final[Term] = ("chars", ())
EMPTY: Final[Term] = ("empty",)
ANYTHING: Final[Term] = ("repeat", ("chars", ANY), 0, None)


def cat(one: Term, other: Term) -> Term:
    """One, then the other."""
    if NOTHING in (one, other):
        return NOTHING
    if one == EMPTY:
        return other
    if one[0] == "cat":
        return ("cat", one[1], cat(one[2], other))
    return one if other == EMPTY else ("cat", one, other)


def any_of(parts: list[Term]) -> Term:
    """Any of the terms."""
    flat = {t for part in parts for t in (part[1] if part[0] == "or" else (part,))} - {NOTHING}
    if len(flat) <= 1:
        return next(iter(flat), NOTHING)
    return ("or", frozenset(flat))


def all_of(parts: list[Term]) -> Term:
    """All of the terms."""
    flat = {t for part in parts for t in (part[1] if part[0] == "and" else (part,))}
    if NOTHING in flat:
        return NOTHING
    return next(iter(flat)) if len(flat) == 1 else ("and", frozenset(flat))


def none_of(term: Term) -> Term:
    """Every marked text that the term does not match."""
    return term[1] if term[0] == "not" else ("not", term)


def repeat(term: Term, least: int, most: int | None) -> Term:
    """The term so many times."""
    if most == 0 or term == EMPTY:
        return EMPTY
    if term == NOTHING:
        return NOTHING if least else EMPTY
    return term if (least, most) == (1, 1) else ("repeat", term, 0 if nullable(term) else least, most)


@lru_cache(maxsize=20_000)
def nullable(term: Term) -> bool:
    """Whether the term matches the text of no characters."""
    op = term[0]
    if op == "cat":
        return nullable(term[1]) and nullable(term[2])
    if op == "or":
        return any(map(nullable, term[1]))
    if op == "and":
        return all(map(nullable, term[1]))
    if op == "not":
        return not nullable(term[1])
    return bool(op == "empty" or (op == "repeat" and term[2] == 0))


@lru_cache(maxsize=50_000)
def after(term: Term, code: int) -> Term:
    """What must follow once the character has been read."""
    op = term[0]
    if op == "chars":
        return EMPTY if has(term[1], code) else NOTHING
    if op == "cat":
        first = cat(after(term[1], code), term[2])
        return any_of([first, after(term[2], code)]) if nullable(term[1]) else first
    if op == "repeat":
        _, inner, least, most = term
        return cat(after(inner, code), repeat(inner, max(least - 1, 0), None if most is None else most - 1))
    if op == "or":
        return any_of([after(part, code) for part in term[1]])
    if op == "and":
        return all_of([after(part, code) for part in term[1]])
    return none_of(after(term[1], code)) if op == "not" else NOTHING


@lru_cache(maxsize=20_000)
def first_sets(term: Term) -> frozenset[CharSet]:
    """The sets of characters among which the first character decides."""
    op = term[0]
    if op == "chars":
        return frozenset({term[1]})
    if op == "cat":
        own = first_sets(term[1])
        return own | first_sets(term[2]) if nullable(term[1]) else own
    if op in {"or", "and"}:
        return frozenset().union(*map(first_sets, term[1]))
    return first_sets(term[1]) if op in {"repeat", "not"} else frozenset()


def alphabet(term: Term) -> list[CharSet]:
    """The characters parted so that those of one part all lead to the same."""
    parts: list[CharSet] = [ANY]
    for chars in first_sets(term):
        split = [(both(part, chars), both(part, others(both(chars, ANY)))) for part in parts]
        parts = [piece for pair in split for piece in pair if piece]
    return parts
