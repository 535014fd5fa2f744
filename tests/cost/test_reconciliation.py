"""Billed and computed cost are kept apart."""

from tests.cost.support import GPT, Lake

TOKEN = 10_000_000


def test_amounts_are_compared_over_steps_that_carry_both() -> None:
    """litellm#8514: 27 USD computed against 770 billed must be seen."""
    lake = Lake()
    lake.step(**GPT, output=1, billed_pico_usd=TOKEN)
    lake.step(**GPT, output=1, billed_pico_usd=3 * TOKEN)
    lake.step(**GPT, output=5)
    lake.step(**GPT, billed_pico_usd=7)
    lake.step(**GPT)
    lake.step(kind="tool")
    lake.build()
    names = (
        "steps, billed_steps, compared_steps, equal_steps, billed_unpriced_steps, unbilled_priced_steps, "
        "compared_billed_pico_usd, compared_computed_pico_usd, difference_pico_usd, billed_unpriced_pico_usd, "
        "unbilled_computed_pico_usd"
    )
    expected = (5, 3, 2, 1, 1, 1, 4 * TOKEN, 2 * TOKEN, 2 * TOKEN, 7, 5 * TOKEN)
    assert lake.rows(f"SELECT {names} FROM reconciliation") == [expected]


def test_a_bill_never_replaces_a_computed_cost() -> None:
    """C18 opik#5619: whatever a source calls its cost, the computed one stays."""
    lake = Lake()
    lake.step(**GPT, output=1, billed_pico_usd=150_000 * 10**12)
    lake.build()
    assert lake.rows("SELECT cost_pico_usd FROM step_costs") == [(TOKEN,)]
    assert lake.one("SELECT sum(cost_pico_usd) FROM unit_costs") == TOKEN


def test_a_duplicate_is_not_billed_twice() -> None:
    lake = Lake()
    lake.step(call_key="k", **GPT, output=1, billed_pico_usd=TOKEN)
    lake.step(call_key="k", **GPT, output=1, billed_pico_usd=TOKEN)
    lake.build()
    assert lake.rows("SELECT steps, compared_billed_pico_usd FROM reconciliation") == [(1, TOKEN)]
