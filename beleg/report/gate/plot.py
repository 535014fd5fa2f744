"""The plot: for each criterion the difference with its interval, in units of what the margin allows.

One axis serves all: 0 is the baseline, -1 the margin, right of it is better. So a bar that ends before -1 passes,
whatever the criterion measures. The drawing is stretched to its place; numbers stand beside it as text.
"""

from collections.abc import Mapping
from math import log
from typing import Any

from markupsafe import Markup

_WIDTH, _HEIGHT, _MIDDLE = 1000, 40, 20
_LEFT, _RIGHT = -2.5, 2.5
"""Ends of the axis, in margins; what lies beyond is cut off with an arrow."""
_FRAME = Markup(
    '<svg class="interval" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
)
_RECT = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>')
_LINE = Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>')
_ARROW = Markup('<polyline class="reach {}" points="{},{} {},{} {},{}"/>')


def interval(compared: Mapping[str, Any] | None, label: str) -> Markup:
    """The row of one criterion; empty where nothing could be compared."""
    if compared is None or compared["lower"] is None or not compared["margin"]:
        return Markup()
    ends = [_margins(compared[name], compared) for name in ("lower", "estimate", "upper")]
    low, middle, high = sorted(ends)
    verdict = compared["verdict"]
    shapes = [
        _RECT.format("beyond", 0, 0, _x(-1), _HEIGHT),
        _LINE.format("zero", _x(0), _x(0), 0, _HEIGHT),
        _LINE.format("margin", _x(-1), _x(-1), 0, _HEIGHT),
        _LINE.format(f"reach {verdict}", _x(low), _x(high), _MIDDLE, _MIDDLE),
        *(_LINE.format(f"reach {verdict}", _x(end), _x(end), 12, 28) for end in (low, high) if _LEFT < end < _RIGHT),
        *_arrows(low, high, verdict),
    ]
    if _LEFT <= middle <= _RIGHT:
        shapes.append(_RECT.format(f"dot {verdict}", _x(middle) - 5, 10, 10, 20))
    return _FRAME.format(_WIDTH, _HEIGHT, label, Markup().join(shapes))


def _margins(value: float, compared: Mapping[str, Any]) -> float:
    """A difference, or the logarithm of a ratio, in margins; better is positive."""
    margin = float(compared["margin"])
    return value / margin if compared["measure"] == "difference" else -log(value) / log(1 + margin)


def _x(margins: float) -> int:
    inside = min(max(margins, _LEFT), _RIGHT)
    return round((inside - _LEFT) / (_RIGHT - _LEFT) * _WIDTH)


def _arrows(low: float, high: float, verdict: str) -> list[Markup]:
    found = []
    if low <= _LEFT:
        found.append(_ARROW.format(verdict, 14, 10, 2, _MIDDLE, 14, 30))
    if high >= _RIGHT:
        found.append(_ARROW.format(verdict, _WIDTH - 14, 10, _WIDTH - 2, _MIDDLE, _WIDTH - 14, 30))
    return found
