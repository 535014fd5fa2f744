"""Drawings as inline SVG: pure functions of exact numbers, with whole coordinates, so that bytes repeat.

Axis labels are HTML around the drawing, since text inside a stretched drawing would be stretched too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from beleg.report.amounts import Numbers

_BARS_HEIGHT = 1000
_SLOT = 100
_BAR = 76
"""Width of a bar within its slot."""
_SPARK_WIDTH, _SPARK_HEIGHT, _SPARK_MARGIN = 240, 56, 6
_NICE = (1, 2, 5)


@dataclass(frozen=True)
class Series:
    """One colour of the stacked bars."""

    label: str
    css_class: str
    values: tuple[int, ...]
    """pico-USD, one per bar."""


def ceiling(most_pico_usd: int) -> int:
    """The end of the axis: the next 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for nice in _NICE:
            if nice * power >= most_pico_usd:
                return nice * power
        power *= 10


def stacked_bars(
    bars: Sequence[str], series: Sequence[Series], top_pico_usd: int, label: str, numbers: Numbers
) -> Markup:
    """One bar per entry of `bars`, stacked from the first series upwards to the axis' end `top_pico_usd`."""
    shapes = [_grid(len(bars))]
    for index, name in enumerate(bars):
        shapes.extend(_bar(index, name, series, top_pico_usd, numbers))
    frame = Markup(
        '<svg class="bars" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    )
    return frame.format(len(bars) * _SLOT, _BARS_HEIGHT, label, Markup().join(shapes))


def _grid(bars: int) -> Markup:
    line = Markup('<line class="grid" x1="0" x2="{}" y1="{}" y2="{}"/>')
    heights = (0, _BARS_HEIGHT // 2, _BARS_HEIGHT)
    return Markup().join(line.format(bars * _SLOT, y, y) for y in heights)


def _bar(index: int, name: str, series: Sequence[Series], top_pico_usd: int, numbers: Numbers) -> list[Markup]:
    rect = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"><title>{} · {} · {} USD</title></rect>')
    shapes, below = [], 0
    for one in series:
        value = one.values[index]
        # Both ends are rounded, not the height: stacked parts meet without gap or overlap.
        low, high = (_BARS_HEIGHT * edge // top_pico_usd for edge in (below, below + value))
        below += value
        if high > low:
            x = index * _SLOT + (_SLOT - _BAR) // 2
            place = (x, _BARS_HEIGHT - high, _BAR, high - low)
            shapes.append(rect.format(one.css_class, *place, name, one.label, numbers.usd(value, 4)))
    return shapes


def sparkline(values: Sequence[Fraction | None], label: str) -> Markup:
    """A line through the known values, from zero up; a gap where a value is unknown. Empty for fewer than two."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Markup()
    top = max(known) or Fraction(1)
    points = [None if v is None else _point(i, len(values), v / top) for i, v in enumerate(values)]
    last = [point for point in points if point is not None][-1]
    frame = Markup(
        '<svg class="spark" viewBox="0 0 {} {}" role="img" aria-label="{}"><line class="grid" x1="0" x2="{}" y1="{}"'
        ' y2="{}"/>{}<circle cx="{}" cy="{}" r="4"/></svg>'
    )
    base = _SPARK_HEIGHT - _SPARK_MARGIN
    return frame.format(_SPARK_WIDTH, _SPARK_HEIGHT, label, _SPARK_WIDTH, base, base, _lines(points), *last)


def _point(index: int, count: int, height: Fraction) -> tuple[int, int]:
    x = _SPARK_MARGIN + index * (_SPARK_WIDTH - 2 * _SPARK_MARGIN) // (count - 1)
    return x, _SPARK_HEIGHT - _SPARK_MARGIN - int(height * (_SPARK_HEIGHT - 2 * _SPARK_MARGIN))


def _lines(points: Sequence[tuple[int, int] | None]) -> Markup:
    pieces: list[list[str]] = [[]]
    for point in points:
        if point is not None:
            pieces[-1].append(f"{point[0]},{point[1]}")
        elif pieces[-1]:
            pieces.append([])
    return Markup().join(Markup('<polyline points="{}"/>').format(" ".join(piece)) for piece in pieces if piece)
