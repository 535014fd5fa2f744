"""Estimates hold the true figure in their band, and say what they stand on."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.agent.calibration import Calibration, CannotCalibrate
from beleg.contract.tokens import FAMILIES, Estimate, count, estimate, family_of
from beleg.core.errors import UsageError

PROSE = (
    "Ein Freelancer sieht die Werkzeuge des Steuerberaters nie, weil er keine Mandanten hat. Jede Definition kostet "
    "bei jeder Anfrage Token, gleich ob der Nutzer eine Firma gründet oder nach der Umsatzsteuer fragt."
)
TOOL = json.dumps(
    {
        "name": "list_transactions",
        "description": "Transactions between two days, both included, newest first, with counterparty and amount.",
        "input_schema": {
            "type": "object",
            "properties": {
                "first": {
                    "type": "string",
                    "description": "Day as YYYY-MM-DD",
                    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
                },
                "most": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            },
            "required": ["first"],
        },
    }
)
CODE = "def total(rows: list[dict[str, int]]) -> int:\n    return sum(row['amount'] for row in rows if row['open'])\n"
COUNTED = {
    "o200k": {PROSE: 42, TOOL: 120, CODE: 30},
    "cl100k": {PROSE: 55, TOOL: 120, CODE: 30},
    "deepseek": {PROSE: 55, TOOL: 125, CODE: 31},
    "mistral": {PROSE: 51, TOOL: 126, CODE: 31},
}
"""By the tokenizers in splintr-rs 0.22.0; none of the texts was fitted to."""


@pytest.mark.parametrize("family", COUNTED)
def test_the_band_holds_what_the_tokenizer_counts(family: str) -> None:
    for text, tokens in COUNTED[family].items():
        found = estimate(text, family)
        assert found.low <= tokens <= found.high
        assert abs(found.tokens - tokens) <= 0.16 * tokens


@pytest.mark.parametrize("family", COUNTED)
def test_an_exact_count_is_the_tokenizers_own(family: str) -> None:
    pytest.importorskip("splintr")
    for text, tokens in COUNTED[family].items():
        found = count(text, family)
        assert found == Estimate(tokens, tokens, tokens, FAMILIES[family].tokenizer or "")
        assert found.exact
        assert not estimate(text, family).exact


def test_the_band_of_a_family_without_tokenizer_is_wider() -> None:
    def width(family: str) -> float:
        found = estimate(PROSE, family)
        return (found.high - found.low) / found.tokens

    assert width("o200k") < width("claude") < width("claude-4.7")
    assert width("other") > max(width(name) for name in FAMILIES if name != "other")


def test_the_band_of_an_unknown_model_holds_every_measured_family() -> None:
    for family, counted in COUNTED.items():
        for text, tokens in counted.items():
            found = estimate(text, "other")
            assert found.low <= tokens <= found.high, family


@given(st.text(), st.sampled_from(sorted(FAMILIES)))
def test_any_text_has_an_estimate_within_its_band(text: str, family: str) -> None:
    found = estimate(text, family)
    assert 0 <= found.low <= found.tokens <= found.high
    assert estimate("", family).tokens == 0


def test_a_lone_surrogate_is_counted_like_any_sign() -> None:
    assert estimate("a\ud800b", "o200k").tokens >= 1


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-opus-4-6-20260101", "claude"),
        ("claude-opus-4-7", "claude-4.7"),
        ("anthropic/claude-sonnet-5", "claude-4.7"),
        ("eu.anthropic.claude-haiku-4-5-v1:0", "claude"),
        ("claude-fable-5", "claude-4.7"),
        ("gpt-5.6", "o200k"),
        ("openai/o3", "o200k"),
        ("gpt-4-turbo", "cl100k"),
        ("gpt-4o-mini", "o200k"),
        ("gemini-3.1-pro", "gemini"),
        ("deepseek-chat", "deepseek"),
        ("my-own-model", "other"),
    ],
)
def test_a_model_belongs_to_a_family(model: str, family: str) -> None:
    assert family_of(model) == family


def test_an_unknown_family_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no family `gpt` of models; known are o200k"):
        estimate("text", "gpt")


def test_no_exact_count_is_claimed_where_no_tokenizer_is_public() -> None:
    with pytest.raises(UsageError, match=r"no tokenizer of `claude-4\.7` is public"):
        count("text", "claude-4.7")


def samples(factor: float, number: int = 40) -> list[tuple[Estimate, int]]:
    estimates = [estimate(TOOL * (1 + n), "claude") for n in range(number)]
    return [(each, round(each.tokens * factor)) for each in estimates]


def test_reported_usage_narrows_the_band() -> None:
    calibration = Calibration.fit(samples(1.2))
    before = estimate(PROSE, "claude")
    after = calibration.apply(before)
    assert after.tokens == pytest.approx(before.tokens * 1.2, abs=1)
    assert after.high - after.low < before.high - before.low
    assert after.tokenizer == "estimate:claude, calibrated by 40"


def test_an_exact_count_is_not_calibrated() -> None:
    exact = Estimate(7, 7, 7, "o200k_base")
    assert Calibration.fit(samples(1.2)).apply(exact) == exact


@given(st.floats(0.8, 1.4), st.integers(0, 20_000), st.lists(st.integers(1_000, 9_000), min_size=20, max_size=60))
def test_a_rest_that_nobody_counted_does_not_move_the_factor(factor: float, rest: int, sizes: list[int]) -> None:
    pairs = [(Estimate(n, n, n, "estimate:claude"), rest + round(n * factor)) for n in [*sizes, 500, 12_000]]
    found = Calibration.fit_part(pairs)
    assert found.factor == pytest.approx(factor, rel=0.01)
    assert found.low <= found.factor <= found.high


def test_a_part_tells_by_how_much_it_may_be_wrong() -> None:
    rng = random.Random(1)
    sizes = [rng.choice([5_000, 6_500]) for _ in range(400)]
    pairs = [(Estimate(n, n, n, "estimate:claude"), round(1.3 * n) + rng.randint(200, 900)) for n in sizes]
    found = Calibration.fit_part(pairs)
    assert found.low < 1.3 < found.high
    assert found.high - found.low < 0.35
    assert found.high - found.low > 2 * 0.09 * found.factor


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([(5_000, 7_000)] * 19, "19 requests are too few"),
        ([(5_000, 7_000)] * 30, "two tool lists of different size are needed"),
        ([(5_000, 7_000), (5_100, 6_000), (5_200, 9_000)] * 10, "no better than a guess"),
        ([(5_000, 7_000), (6_000, 6_000)] * 10, "no better than a guess"),
    ],
)
def test_what_tells_nothing_is_said_and_calibrates_nothing(pairs: list[tuple[int, int]], said: str) -> None:
    with pytest.raises(CannotCalibrate, match=said):
        Calibration.fit_part((Estimate(n, n, n, "estimate:claude"), whole) for n, whole in pairs)


def test_too_few_or_mixed_samples_calibrate_nothing() -> None:
    with pytest.raises(UsageError, match="19 requests are too few"):
        Calibration.fit(samples(1.2, 19))
    mixed = [*samples(1.2), (estimate(TOOL, "o200k"), 100)]
    with pytest.raises(UsageError, match="of one family"):
        Calibration.fit(mixed)
    with pytest.raises(UsageError, match="tokens on both sides"):
        Calibration.fit([*samples(1.2), (estimate(TOOL, "claude"), 0)])
