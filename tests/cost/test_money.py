"""Exact amounts and the one rounding."""

from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.cost import money


@pytest.mark.parametrize(("pico", "micro"), [(499_999, 0), (500_000, 0), (500_001, 1), (1_500_000, 2), (2_500_000, 2)])
def test_a_tie_goes_to_the_even_micro_usd(pico: int, micro: int) -> None:
    assert money.micro_usd(pico) == micro
    assert money.micro_usd(-pico) == -micro


@given(st.integers(-(10**30), 10**30), st.integers(1, 10**12))
def test_division_rounds_as_decimal_does(numerator: int, denominator: int) -> None:
    with localcontext() as context:
        context.prec = 80
        exact = (Decimal(numerator) / Decimal(denominator)).quantize(Decimal(1), ROUND_HALF_EVEN)
    assert money.divide_half_even(numerator, denominator) == exact


@given(st.integers(-(10**27), 10**27))
def test_exact_text_loses_no_digit(pico: int) -> None:
    assert int(Decimal(money.exact_usd_text(pico)).scaleb(12)) == pico


@pytest.mark.parametrize(("pico", "text"), [(0, "0.000000"), (-1_500_000, "-0.000002"), (10**12, "1.000000")])
def test_usd_are_shown_with_six_places(pico: int, text: str) -> None:
    assert money.usd_text(pico) == text


@pytest.mark.parametrize("value", [0.1, True, None, "", "1,5", "NaN", "Infinity", "-1", []])
def test_what_is_no_exact_amount_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is no exact amount"):
        money.parse_usd(value)


def test_more_than_twelve_places_are_refused() -> None:
    assert money.pico_usd(Decimal("0.000000000001")) == 1
    with pytest.raises(ValueError, match="no whole pico-USD"):
        money.pico_usd(Decimal("0.0000000000001"))
