"""Dates: ISO 8601 days, and forms that the contract declares."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Any, ClassVar

from beleg.evals.scorers.model import RIGHT, CannotJudge, Kind, Score, Scorer, wrong
from beleg.evals.scorers.options import refuse

ISO = "YYYY-MM-DD"
_TOKENS = {
    "YYYY": r"(?P<year>[0-9]{4})",
    "YY": r"(?P<short>[0-9]{2})",
    "MM": r"(?P<month>[0-9]{2})",
    "M": r"(?P<month>[0-9]{1,2})",
    "DD": r"(?P<day>[0-9]{2})",
    "D": r"(?P<day>[0-9]{1,2})",
}
_TOKEN = re.compile("YYYY|YY|MM|M|DD|D")
_CENTURY = 2000
"""Two digits of a year mean this century; there is no guessing by distance."""


@lru_cache(maxsize=1_000)
def pattern(form: str) -> re.Pattern[str] | None:
    """The expression of a form such as `DD.MM.YYYY`; None where it does not name day, month and year once each."""
    parts = _TOKEN.findall(form)
    if sorted(each[0] for each in parts) != ["D", "M", "Y"]:
        return None
    between = _TOKEN.split(form)
    return re.compile(
        "".join(re.escape(text) + _TOKENS.get(token, "") for text, token in zip(between, [*parts, ""], strict=True))
    )


def read(value: Any, forms: tuple[str, ...]) -> date | None:
    """The day that a value means; None where it means none, or different ones under different forms."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if not isinstance(value, str) or len(value) > 100:
        return None
    days = {day for form in forms if (day := _under(form, value.strip()))}
    return days.pop() if len(days) == 1 else None


def _under(form: str, text: str) -> date | None:
    known = pattern(form)
    found = known.fullmatch(text) if known else None
    if found is None:
        return None
    parts = found.groupdict()
    year = int(parts["year"]) if "year" in parts else _CENTURY + int(parts["short"])
    try:
        return date(year, int(parts["month"]), int(parts["day"]))
    except ValueError:
        return None


@dataclass(frozen=True, kw_only=True)
class Date(Scorer):
    """The same day. Texts are read as `YYYY-MM-DD` and in the `forms` given, such as `DD.MM.YYYY,D.M.YY`.

    A text that means different days under different forms is unparsable: the answer is not unmistakable.
    """

    name: ClassVar[str] = "date"
    version: ClassVar[str] = "1.0.0"
    kind: ClassVar[Kind] = "binary"

    forms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for form in self.forms:
            if pattern(form) is None:
                raise refuse(self, "forms", form, "D or DD, M or MM, YY or YYYY, once each, such as DD.MM.YYYY")

    def compare(self, expected: Any, actual: Any) -> Score:
        """Compare two days."""
        forms = (ISO, *self.forms)
        wanted, given = read(expected, forms), read(actual, forms)
        if wanted is None:
            raise CannotJudge("expected_is_no_date")
        if given is None:
            return wrong("unparsable" if isinstance(actual, str) else "wrong_type")
        if given == wanted:
            return RIGHT
        swapped = (given.year, given.month, given.day) == (wanted.year, wanted.day, wanted.month)
        return wrong("day_and_month_swapped" if swapped else "different")
