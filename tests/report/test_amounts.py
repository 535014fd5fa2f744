"""Amounts are exact until they are shown, rounded once, and unknown is never zero."""

from fractions import Fraction

import pytest

from beleg.report import amounts
from beleg.report.amounts import ENGLISH, GERMAN


@pytest.mark.parametrize(
    ("pico_usd", "digits", "text"),
    [
        (0, 2, "0.00"),
        (5_000_000_000, 2, "0.00"),
        (15_000_000_000, 2, "0.02"),
        (25_000_000_000, 2, "0.02"),
        (1_234_567_890_000_000_000, 2, "1,234,567.89"),
        (-81_430_320_000, 6, "\N{MINUS SIGN}0.081430"),
        (None, 2, "—"),
    ],
)
def test_usd_rounds_half_to_even(pico_usd: int | None, digits: int, text: str) -> None:
    assert ENGLISH.usd(pico_usd, digits) == text


@pytest.mark.parametrize(
    ("pico_usd", "text"),
    [
        (123_456_000_000_000, "123.46"),
        (1_000_000_000_000, "1.00"),
        (999_400_000_000, "0.999"),
        (89_640_000_000, "0.0896"),
        (1_234_000_000, "0.00123"),
        (3_000_000, "0.000003"),
        (0, "0.00"),
        (None, "—"),
    ],
)
def test_small_amounts_keep_three_digits(pico_usd: int | None, text: str) -> None:
    assert ENGLISH.small_usd(pico_usd) == text


def test_exact_amounts_add_up_to_the_last_digit() -> None:
    parts = [1, 20, 333_000_000_000_000]
    *shown, total = ENGLISH.exact_usd([*parts, sum(parts)])
    assert shown == ["0.000000000001", "0.000000000020", "333.000000000000"]
    assert total == "333.000000000021"


def test_a_unit_cost_is_a_ratio_of_sums_and_unknown_without_results() -> None:
    assert amounts.ratio(7, 3, 1000) == Fraction(7000, 3)
    assert amounts.ratio(7, 0, 1000) is None
    assert amounts.ratio(7, 3, None) is None


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (1, 3, "33.3 %"),
        (0, 9, "0.0 %"),
        (9, 9, "100.0 %"),
        (99_999, 100_000, "> 99.9 %"),
        (1, 9_999, "< 0.1 %"),
        (0, 0, "—"),
    ],
)
def test_a_share_is_whole_or_zero_only_if_it_is(part: int, whole: int, text: str) -> None:
    assert ENGLISH.share(part, whole) == text


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (Fraction(4), Fraction(3), "\N{MINUS SIGN}25 %"),
        (Fraction(3), Fraction(4), "+33 %"),
        (Fraction(1000), Fraction(1001), "±0 %"),
        (Fraction(0), Fraction(1), None),
        (None, Fraction(1), None),
        (Fraction(1), None, None),
    ],
)
def test_a_change_needs_two_known_sides(before: Fraction | None, after: Fraction | None, text: str | None) -> None:
    assert ENGLISH.change(before, after) == text


def test_german_groups_by_points_and_sets_a_comma() -> None:
    assert GERMAN.usd(1_234_567_890_000_000_000) == "1.234.567,89"
    assert GERMAN.count(1_234_567) == "1.234.567"
    assert GERMAN.share(99_999, 100_000) == "> 99,9 %"
    assert GERMAN.share(1, 9_999) == "< 0,1 %"
    assert GERMAN.mean(5, 2) == "2,5"
    assert GERMAN.mean(5, 0) == "—"
