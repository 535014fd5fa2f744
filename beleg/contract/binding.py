"""Whether a tool looks as if calling it binds somebody: submits, pays, sends, or opens a way to do so.

A heuristic over names, descriptions, parameters, enum values and switches, in German and English. It proves
nothing: the declaration `binding` and the catalogue carry the proof. It makes a person look twice.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from beleg.contract.binding_schema import Member, members
from beleg.contract.binding_words import (
    ACTS,
    CLASSES,
    COMPOUND,
    FLAG,
    JOINED,
    MAKING,
    OBJECTS,
    PHRASES,
    PROPOSING,
    READING,
    SWITCH,
    THINGS,
)
from beleg.contract.tools import Tool

MAX_CHARS = 20_000
MAX_PLACES = 2_000


@dataclass(frozen=True)
class Sign:
    """One thing that makes a tool look binding."""

    kind: str
    """`act` for a verb that binds, `size` for what is too large to look through, else the kind of universal verb."""
    place: str
    """`name`, `description`, or a parameter's name."""
    word: str


_BY_NAME = tuple((kind, re.compile(rf"(?:^|[\W_])(?:{words})(?=$|[\W_])")) for kind, words, _ in CLASSES)
_BY_PARAMETER = tuple((kind, re.compile(rf"(?:{names})")) for kind, _, names in CLASSES)
_PHRASES = tuple(re.compile(phrase) for phrase in PHRASES)
_JOINED = re.compile(JOINED)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+")
_INITIAL = re.compile(r"\b[a-z]\.")
_DIAERESIS = "\u0308"
_DOTS = re.compile(rf"(?<![AOUaou]){_DIAERESIS}")
_ALIKE = str.maketrans(
    "аеіїјосрхуѕԁһԛԝѵкмтԍАВЕІЈКМНОРСТХЅУԌαεικνορτυχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡɩʏᴏᴜᴠᴡᴢоհոսցօ",
    "aeiijocpxysdhqwvkmtgABEIJKMHOPCTXSYGaeikvoptuxyABEZHIKMNOPTYXiagiyouvwzohnugo",
)
"""Letters of other alphabets that look like Latin ones."""
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def signs(tool: Tool) -> tuple[Sign, ...]:
    """Everything that makes a tool look binding, each once; empty where nothing does."""
    name, description = _plain(tool.name), _plain(tool.description)
    found = [
        *_acts("name", name),
        *_objects(name),
        *(Sign(kind, "name", seen[0].strip("_ -")) for kind, words in _BY_NAME if (seen := words.search(name))),
        *_acts("description", description),  # no kinds: a description speaks of scripts without being one
        *_parameters(tool),
    ]
    if len(tool.description) > MAX_CHARS:
        found.append(Sign("size", "description", "too long to look through"))
    return tuple(dict.fromkeys(found))


def _plain(words: str) -> str:
    """Lower case in one spelling, `sendNow` as `send_now`; what only looks different, or not at all, is the same."""
    letters = unicodedata.normalize("NFKD", words[:MAX_CHARS])
    seen = "".join(c for c in letters if c == _DIAERESIS or unicodedata.category(c) not in {"Mn", "Me", "Cf"})
    latin = unicodedata.normalize("NFC", _DOTS.sub("", seen.translate(_ALIKE)))
    return _CAMEL.sub("_", latin).lower().translate(_GERMAN)


def _acts(place: str, plain: str) -> Iterator[Sign]:
    for word in _WORD.findall(plain):
        if word in ACTS or _JOINED.search(word):
            yield Sign("act", place, word)
    whole = _INITIAL.sub("", plain)  # the dots of z. B. end no sentence
    yield from (Sign("act", place, seen[0].strip("_ .")[:80]) for each in _PHRASES if (seen := each.search(whole)))


def _objects(name: str) -> Iterator[Sign]:
    words = set(_WORD.findall(name))
    looks = words & READING and not words & MAKING
    if not looks and not words & PROPOSING:
        yield from (Sign("act", "name", word) for word in sorted(words) if word in OBJECTS or COMPOUND.fullmatch(word))


def _parameters(tool: Tool) -> Iterator[Sign]:
    found = members(tool.input_schema, MAX_PLACES + 1)
    sizes = [len(text) for each in found for text in each.texts]
    if len(found) > MAX_PLACES or max(sizes, default=0) > MAX_CHARS or sum(sizes) > 10 * MAX_CHARS:
        yield Sign("size", "input_schema", "too large to look through")
        found = found[:MAX_PLACES]
    for member in found:
        yield from _of_member(member)


def _of_member(member: Member) -> Iterator[Sign]:
    plain = _plain(member.name)
    yield from (Sign(kind, member.name, plain) for kind, words in _BY_PARAMETER if words.fullmatch(plain))
    if SWITCH.fullmatch(plain) or (member.is_flag and (FLAG.fullmatch(plain) or any(_acts("", plain)))):
        yield Sign("multiplexed", member.name, plain)
    for value in member.choices:
        yield from _acts(member.name, _plain(value))
    for text in member.words:
        said = _acts(member.name, _plain(text))
        yield from (each for each in said if member.is_flag or each.word not in THINGS)
