"""Cost per business day as one SVG that stands alone: legend and axes inside, no style sheet around it."""

from collections import defaultdict
from datetime import date, timedelta

from markupsafe import Markup

from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.lake.engine import connect
from beleg.lake.snapshot import Snapshot
from beleg.report.amounts import ENGLISH
from beleg.report.svg import ceiling

DAYS = 60
_COLOURS = ("#2f6f8f", "#d98f2b", "#5b9a68", "#b5524a", "#7d6aa8", "#8a7a5c", "#4fa3a5", "#9aa0a6")
_WIDTH, _HEIGHT, _LEFT, _TOP = 900, 260, 90, 30
_FRAME = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="sans-serif"'
    ' font-size="12"><rect width="100%" height="100%" fill="white"/>{2}</svg>'
)
"""Named sizes, since a page that gives a picture no room of its own, such as Dagster's, would draw none."""
_RECT = Markup('<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>')
_TEXT = Markup('<text x="{}" y="{}" text-anchor="{}" fill="#333">{}</text>')

Costs = dict[date, dict[str, int]]
"""Business day → workflow → pico-USD."""


def cost_plot(settings: Settings) -> str:
    """The newest days of `unit_costs` as the lake holds it, published or not; a blank frame where it is empty."""
    lake = Snapshot.latest(settings)
    months = sorted(lake.partitions("unit_costs"))[-3:]
    with connect(settings.home / "scratch") as con:
        con.execute(f"CREATE TEMP VIEW unit_costs AS SELECT * FROM {lake.relation('unit_costs', months)}")
        rows = con.execute(query("beleg.cost", "cost_by_workflow"), {"days": DAYS}).fetchall()
    costs: Costs = defaultdict(dict)
    for day, workflow, pico_usd in rows:
        costs[day][workflow] = int(pico_usd)
    return str(_draw(costs))


def _draw(costs: Costs) -> Markup:
    if not any(sum(of_day.values()) for of_day in costs.values()):
        return _FRAME.format(_WIDTH, _HEIGHT, _TEXT.format(_WIDTH // 2, _HEIGHT // 2, "middle", "no cost"))
    first, last = min(costs), max(costs)
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    totals: dict[str, int] = defaultdict(int)
    for of_day in costs.values():
        for workflow, pico_usd in of_day.items():
            totals[workflow] += pico_usd
    ranked = sorted(totals, key=lambda name: (-totals[name], name))
    top = ceiling(max(sum(of_day.values()) for of_day in costs.values()))
    shapes = [_bars(costs, days, ranked, top), _axis(days, top), _legend(ranked)]
    return _FRAME.format(_WIDTH, _HEIGHT + 60, Markup().join(shapes))


def _bars(costs: Costs, days: list[date], ranked: list[str], top: int) -> Markup:
    slot = (_WIDTH - _LEFT) / len(days)
    shapes = []
    for index, day in enumerate(days):
        below = 0
        for workflow in ranked:
            value = costs.get(day, {}).get(workflow, 0)
            low, high = (_HEIGHT * edge // top for edge in (below, below + value))
            below += value
            if high > low:
                place = (round(_LEFT + index * slot, 1), _TOP + _HEIGHT - high, round(slot * 0.8, 1), high - low)
                shapes.append(_RECT.format(*place, _colour(ranked, workflow)))
    return Markup().join(shapes)


def _axis(days: list[date], top: int) -> Markup:
    marks = [_TEXT.format(_LEFT - 8, _TOP + 4, "end", f"{ENGLISH.usd(top)} $"), _TEXT.format(_LEFT - 8, _TOP + _HEIGHT,
             "end", "0")]  # fmt: skip
    ends = [_TEXT.format(_LEFT, _TOP + _HEIGHT + 16, "start", days[0]), _TEXT.format(_WIDTH, _TOP + _HEIGHT + 16, "end",
            days[-1])]  # fmt: skip
    return Markup().join([*marks, *ends])


def _legend(ranked: list[str]) -> Markup:
    shapes = []
    for number, workflow in enumerate(ranked[: len(_COLOURS)]):
        x = _LEFT + number * (_WIDTH - _LEFT) // len(_COLOURS)
        label = workflow if number < len(_COLOURS) - 1 else "others"
        shapes += [_RECT.format(x, 8, 10, 10, _colour(ranked, workflow)), _TEXT.format(x + 14, 17, "start", label[:14])]
    return Markup().join(shapes)


def _colour(ranked: list[str], workflow: str) -> str:
    return _COLOURS[min(ranked.index(workflow), len(_COLOURS) - 1)]
