"""What things are called in the report."""

from collections.abc import Sequence
from datetime import date

from beleg.report.amounts import UNKNOWN
from beleg.report.figures import Row
from beleg.report.language import Language


def name_of(workflow: str | None, language: Language) -> str:
    """Name of a workflow; steps whose run has no reported start belong to none."""
    return language.text("no_start") if workflow is None else workflow


def per_of(row: Row, language: Language) -> str:
    """What a unit cost is for, from the columns `unit` and `unit_per`."""
    if row["unit"] is None:
        return language.text("no_unit")
    if row["unit_per"] == 1:
        return language.text("per_one_unit", unit=row["unit"])
    return language.text("per_units", per=language.numbers.count(row["unit_per"]), unit=row["unit"])


def flag_kind(kind: str, language: Language) -> str:
    """A kind of flag in words."""
    return language.word("flag", kind, kind.replace("_", " "))


def span(first: date | None, last: date | None, language: Language) -> str:
    """Days from the first to the last, in the form that `--from` takes."""
    if first is None or last is None:
        return UNKNOWN
    return f"{first}" if first == last else language.text("span", first=first, last=last)


def words(codes: Sequence[str]) -> str:
    """Codes one after the other."""
    return ", ".join(codes)
