"""What a schema says about a value apart from its parts: one facet for each group of keywords."""

import json
from typing import Any, Final, NamedTuple

from beleg.contract.compat.keywords import Keywords
from beleg.contract.compat.values import key


class Facet(NamedTuple):
    """A group of keywords that make one statement."""

    words: tuple[str, ...]
    wider: str
    """Rule where it admits more than before."""
    narrower: str
    label: str

    def of(self, words: Keywords) -> Keywords:
        """The keywords of the group that occur."""
        if self.words[0] == "contains" and "contains" not in words:
            return {}
        return {word: words[word] for word in self.words if word in words}


FACETS: Final = (
    Facet(("type",), "R10", "R11", "type"),
    Facet(("enum", "const", "x-open-enum"), "R13", "R14", "list of allowed values"),
    Facet(("minimum", "exclusiveMinimum"), "R20", "R21", "lower limit"),
    Facet(("maximum", "exclusiveMaximum"), "R20", "R21", "upper limit"),
    Facet(("minLength",), "R20", "R21", "smallest number of characters"),
    Facet(("maxLength",), "R20", "R21", "largest number of characters"),
    Facet(("minItems",), "R20", "R21", "smallest number of entries"),
    Facet(("maxItems",), "R20", "R21", "largest number of entries"),
    Facet(("minProperties",), "R20", "R21", "smallest number of members"),
    Facet(("maxProperties",), "R20", "R21", "largest number of members"),
    Facet(("multipleOf",), "R22", "R22", "step of the numbers"),
    Facet(("pattern",), "R23", "R23", "pattern of the text"),
    Facet(("format",), "R24", "R24", "format of the text"),
    Facet(("contentEncoding",), "R25", "R25", "encoding of the content"),
    Facet(("contentMediaType", "contentSchema"), "R25", "R25", "kind of the content"),
    Facet(("uniqueItems",), "R31", "R31", "promise that no entry repeats"),
    Facet(("contains", "minContains", "maxContains"), "R33", "R33", "promise of certain entries"),
    Facet(("dependentRequired",), "R12", "R12", "fields that come together"),
    Facet(("dependentSchemas",), "R12", "R12", "conditions on fields that come together"),
    Facet(("propertyNames",), "R09", "R09", "rule for names"),
    Facet(("not",), "R37", "R37", "exclusion"),
    Facet(("if", "then", "else"), "R38", "R38", "condition"),
    Facet(("$dynamicRef",), "R62", "R62", "reference"),
    Facet(("$recursiveRef",), "R62", "R62", "reference"),
)

ANY_OF: Final = Facet(("anyOf",), "R34", "R34", "list of alternatives")
ONE_OF: Final = Facet(("oneOf",), "R35", "R35", "list of alternatives")


def confusable(old: Keywords, new: Keywords) -> bool:
    """Whether a new listed value is another one for JSON, and the same for Python or for floats."""
    before, now = _listed(old), _listed(new)
    known = set(map(key, before))
    added = [value for value in now if key(value) not in known and isinstance(value, int | float)]
    numbers = [value for value in before if isinstance(value, int | float)]
    return not set(map(_rounded, numbers)).isdisjoint(map(_rounded, added))


def _rounded(number: float) -> float:
    return float(number) if abs(number) < 1e300 else float("inf")


def _listed(words: Keywords) -> list[Any]:
    return [*words.get("enum", ()), *([words["const"]] if "const" in words else [])]


_WIDER: Final = "values can appear that readers did not expect"
_NARROWER: Final = "fewer values are possible"


def sentence(facet: Facet, label: str, old: Keywords, new: Keywords, *, wider: bool) -> str:
    """What changed in a facet, in plain words."""
    effect = _WIDER if wider else _NARROWER
    before, now = _shown(old), _shown(new)
    text = f"The {facet.label} of {label} "
    if old == new and facet.words[0] in {"uniqueItems", "contains"}:
        return f"{text}does not hold for what is left once readers drop the members that they do not know."
    if before == now:
        return f"{text}is changed: {effect}."
    if now is None:
        return f"{text}is dropped (it was {before}): {effect}."
    if before is None:
        return f"{text}is now {now}: {effect}."
    return f"{text}changes from {before} to {now}: {effect}."


def _shown(words: Keywords) -> str | None:
    if not words:
        return None
    strict = {"exclusiveMinimum": "more than ", "exclusiveMaximum": "less than "}
    texts = [strict.get(word, "") + _short(value) for word, value in words.items()]
    return ", ".join(texts)


def _short(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str | int | float | None) for item in value):
        texts = [_short(item) for item in value]
        return ", ".join(texts[:6]) + (", …" if len(texts) > 6 else "")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
