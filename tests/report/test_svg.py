"""Drawings: whole coordinates, parts that meet, nothing unescaped."""

import re
from fractions import Fraction

import pytest

from beleg.report.amounts import ENGLISH
from beleg.report.svg import Series, ceiling, sparkline, stacked_bars


@pytest.mark.parametrize(("most", "end"), [(1, 1), (3, 5), (5, 5), (501, 1000), (1_700_000, 2_000_000)])
def test_the_axis_ends_at_a_round_amount(most: int, end: int) -> None:
    assert ceiling(most) == end


def test_stacked_parts_meet_without_gap_or_overlap() -> None:
    series = [Series("a", "c0", (333,)), Series("b", "c1", (333,)), Series("c", "c2", (334,))]
    drawn = stacked_bars(["2030-01-07"], series, 1000, "cost", ENGLISH)
    edges = [(int(y), int(h)) for y, h in re.findall(r'<rect[^>]* y="(\d+)"[^>]* height="(\d+)"', drawn)]
    assert [y + height for y, height in edges] == [1000, edges[0][0], edges[1][0]]
    assert edges[-1][0] == 0


def test_labels_are_escaped() -> None:
    drawn = stacked_bars(["d"], [Series("<script>", "c0", (1,))], 1, '"><img>', ENGLISH)
    assert "<script>" not in drawn
    assert "<img>" not in drawn


def test_an_unknown_value_is_a_gap_not_a_zero() -> None:
    drawn = sparkline([Fraction(1), Fraction(2), None, Fraction(2), Fraction(1)], "trend")
    assert drawn.count("<polyline") == 2


def test_a_trend_needs_two_known_values() -> None:
    assert sparkline([Fraction(1), None], "trend") == ""


def test_a_trend_of_zeros_lies_on_the_axis() -> None:
    assert "50" in sparkline([Fraction(0), Fraction(0)], "trend")
