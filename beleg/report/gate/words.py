"""The words of the gate's report, and how figures are written in its languages."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from beleg.core import yamlfile
from beleg.evals.gate.reasons import SENTENCES, Value
from beleg.report.amounts import UNKNOWN, Numbers
from beleg.report.language import Language
from beleg.report.language import language as languages

_SIGNIFICANT = 4
REASON = "reason."


@cache
def language(code: str) -> Language:
    """The gate's texts in a language; raises UsageError for one the reports do not speak."""
    numbers = languages(code).numbers
    name = "beleg/report/gate/texts.yaml"
    raw = yamlfile.load_text(files("beleg.report.gate").joinpath("texts.yaml").read_text(encoding="utf-8"), name)
    texts = {key: text[code] for key, text in raw.items() if code in text}
    english = {f"{REASON}{key}": sentence for key, sentence in SENTENCES.items()} if code == "en" else {}
    return Language(code, numbers, texts | english)


def sentence(told: Mapping[str, Any], language: Language) -> str:
    """A reason of the evidence in words."""
    values = {name: shown(name, value, language) for name, value in told["values"].items()}
    return language.text(f"{REASON}{told['code']}", **values)


def shown(name: str, value: Value, language: Language) -> str:
    """A value of a reason, by the ending of its name: share, points, or neither."""
    if isinstance(value, str):
        return language.word("word", value, value)
    if name.endswith("_share"):
        return percent(value, language.numbers)
    if name.endswith("_points"):
        return language.text("points", number=tenths(100 * value, language.numbers))
    return figure(value, language.numbers)


def figure(value: float | None, numbers: Numbers) -> str:
    """A figure with four significant digits, whole ones as they are; unknown is a dash."""
    if value is None:
        return UNKNOWN
    if value == int(value):
        return numbers.count(int(value))
    text = f"{abs(value):.{_SIGNIFICANT}g}"
    if "e" in text:
        minus = "\N{MINUS SIGN}" if value < 0 else ""
        return f"{minus}{text.replace('.', numbers.point)}"
    digits = len(text.partition(".")[2])
    return numbers.decimal(Fraction(value), digits)


def percent(value: float | None, numbers: Numbers, digits: int = 1) -> str:
    """A share as percent."""
    return UNKNOWN if value is None else f"{numbers.decimal(Fraction(100 * value), digits)} %"


def tenths(value: float, numbers: Numbers) -> str:
    """A number with one decimal place."""
    return numbers.decimal(Fraction(value), 1)


def signed_points(value: float | None, numbers: Numbers) -> str:
    """A difference of shares in points, with its sign."""
    if value is None:
        return UNKNOWN
    text = tenths(100 * value, numbers)
    return f"+{text}" if value > 0 and text.strip("0,.") else text


def times(value: float | None, numbers: Numbers) -> str:
    """A ratio, `×1.08`."""
    return UNKNOWN if value is None else f"×{numbers.decimal(Fraction(value), 2)}"


def p_value(value: float | None, numbers: Numbers) -> str:
    """A p-value: four places, the very small ones as a bound."""
    if value is None:
        return UNKNOWN
    least = Fraction(1, 10_000)
    return f"< {numbers.decimal(least, 4)}" if value < least else numbers.decimal(Fraction(value), 4)
