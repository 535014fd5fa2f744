"""How many tokens a text costs: an estimate with its error, or an exact count where a tokenizer is installed.

The estimate weighs the characters of a text by class. The weights of each family were fitted (non-negative
least squares of the relative error) to its own tokenizer over 400 pieces of German and English prose, tool
definitions, JSON schemas, recorded agent conversations and Python; `python -m benchmarks.agent_toolsets --fit` holds
them against the texts of this repository.
No tokenizer of Claude or Gemini is public, so theirs are factors on `o200k` with a wider band.
"""

import functools
import importlib
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from beleg.core.errors import UsageError


@dataclass(frozen=True)
class Estimate:
    """Tokens of a text, or of several together (`+`, or `sum` from `NOTHING`).

    The true figure lies between `low` and `high` for prose, code, JSON and schemas. Text without words (keys,
    base64, one letter repeated) is outside of what the band was fitted to.
    """

    tokens: int
    low: int
    high: int
    tokenizer: str
    """`estimate:FAMILY`, or the name of the tokenizer that counted, for example `o200k_base`."""

    @property
    def exact(self) -> bool:
        """Whether a tokenizer counted."""
        return not self.tokenizer.startswith("estimate:")

    def __add__(self, other: "Estimate") -> "Estimate":
        """Both together; bands add, since errors of one tokenizer on texts of one kind do not cancel."""
        name = other.tokenizer if self.exact or not self.tokens else self.tokenizer  # in part estimated is estimated
        return Estimate(self.tokens + other.tokens, self.low + other.low, self.high + other.high, name)


@dataclass(frozen=True)
class Family:
    """Models that share a tokenizer."""

    name: str
    weights: tuple[float, ...]
    """Tokens per lower case letter, capital, digit, blank, punctuation mark, Latin letter beyond ASCII."""
    low: float
    high: float
    """Smallest and largest true count, as a multiple of the estimate."""
    tokenizer: str | None
    """Its vocabulary in `splintr`; None where none is public."""
    source: str


_O200K = (0.199, 0.397, 0.828, 0.297, 0.348, 0.414)
_MEASURED = "fitted to its tokenizer, splintr-rs 0.22.0, 2026-11-30; 95 % of 400 texts within -12 % and +14 %"


def _times(factor: float) -> tuple[float, ...]:
    return tuple(round(weight * factor, 4) for weight in _O200K)


FAMILIES = {
    family.name: family
    for family in (
        Family("o200k", _O200K, 0.80, 1.25, "o200k_base", _MEASURED),
        Family("cl100k", (0.202, 0.449, 0.854, 0.303, 0.307, 3.839), 0.80, 1.27, "cl100k_base", _MEASURED),
        Family("llama3", (0.202, 0.449, 0.854, 0.303, 0.307, 3.800), 0.80, 1.27, "llama3", _MEASURED),
        Family("deepseek", (0.199, 0.503, 0.661, 0.302, 0.426, 2.916), 0.80, 1.25, "deepseek_v3", _MEASURED),
        Family("qwen", (0.204, 0.456, 1.341, 0.300, 0.296, 3.507), 0.80, 1.27, "qwen", _MEASURED),
        Family("mistral", (0.201, 0.490, 1.228, 0.297, 0.393, 0.738), 0.80, 1.25, "mistral_v3", _MEASURED),
        Family(
            "claude", _times(1.25), 0.75, 1.50, None,
            "o200k × 1.25: the vendor says that tiktoken undercounts by 15 to 20 %, more on code and other languages; "
            "German prose 1.34 in an older vocabulary; up to Opus 4.6, Sonnet 4.6, Haiku 4.5; 2026-07-01",
        ),
        Family(
            "claude-4.7", _times(1.60), 0.65, 1.60, None,
            "claude × 1.3: the vendor's figure from Opus 4.7, Sonnet 5 and Fable 5 on; German prose 1.46; 2026-07-01",
        ),
        Family("gemini", _times(1.05), 0.70, 1.45, None, "o200k × 1.05, not measured"),
        Family("other", _times(1.20), 0.60, 1.90, None, "between all measured families; the band holds every one"),
    )
}  # fmt: skip
"""By name. `other` stands for every model that is not known."""

_OTHER_WEIGHT, _OTHER_LOW, _OTHER_HIGH = 1.0, 0.3, 3.0
"""A character of any other script, a sign or an emoji: 0.28 (Cyrillic) to 2.5 (emoji) where measured."""
_CLASSES = tuple(
    bytes(each)
    for each in (
        string.ascii_lowercase.encode(),
        string.ascii_uppercase.encode(),
        string.digits.encode(),
        string.whitespace.encode(),
        string.punctuation.encode(),
        range(0xC2, 0xC6),  # first bytes in UTF-8 of U+0080 to U+017F
    )
)
_OTHER = bytes(range(0xC6, 0x100))
_MODELS = (
    (re.compile(r"claude.*(?:opus-(?:4[-.][7-9]|[5-9])|sonnet-[5-9]|haiku-[5-9]|fable|mythos)"), "claude-4.7"),
    (re.compile(r"claude"), "claude"),
    (re.compile(r"gpt-(?:4o|4\.1|4\.5|[5-9]|oss)|chatgpt|(?:^|/)o[1-9]\b"), "o200k"),
    (re.compile(r"gpt-(?:4|3)|text-embedding"), "cl100k"),
    (re.compile(r"gemini|gemma"), "gemini"),
    (re.compile(r"deepseek"), "deepseek"),
    (re.compile(r"llama-?3"), "llama3"),
    (re.compile(r"qwen"), "qwen"),
    (re.compile(r"mistral|ministral|magistral|codestral|devstral"), "mistral"),
)


Counter = Callable[[str, str], Estimate]
"""How to get at the tokens of a text in a family: `estimate`, `count`, or a calibrated estimate (`Calibration.by`)."""


def family_of(model: str) -> str:
    """The family of a model's name as providers write it; `other` where the name says nothing."""
    plain = model.lower()
    return next((name for pattern, name in _MODELS if pattern.search(plain)), "other")


def estimate(text: str, family: str) -> Estimate:
    """Tokens of a text in a family (`FAMILIES`), with the band that holds the true figure.

    The same everywhere, whatever is installed. Raises UsageError for an unknown family.
    """
    known = _family(family)
    *counts, others = character_counts(text)
    tokens = sum(count * weight for count, weight in zip(counts, known.weights, strict=True))
    other = others * _OTHER_WEIGHT
    low, high = tokens * known.low + other * _OTHER_LOW, tokens * known.high + other * _OTHER_HIGH
    return Estimate(round(tokens + other), int(low), -int(-high // 1), f"estimate:{family}")


def character_counts(text: str) -> list[int]:
    """How many characters of each class a text has, in the order of `Family.weights`, then all others."""
    data = text.encode("utf-8", "surrogatepass")
    return [len(data) - len(data.translate(None, each)) for each in (*_CLASSES, _OTHER)]


def count(text: str, family: str) -> Estimate:
    """Tokens of a text by the family's own tokenizer, without special tokens.

    Raises UsageError for an unknown family, one whose tokenizer is not public, and where the extra
    `beleg[tokens]` is not installed.
    """
    known = _family(family)
    if known.tokenizer is None:
        raise UsageError(f"no tokenizer of `{family}` is public: use `estimate`, or the provider's counting endpoint")
    tokens = len(_tokenizer(known.tokenizer)(text))
    return Estimate(tokens, tokens, tokens, known.tokenizer)


def _family(name: str) -> Family:
    try:
        return FAMILIES[name]
    except KeyError:
        raise UsageError(f"no family `{name}` of models; known are {', '.join(FAMILIES)}") from None


@functools.cache
def _tokenizer(name: str) -> Callable[[str], list[int]]:
    try:
        splintr: Any = importlib.import_module("splintr")
    except ImportError:
        raise UsageError("exact counts need a tokenizer: install beleg[tokens]") from None
    encode: Callable[[str], list[int]] = splintr.Tokenizer.from_pretrained(name).encode_ordinary
    return encode
