"""Cost over time: stacked bars, their legend and axes, and the same as a table."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from markupsafe import Markup

from beleg.report.figures import Figure, Scope
from beleg.report.language import Language
from beleg.report.names import name_of
from beleg.report.svg import Series, ceiling, stacked_bars
from beleg.report.tables import Table, table

COLOURS = 7
"""Classes c0 to c6 of the stylesheet; the workflows beyond share c7."""

_Costs = Mapping[date, int]


@dataclass(frozen=True)
class Chart:
    """Cost over time."""

    svg: Markup
    legend: list[tuple[str, str, str]]
    """(class, label, amount)."""
    ticks: list[str]
    """Labels of the vertical axis from the top down."""
    labels: list[str]
    """Labels of the horizontal axis from left to right."""
    table: Table


def chart(figure: Figure, scope: Scope, language: Language) -> Chart | None:
    """Stacked bars of cost per day, week or month; None where nothing was spent."""
    starts = _starts(figure, scope)
    series = _series(figure, starts, language)
    if not series:
        return None
    bars, numbers = [start.isoformat() for start in starts], language.numbers
    top_pico_usd = ceiling(max(map(sum, zip(*(s.values for s in series), strict=True))))
    title = language.text(f"cost_per_{scope.bucket}")
    label = language.text("chart_label", title=title, first=bars[0], last=bars[-1])
    return Chart(
        svg=stacked_bars(bars, series, top_pico_usd, label, numbers),
        legend=[(s.css_class, s.label, numbers.usd(sum(s.values))) for s in series],
        ticks=[numbers.small_usd(top_pico_usd), numbers.small_usd(Fraction(top_pico_usd, 2)), "0"],
        labels=[bars[0], bars[len(bars) // 2], bars[-1]] if len(bars) > 2 else bars,
        table=_table(bars, series, scope.bucket, language),
    )


def _table(bars: Sequence[str], series: Sequence[Series], bucket: str, language: Language) -> Table:
    rows = [[bar, *(language.numbers.usd(s.values[i], 4) for s in series)] for i, bar in enumerate(bars)]
    label = language.text("chart_table", title=language.text(f"cost_per_{bucket}"))
    return table(label, [language.text(bucket), *("#" + s.label for s in series)], rows)


def _starts(figure: Figure, scope: Scope) -> list[date]:
    """Every bar of the axis; a day without cost is a bar of no height."""
    if scope.bucket != "day" or scope.first_day is None:
        return sorted({row["bucket_start"] for row in figure.rows})
    return [scope.first_day + timedelta(days=number) for number in range(scope.days)]


def _series(figure: Figure, starts: Sequence[date], language: Language) -> list[Series]:
    costs: defaultdict[str, defaultdict[date, int]] = defaultdict(lambda: defaultdict(int))
    for row in figure.rows:
        costs[name_of(row["workflow"], language)][row["bucket_start"]] += int(row["cost_pico_usd"])
    ranked = sorted(costs, key=lambda name: (-sum(costs[name].values()), name))
    shown: list[tuple[str, list[_Costs]]] = [(name, [costs[name]]) for name in ranked[:COLOURS]]
    if ranked[COLOURS:]:
        shown.append((language.text("others"), [costs[name] for name in ranked[COLOURS:]]))
    return [
        Series(name, f"c{number}", tuple(sum(part.get(start, 0) for part in parts) for start in starts))
        for number, (name, parts) in enumerate(shown)
    ]
