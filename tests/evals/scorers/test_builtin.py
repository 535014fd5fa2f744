"""What each built-in scorer says, and about what it says nothing."""

import datetime as dt
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.evals.scorers import resolve
from beleg.evals.scorers.exact import plain
from beleg.evals.scorers.lists import common_in_order
from beleg.evals.scorers.number import read

NAN, INF = float("nan"), float("inf")
FIVE = {"n": 5}

# spec, expected, actual, value, note
CASES: list[tuple[str, Any, Any, float, str | None]] = [
    ("exact_match", {"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, 1, None),
    ("exact_match", 1, 1.0, 1, None),
    ("exact_match", 1, True, 0, "different"),
    ("exact_match", 0, False, 0, "different"),
    ("exact_match", "12", 12, 0, "different"),
    ("exact_match", [1, 2], [2, 1], 0, "different"),
    ("exact_match", 2**60, 2**60 + 1, 0, "different"),
    ("exact_match", 2**60, float(2**60), 0, "different"),
    ("exact_match", "\u00e9", "e\u0301", 0, "different"),
    ("exact_match", "\ud800", "\ud800", 1, None),
    ("exact_match", "\ud800", "\ud801", 0, "different"),
    ("exact_match", "a", "", 0, "different"),
    ("exact_match?ignore=why", [{"id": 1, "why": "x"}], [{"id": 1, "why": "y"}], 1, None),
    ("exact_match?ignore=why", {"id": 1, "why": "x"}, {"id": 2, "why": "x"}, 0, "different"),
    ("exact_match:a.0.b", {"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}, 1, None),
    ("exact_match:/a~1b", {"a/b": 1}, {"a/b": 1}, 1, None),
    ("exact_match:x", {"x": 1}, {}, 0, "missing"),
    ("exact_match:x", {"x": 1}, {"x": None}, 0, "missing"),
    ("exact_match:x", {"x": None}, {}, 1, None),
    ("exact_match:x", {"x": None}, {"x": None}, 1, None),
    ("exact_match:x", {"x": None}, {"x": 0}, 0, "unexpected"),
    ("exact_match:x", {"x": 1}, [1], 0, "missing"),
    ("exact_match:x", {"x": 1}, "x", 0, "missing"),
    ("text", "Müller  GmbH", "mu\u0308ller\u00a0GMBH ", 1, None),
    ("text", "Straße", "STRASSE", 1, None),
    ("text?keep_case=true", "Müller", "müller", 0, "different"),
    ("text", "12", 12, 0, "wrong_type"),
    ("number", 12, "12", 1, None),
    ("number", "12.0", 12, 1, None),
    ("number", 0.1, "0.1", 1, None),
    ("number", 0.3, 0.1 + 0.2, 0, "different"),
    ("number", 1, True, 0, "wrong_type"),
    ("number", 0, False, 0, "wrong_type"),
    ("number", 12, NAN, 0, "unparsable"),
    ("number", 12, INF, 0, "unparsable"),
    ("number", 12, "NaN", 0, "unparsable"),
    ("number", 12, "twelve", 0, "unparsable"),
    ("number", 12, "", 0, "unparsable"),
    ("number", 12, ".", 0, "unparsable"),
    ("number", 12, [12], 0, "wrong_type"),
    ("number", 12, "1" * 5000, 0, "unparsable"),
    ("number", 12, 10**4000, 0, "unparsable"),
    ("number", 12, "1e999", 0, "unparsable"),
    ("number", 12, "1e-999999999", 0, "unparsable"),
    ("number", 1234567, "1,234,567", 1, None),
    ("number", 1234567, "1 234 567", 1, None),
    ("number", 1234567, "1,234 567", 0, "unparsable"),
    ("number", 1234, "12,34", 0, "unparsable"),
    ("number", 12, "1\u0662", 0, "unparsable"),
    ("number", -5, "\u22125", 1, None),
    ("number", 5, "+5", 1, None),
    ("number", 1500, "1.5e3", 1, None),
    ("number?decimal=,", "1.234,56", 1234.56, 1, None),
    ("number?decimal=,", 1234.56, "1234.56", 0, "unparsable"),
    ("number?strip=%24%25", 12.5, "$12.5 %", 1, None),
    ("number?abs=0.01", "1.00", "1.01", 1, None),
    ("number?abs=0.01", "1.00", "1.0100001", 0, "different"),
    ("number?rel=0.01", 100, 101, 1, None),
    ("number?rel=0.01", 100, 101.0001, 0, "different"),
    ("number?rel=0.01", -100, -99, 1, None),
    ("number", 67954000, 67954, 0, "unit_error_1000"),
    ("number", 67954, "67,954,000", 0, "unit_error_1000"),
    ("number", 19, 0.19, 0, "unit_error_100"),
    ("number", 1.5, 1500000, 0, "unit_error_1000000"),
    ("number", 67954, 67954001, 0, "different"),
    ("number", 0, 1000, 0, "different"),
    ("number", 5, -5, 0, "sign_error"),
    ("date", "2026-08-14", "2026-08-14", 1, None),
    ("date", "2026-08-14", "14.08.2026", 0, "unparsable"),
    ("date?forms=DD.MM.YYYY,D.M.YY", "2026-08-04", "4.8.26", 1, None),
    ("date?forms=DD.MM.YYYY", "2026-08-04", "08.04.2026", 0, "day_and_month_swapped"),
    ("date?forms=DD/MM/YYYY,MM/DD/YYYY", "2026-08-04", "04/08/2026", 0, "unparsable"),
    ("date?forms=DD/MM/YYYY,MM/DD/YYYY", "2026-08-14", "14/08/2026", 1, None),
    ("date", "2026-08-14", "2026-02-30", 0, "unparsable"),
    ("date", "2026-08-14", "2026-08-14T00:00:00Z", 0, "unparsable"),
    ("date", dt.date(2026, 8, 14), "2026-08-14", 1, None),
    ("date", "2026-08-14", dt.datetime(2026, 8, 14, tzinfo=dt.UTC), 0, "wrong_type"),
    ("date", "2026-08-14", 20260814, 0, "wrong_type"),
    ("date", "2026-08-14", "\uff12\uff10\uff12\uff16-08-14", 0, "unparsable"),
    ("money", "99.96", 99.96, 1, None),
    ("money", 100, "100.00", 1, None),
    ("money?decimal=,", "1.234,56 €", {"amount": "1234,56", "currency": "EUR"}, 1, None),
    ("money", "EUR 12.50", "12.50 eur", 1, None),
    ("money", "-€5", "€ -5.00", 1, None),
    ("money?currency=EUR", "12.50", "12.50 €", 1, None),
    ("money", "12.50", "12.50 €", 0, "currency_missing"),
    ("money", "12.50 EUR", "12.50 USD", 0, "wrong_currency"),
    ("money?currency=AUD", "12.50", "$12.50", 1, None),
    ("money", "$12.50", "USD 12.50", 1, None),
    ("money", "12.50 EUR", "12.505 EUR", 0, "fraction_of_a_minor_unit"),
    ("money", "1250 JPY", "1250.5 JPY", 0, "fraction_of_a_minor_unit"),
    ("money", "1.250 KWD", "1.25 KWD", 1, None),
    ("money", "12.50 EUR", "1250 EUR", 0, "unit_error_100"),
    ("money?unit=minor", 1250, 1250.0, 1, None),
    ("money?unit=minor", 1250, 1250.5, 0, "fraction_of_a_minor_unit"),
    ("money", 1, True, 0, "wrong_type"),
    ("money", "12.50", "twelve", 0, "unparsable"),
    ("money", "12.50 EUR", {"amount": 12.5, "currency": 978}, 0, "unparsable"),
    ("money", "12.50 EUR", {"currency": "EUR"}, 0, "wrong_type"),
    ("money", 1, NAN, 0, "unparsable"),
    ("set_f1", ["a", "b", "a"], ["b", "a"], 1, None),
    ("set_f1", [], [], 1, None),
    ("set_f1", ["a"], [], 0, "items_missing"),
    ("set_f1", [], ["a"], 0, "items_extra"),
    ("set_f1", ["a", "b"], ["b", "c"], 0.5, "items_missing_and_extra"),
    ("set_f1", [1, "1"], [1], 2 / 3, "items_missing"),
    ("set_f1", [True], [1], 0, "items_missing_and_extra"),
    ("set_f1", ["a"], "a", 0, "wrong_type"),
    ("set_f1?key=id", [{"id": 1, "x": 1}], [{"id": 1, "x": 2}], 1, None),
    ("set_f1?ignore=x", [{"id": 1, "x": 1}], [{"id": 1, "x": 2}], 1, None),
    ("list_f1", ["a", "a"], ["a"], 2 / 3, "items_missing"),
    ("list_f1", ["a", "b"], ["b", "a"], 1, None),
    ("list_f1?ordered=true", ["a", "b"], ["b", "a"], 0.5, "wrong_order"),
    ("list_f1?ordered=true", ["a", "b", "c"], ["a", "c"], 0.8, "items_missing"),
    ("recall", ["a", "b", "c"], ["c", "x"], 1 / 3, "items_missing"),
    ("recall", ["a"], ["a", "x"], 1, None),
    ("recall", [], ["x"], 1, None),
    ("precision", ["a"], ["a", "x", "y"], 1 / 3, "items_extra"),
    ("precision", ["a"], [], 1, None),
    ("no_false_match", {"matches": [{"id": 1, "reason": "a"}]}, {"matches": [{"id": 1, "reason": "b"}]}, 1, None),
    ("no_false_match", {"matches": [{"id": 1}]}, {"matches": []}, 1, None),
    ("no_false_match", {"matches": [{"id": 1}]}, {"matches": [{"id": 2}]}, 0, "items_extra"),
    ("no_false_match", {"matches": [{"id": 1}]}, {"matches": [{"id": 1}, {"id": 1}]}, 0, "items_extra"),
    ("rows_f1", [], [], 1, None),
    ("rows_f1", [{"a": 1, "b": 2}, {"a": 2, "b": 3}], [{"a": 2, "b": 3}, {"a": 1, "b": 2}], 1, None),
    ("rows_f1", [{"a": 1, "b": 2}], [{"a": 1, "b": 9}], 0.5, "rows_differ"),
    ("rows_f1", [{"a": 1, "b": 2}], [], 0, "rows_missing"),
    ("rows_f1", [{"a": 1, "b": 2}], [{"a": 1, "b": 2}, {"a": 3, "b": 4}], 2 / 3, "rows_extra"),
    ("rows_f1", [{"a": 1, "b": 2}, {"a": 1, "b": 3}], [{"a": 1, "b": 3}, {"a": 1, "b": 4}], 0.75, "rows_differ"),
    ("rows_f1?key=a", [{"a": 1, "b": 2}], [{"a": 2, "b": 2}], 0, "different"),
    ("rows_f1?key=a", [{"a": 1}], [{"a": 1}], 1, None),
    ("rows_f1?ignore=b", [{"a": 1, "b": 2}], [{"a": 1, "b": 3}], 1, None),
    ("rows_f1", [{"a": 1}], [1], 0, "wrong_type"),
    ("record?a=3&b=1", {"a": 1, "b": 2}, {"a": 1, "b": 3}, 0.75, "fields_differ"),
    ("record?a=3&b=1", {"a": 1, "b": 2}, {"a": 1, "b": 2}, 1, None),
    ("record?a=0.1&b=0.2&c=0.3", {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3}, 1, None),
    ("record:r?a=1*text", {"r": {"a": "X"}}, {"r": {"a": "x"}}, 1, None),
    ("record?a=1", {"a": 1}, [1], 0, "wrong_type"),
    ("contains", "net 30", "Payable  NET 30 days", 1, None),
    ("contains", ["a", "b"], "only a", 0, "phrase_missing"),
    ("contains", "a", 5, 0, "wrong_type"),
    ("regex?pattern=^DE", None, "DE89", 1, None),
    ("regex?pattern=^DE", None, "XDE89", 0, "no_match"),
    ("regex?pattern=^DE", None, 5, 0, "wrong_type"),
    ("regex:x?pattern=a", None, {}, 0, "missing"),
    ("regex?pattern=(a%2B)%2B$", None, "a" * 50_000 + "b", 0, "no_match"),
    ("latency_ms", None, {"latency_ms": 812}, 812, None),
    ("cost_usd", None, {"cost_pico_usd": 41_000_000_000}, 0.041, None),
    ("cost_usd", None, {"cost_pico_usd": Decimal(5 * 10**11)}, 0.5, None),
    ("cost_pico_usd", None, {"cost_pico_usd": 7}, 7, None),
]


@pytest.mark.parametrize(("spec", "expected", "actual", "value", "note"), CASES)
def test_an_answer_gets_its_score(spec: str, expected: Any, actual: Any, value: float, note: str | None) -> None:
    score = resolve(spec).score(expected, actual)
    assert (score.status, score.note) == ("scored", note)
    assert score.value == pytest.approx(value, abs=1e-15)


# spec, expected, actual, status, note
UNJUDGED: list[tuple[str, Any, Any, str, str]] = [
    ("exact_match", 1, None, "missing", "no_result"),
    ("exact_match", None, None, "missing", "no_result"),
    ("exact_match", None, 1, "failed", "no_expected_value"),
    ("exact_match:x", {"y": 1}, {"x": 1}, "failed", "no_expected_value"),
    ("exact_match:0", [], [1], "failed", "no_expected_value"),
    ("text", 5, "5", "failed", "expected_is_no_text"),
    ("number", "n/a", 5, "failed", "expected_is_no_number"),
    ("number", True, 1, "failed", "expected_is_no_number"),
    ("number", NAN, NAN, "failed", "expected_is_no_number"),
    ("number", INF, INF, "failed", "expected_is_no_number"),
    ("date", "soon", "2026-01-01", "failed", "expected_is_no_date"),
    ("money", "12.505", "12.50", "failed", "expected_is_no_amount"),
    ("set_f1", "abc", ["a"], "failed", "expected_is_no_list"),
    ("rows_f1", [1], [{"a": 1}], "failed", "expected_is_no_list_of_records"),
    ("rows_f1", [{"a": 1}] * 501, [{"a": 1}] * 2, "failed", "too_many_rows"),
    ("record?a=1", [1], {"a": 1}, "failed", "expected_is_no_record"),
    ("record?a=1&b=1", {"a": 1}, {"a": 1, "b": 1}, "failed", "a_field_cannot_be_judged"),
    ("contains", [5], "5", "failed", "expected_is_no_text"),
    ("contains", " ", "anything", "failed", "expected_is_empty"),
    ("exact_match", object(), object(), "failed", "raised_NotCanonicalError"),
    ("latency_ms", None, None, "missing", "no_result"),
    ("latency_ms", None, {}, "missing", "no_result"),
    ("cost_usd", None, {"cost_pico_usd": None}, "missing", "no_result"),
    ("latency_ms", None, {"latency_ms": -1}, "failed", "out_of_range"),
    ("latency_ms", None, {"latency_ms": True}, "failed", "no_number"),
    ("latency_ms", None, {"latency_ms": NAN}, "failed", "no_number"),
    ("latency_ms", None, {"latency_ms": "812"}, "failed", "no_number"),
    ("input_tokens", None, {"input_tokens": 10**400}, "failed", "no_number"),
]


@pytest.mark.parametrize(("spec", "expected", "actual", "status", "note"), UNJUDGED)
def test_what_cannot_be_judged_is_no_zero(spec: str, expected: Any, actual: Any, status: str, note: str) -> None:
    score = resolve(spec).score(expected, actual)
    assert (score.value, score.status, score.note) == (None, status, note)


def test_an_answer_is_held_against_the_schema() -> None:
    schema = {"type": "object", "required": ["day"], "properties": {"day": {"type": "string", "format": "date"}}}
    scorer = resolve("schema_valid", output_schema=schema)
    answers: list[Any] = [{"day": "2026-08-14"}, {"day": "soon"}, {}, [], {"day": NAN}]
    found = [scorer.score(None, each) for each in answers]
    assert [each.value for each in found] == [1, 0, 0, 0, 0]
    assert [each.note for each in found][:4] == [None, "breaks_format", "breaks_required", "breaks_type"]


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("spec", ["exact_match", "exact_match?ignore=a", "set_f1", "list_f1", "set_f1?ignore=a"])
def test_deep_answers_are_failures(spec: str) -> None:
    score = resolve(spec).score(deep(3), deep(100_000))
    assert (score.value, score.status) == (None, "failed")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
ALL = [
    *("exact_match", "exact_match:a", "text", "number?abs=0.1&rel=0.1", "date?forms=D.M.YY", "money?currency=EUR"),
    *("set_f1", "list_f1?ordered=true", "recall?key=a", "precision", "no_false_match", "rows_f1", "rows_f1?key=a"),
    *("record?a=1&b=2*number", "contains", "regex?pattern=a", "latency_ms", "cost_usd"),
]


@given(st.sampled_from(ALL), JSON, JSON)
def test_no_answer_breaks_a_scorer_or_gets_a_score_out_of_range(spec: str, expected: Any, actual: Any) -> None:
    scorer = resolve(spec)
    score = scorer.score(expected, actual)
    assert (score.value is None) == (score.status != "scored")
    if score.value is not None and scorer.kind != "measure":
        assert score.value in {0, 1} if scorer.kind == "binary" else 0 <= score.value <= 1
        assert (score.value == 1) == (score.note is None)


@given(st.sampled_from(["exact_match", "text", "number", "set_f1", "list_f1", "list_f1?ordered=true", "rows_f1"]), JSON)
def test_what_was_expected_is_right_or_unfit_as_a_case(spec: str, value: Any) -> None:
    assert resolve(spec).score({"x": value}, {"x": value}).status in {"scored", "failed"}
    score = resolve(f"{spec.replace('?', ':x?') if '?' in spec else spec + ':x'}").score({"x": value}, {"x": value})
    assert score.value in {1, None}


@given(TEXTS)
def test_the_normal_form_of_a_text_is_stable(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**9), max_value=10**9))
def test_a_number_reads_the_same_however_it_is_written(number: Decimal) -> None:
    assert read(f"{number:,}") == number
    assert read(f"{number:,}".translate(str.maketrans(",.", ".,")), ",") == number
    assert read(float(number)) == number


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_the_longest_common_subsequence_is_that_of_the_textbook(one: str, other: str) -> None:
    def longest(i: int, j: int) -> int:
        return table[i][j]

    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            table[i][j] = longest(i - 1, j - 1) + 1 if a == b else max(longest(i - 1, j), longest(i, j - 1))
    assert common_in_order([a.encode() for a in one], [b.encode() for b in other]) == table[-1][-1]


ROWS = st.lists(st.fixed_dictionaries({"a": st.integers(0, 2), "b": st.integers(0, 2)}), max_size=4)


@given(ROWS, ROWS)
def test_rows_are_matched_as_well_as_any_order_allows(expected: list[Any], actual: list[Any]) -> None:
    short, long = sorted((expected, actual), key=len)
    best = max(
        sum(sum(one[name] == other[name] for name in one) / 2 for one, other in zip(short, order, strict=False))
        for order in permutations(long)
    )
    value = 2 * best / (len(expected) + len(actual)) if expected or actual else 1
    assert resolve("rows_f1").score(expected, actual).value == pytest.approx(value)


@given(st.sampled_from(["set_f1", "list_f1", "list_f1?ordered=true", "rows_f1"]), ROWS, ROWS)
def test_f1_is_the_same_from_both_sides(spec: str, one: list[Any], other: list[Any]) -> None:
    scorer = resolve(spec)
    assert scorer.score(one, other).value == pytest.approx(scorer.score(other, one).value)
