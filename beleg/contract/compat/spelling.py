r"""Patterns spelled out: what a pattern means to one kind of reader, written so that Python's `re` reads it so.

JSON Schema asks for ECMAScript's expressions, and validators in Python take `re`. The two read `\d`, `\w`, `\s`,
`\b`, their negations, `.` and `$` differently (ECMA-262 §22.2.2; `$` of `re` also stands before a last line feed).
"""

import re
from functools import lru_cache
from typing import Final, Literal

Grammar = Literal["python", "ecmascript"]

_WORD: Final = "0-9A-Z_a-z"
_SPACE: Final = r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_CLASSES: Final = {
    "d": "0-9",
    "D": r"\x00-/:-\U0010ffff",
    "w": _WORD,
    "W": r"\x00-/:-@\[-\^`{-\U0010ffff",
    "s": _SPACE,
    "S": r"\x00-\x08\x0e-\x1f!-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff"
    r"\u3001-\ufefe\uff00-\U0010ffff",
}
_BETWEEN: Final = f"(?<![{_WORD}])(?![{_WORD}])|(?<=[{_WORD}])(?=[{_WORD}])"
_EDGES: Final = {"b": f"(?!{_BETWEEN})", "B": f"(?={_BETWEEN})"}
_TOKEN: Final = re.compile(
    r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[0-9]+|.)|\(\?(?:<[=!]|.)|(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\+?|.", re.DOTALL
)
_GROUPS: Final = frozenset({"(?:", "(?=", "(?!", "(?<=", "(?<!"})


class Unspeakable(Exception):
    """A grammar does not know the expression."""


@lru_cache(maxsize=2_000)
def spelled(pattern: str, grammar: Grammar) -> str:
    """The pattern as `re` must be given it, so that it does not warn of sets in sets; raises Unspeakable."""
    strict = grammar == "ecmascript"
    parts, at = [], 0
    while at < len(pattern):
        piece = _piece(pattern, at)
        at += len(piece)
        if piece == "[":
            inside, at = _class(pattern, at, strict=strict)
            parts.append(inside)
        else:
            parts.append(_outside(piece) if strict else piece)
    return "".join(parts)


def differs(pattern: str) -> bool:
    """Whether the grammars may read the pattern differently."""
    try:
        return spelled(pattern, "python") != spelled(pattern, "ecmascript")
    except Unspeakable:
        return True


def is_plain(pattern: str) -> bool:
    r"""Whether jsonschema-rs surely reads it as ECMAScript: with `\b` or a look-around it takes another engine."""
    return r"\b" not in pattern and r"\B" not in pattern and not re.search(r"\(\?[=!<]", pattern)


def _piece(pattern: str, at: int) -> str:
    found = _TOKEN.match(pattern, at)
    return pattern[at] if found is None else found[0]


def _outside(piece: str) -> str:
    if piece == ".":
        return r"[^\n\r\u2028\u2029]"
    if piece == "$":
        return r"\Z"
    if piece[0] == "\\":
        within = f"[{_CLASSES[piece[1:]]}]" if piece[1:] in _CLASSES else None
        return within or _EDGES.get(piece[1:]) or _escape(piece)
    if piece == "(?<":
        return "(?P<"
    possessive = len(piece) > 1 and piece[-1] == "+" and piece[0] != "("
    if possessive or piece == "{" or (piece[:2] == "(?" and piece not in _GROUPS):
        raise Unspeakable(piece)
    return piece


def _escape(piece: str) -> str:
    r"""An escape that both grammars know; what follows a back reference to nothing, they do not agree on."""
    letter = piece[1:]
    if letter == "0":
        return r"\x00"
    punctuation = letter.isascii() and not letter.isalnum()
    pair = len(letter) == 5 and letter[1] in "dD" and letter[2] in "89abcdefABCDEF"
    if not pair and (punctuation or letter in "fnrtv" or (letter[:1] in {"x", "u"} and len(letter) > 1)):
        return piece
    raise Unspeakable(piece)


def _class(pattern: str, start: int, *, strict: bool) -> tuple[str, int]:
    """The class whose members begin there, and where it ends."""
    at = begun = start + (pattern[start : start + 1] == "^")
    parts = ["[^" if begun > start else "["]
    while at < len(pattern) and (pattern[at] != "]" or at == begun):
        if strict and pattern[at] == "]":
            raise Unspeakable("[]")
        low, at = _member(pattern, at, strict=strict)
        parts.append(low)
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in {"", "]"}:
            high, at = _member(pattern, at + 1, strict=strict)
            if strict and not {low, high}.isdisjoint(_CLASSES.values()):
                raise Unspeakable("a range of classes")
            parts.append(f"-{high}")
    parts.append(pattern[at : at + 1])
    return "".join(parts), at + 1


def _member(pattern: str, at: int, *, strict: bool) -> tuple[str, int]:
    """A character or class among the members, and where the next one begins."""
    piece = _piece(pattern, at) if pattern[at] == "\\" else pattern[at]
    after = at + len(piece)
    if piece in set("-[&~|"):
        return f"\\{piece}", after
    if not strict or piece[0] != "\\":
        return piece, after
    return _CLASSES.get(piece[1:]) or (r"\x08" if piece == r"\b" else _escape(piece)), after
