"""Frames: exactly what the scorer says row by row, whatever stands in the columns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beleg.core.errors import UsageError
from beleg.evals.scorers import Scorer, resolve
from beleg.evals.scorers.columns import rules
from beleg.evals.scorers.frame import score_frame
from tests.deep import examples

Pairs = Sequence[tuple[Any, Any]]
MANY = settings(max_examples=examples(60, soak=5_000))


def same(scorer: Scorer, pairs: Pairs, kind: Any) -> None:
    frame = pl.DataFrame(pairs, schema={"expected": kind, "actual": kind}, orient="row")
    found = score_frame(frame, scorer)
    by_row = [scorer.score(*pair) for pair in zip(*(frame[each].to_list() for each in frame.columns), strict=True)]
    assert found.rows() == [(each.value, each.status, each.note) for each in by_row]
    assert found.schema == {"value": pl.Float64, "status": pl.String, "note": pl.String}


def pairs_of(values: st.SearchStrategy[Any], *related: Any) -> st.SearchStrategy[Pairs]:
    """Pairs of anything, of equals, and of a value with what a function makes of it; with nulls."""
    maybe = st.none() | values
    of_one = values.flatmap(
        lambda value: st.sampled_from([(value, value), *((value, make(value)) for make in related)])
    )
    return st.lists(st.tuples(maybe, maybe) | of_one, max_size=12)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
INT64 = st.integers(-(2**63), 2**63 - 1)
NEAR_INT64 = st.integers(-(10**6), 10**6) | INT64
CENTS = st.integers(-(10**8), 10**8).map(lambda cents: cents / 100)
FLOATS = CENTS | st.floats() | st.sampled_from([0.0, -0.0, 1e15, 1e11, 1e308, 5e-324, 0.1, 0.3, 134.92])
OPTIONS = [
    *("", "?abs=0.01", "?abs=0.005", "?rel=0.1", "?abs=0.1&rel=0.001", "?rel=1e9", "?abs=1e21", "?abs=1e399"),
    *("?abs=1e-320", "?rel=1e-320", f"?abs=0.0000{'9' * 60}"),
]
WRITTEN = [*OPTIONS, "?decimal=,", "?strip=$", "?strip=1", "?strip=."]
NUMERIC = st.from_regex(r"[+-]?[0-9]{0,3}(,[0-9]{3}){0,2}(\.[0-9]{0,4})?|1e[0-9]{1,3}|[0-9]{14,18}", fullmatch=True)


@MANY
@given(pairs_of(TEXTS))
def test_texts_are_equal_or_not(pairs: Pairs) -> None:
    same(resolve("exact_match"), pairs, pl.String)


@MANY
@given(pairs_of(INT64), st.sampled_from(["exact_match", "number", "number?abs=3", "number?rel=0.1"]))
def test_integers(pairs: Pairs, spec: str) -> None:
    same(resolve(spec), pairs, pl.Int64)


@MANY
@given(pairs_of(FLOATS, lambda x: x + 0.1))
@example([(0.0, -0.0), (float("nan"), float("nan")), (float("inf"), float("inf"))])
def test_floats_are_equal_or_not(pairs: Pairs) -> None:
    same(resolve("exact_match"), pairs, pl.Float64)


@given(pairs_of(st.booleans()))
def test_truths_are_equal_or_not(pairs: Pairs) -> None:
    same(resolve("exact_match"), pairs, pl.Boolean)


MADE = [
    *(lambda x, factor=factor: x * factor for factor in (100, 1000, 1e6, 0.01, 0.001, 1e-6, -1, 10, 1.1, 0.9)),
    *(lambda x, more=more: x + more for more in (0.01, -0.01, 0.005, 0.0100001, 1e-9)),
]


@MANY
@given(pairs_of(FLOATS, *MADE), st.sampled_from(OPTIONS))
@example([(134.92, 13492.0), (67954000.0, 67954.0), (1.0, 1.01), (1.1, 1.11), (0.3, 0.1 + 0.2)], "?abs=0.01")
@example([(1e308, -1e308), (5e-324, 5e-321), (1e-300, 1e-298)], "")
@example([(0.0, 0.0001), (1.0, 1.0001)], f"?abs=0.0000{'9' * 60}")
@example([(0.0, 5e-324), (1e-320, 1e-318), (0.0, 1e-319)], "?abs=1e-320")
@example([(1e11, 1e14), (99999999999.9999, 99999999999999.9)], "")
def test_numbers_with_tolerance_and_units(pairs: Pairs, options: str) -> None:
    same(resolve(f"number{options}"), pairs, pl.Float64)


@MANY
@given(pairs_of(NEAR_INT64, lambda x: max(min(x * 1000, 2**63 - 1), -(2**63))), st.sampled_from(OPTIONS))
def test_whole_numbers_with_tolerance_and_units(pairs: Pairs, options: str) -> None:
    same(resolve(f"number{options}"), pairs, pl.Int64)


@MANY
@given(
    pairs_of(NUMERIC, lambda x: f"{x}0"), st.sampled_from([*OPTIONS, "?decimal=,", "?strip=$", "?strip=1", "?strip=."])
)
@example([("-", "-"), ("", ""), (".", "."), ("abc", "abc")], "")
@example([("12.5", "12.5"), ("1.234", "1.234")], "?decimal=,")
def test_numbers_in_texts(pairs: Pairs, options: str) -> None:
    same(resolve(f"number{options}"), pairs, pl.String)


@MANY
@given(pairs_of(st.lists(st.none() | st.sampled_from("abc"), max_size=5), lambda x: x[::-1], lambda x: x[1:]))
def test_sets_of_texts(pairs: Pairs) -> None:
    same(resolve("set_f1"), pairs, pl.List(pl.String))


@MANY
@given(pairs_of(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 70), max_size=5), lambda x: x + x))
def test_sets_of_integers(pairs: Pairs) -> None:
    same(resolve("set_f1"), pairs, pl.List(pl.Int64))


@MANY
@given(pairs_of(st.lists(st.integers(-128, 127), max_size=5)))
def test_sets_of_small_integers(pairs: Pairs) -> None:
    same(resolve("set_f1"), pairs, pl.List(pl.Int8))


@given(pairs_of(st.lists(st.floats() | st.sampled_from([0.0, -0.0]), max_size=3), lambda x: x[:1]))
def test_sets_of_floats(pairs: Pairs) -> None:
    same(resolve("set_f1"), pairs, pl.List(pl.Float64))


@pytest.mark.parametrize("spec", ["money?currency=EUR", "date", "text", "exact_match", "recall", "rows_f1"])
def test_scorers_without_a_rule_for_columns_score_by_row(spec: str) -> None:
    same(resolve(spec), [("12.50 €", "12.5"), (None, "1"), ("1", None), ("2026-01-01", "2026-01-01")], pl.String)


def test_money_has_no_rule_for_columns() -> None:
    for kind in (pl.String, pl.Float64, pl.Int64):
        assert rules(resolve("money"), pl.DataFrame(schema={"e": kind, "a": kind})) == []


def test_structs_are_results_in_which_the_field_is_looked_up() -> None:
    kind = pl.Struct({"gross": pl.Float64, "lines": pl.List(pl.Struct({"net": pl.Int64}))})
    one, other = {"gross": 1.5, "lines": [{"net": 1}]}, {"gross": 1500.0, "lines": []}
    pairs = [(one, one), (one, other), (one, None), (None, one), ({"gross": None, "lines": None}, one)]
    for spec in ("number:gross", "exact_match:gross", "exact_match", "rows_f1:lines", "exact_match:lines.0.net"):
        same(resolve(spec), pairs, kind)


def test_columns_of_different_types_are_scored_by_row() -> None:
    frame = pl.DataFrame({"expected": [1, 2, 3], "actual": [1.0, 2.5, 3000.0]})
    assert score_frame(frame, resolve("exact_match"))["value"].to_list() == [1, 0, 0]
    assert score_frame(frame, resolve("number"))["note"].to_list() == [None, "different", "unit_error_1000"]


def test_the_columns_of_a_field_are_scored_without_it() -> None:
    frame = pl.DataFrame({"gross": [1.0], "gross_new": [1.0]})
    scorer = replace(resolve("number:gross"), field="")
    assert score_frame(frame, scorer, "gross", "gross_new")["value"].to_list() == [1]


@pytest.mark.parametrize("spec", ["exact_match", "number", "set_f1", "money"])
def test_an_empty_frame_has_no_scores(spec: str) -> None:
    for kind in (pl.String, pl.Float64, pl.List(pl.String), pl.Null):
        same(resolve(spec), [], kind)


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="no column actual; its columns are: expected, answer"):
        score_frame(pl.DataFrame({"expected": [1], "answer": [1]}), resolve("number"))


def test_the_frame_that_is_scored_stays_as_it_was() -> None:
    frame = pl.DataFrame({"expected": [1.0, 2.0], "actual": [1000.0, None]})
    before = frame.clone()
    score_frame(frame, resolve("number"))
    assert frame.equals(before)
