"""Scores of whole Polars frames: by columns where that gives exactly what the scorer gives row by row, else by row.

Money is always scored by row. A rule for columns says of which rows it is sure; the scorer decides the others.
"""

from dataclasses import asdict
from typing import Final

import polars as pl

from beleg.core.errors import UsageError
from beleg.evals.scorers.columns import A, E, Rule, rules
from beleg.evals.scorers.model import MISSING, NOT_KNOWN, Scorer

SCHEMA: Final = pl.Schema({"value": pl.Float64(), "status": pl.String(), "note": pl.String()})
"""Of the frame of scores; the fields of `Score`."""


def score_frame(
    frame: pl.DataFrame, scorer: Scorer, expected: str = "expected", actual: str = "actual"
) -> pl.DataFrame:
    """The score of each row, in the frame's order, as a frame of `value`, `status` and `note`.

    Equal to `scorer.score` of each row's two values: whole results, in which the scorer's field is looked up. Where
    the columns hold the field's values already, pass `dataclasses.replace(scorer, field="")`. A null in `actual` is
    a missing result. Raises UsageError for a column that is not there.
    """
    if absent := {expected, actual} - set(frame.columns):
        names = ", ".join(sorted(absent))
        raise UsageError(f"the frame has no column {names}; its columns are: {', '.join(frame.columns)}")
    pairs = pl.DataFrame({"e": frame[expected], "a": frame[actual]})
    return _scored(pairs, scorer, rules(scorer, pairs))


def _scored(pairs: pl.DataFrame, scorer: Scorer, left: list[Rule]) -> pl.DataFrame:
    if not left:
        return _by_row(pairs, scorer)
    scores = _by_column(pairs, left[0])
    rows = scores["open"].arg_true()
    if not len(rows):
        return scores.select(SCHEMA.names())
    rest = _scored(pairs[rows], scorer, left[1:])
    return pl.DataFrame([scores[name].scatter(rows, rest[name]) for name in SCHEMA.names()])


def _by_row(pairs: pl.DataFrame, scorer: Scorer) -> pl.DataFrame:
    scores = [scorer.score(*pair) for pair in zip(pairs["e"].to_list(), pairs["a"].to_list(), strict=True)]
    return pl.DataFrame({name: [getattr(each, name) for each in scores] for name in SCHEMA.names()}, schema=SCHEMA)


def _by_column(pairs: pl.DataFrame, known: Rule) -> pl.DataFrame:
    """Scores, and as `open` which rows the rule leaves to what comes after."""
    unsure = ~known.sure.fill_null(value=False)
    said = {"value": known.value, "status": pl.lit("scored"), "note": known.note, "open": unsure}
    if any(column.null_count() for column in pairs):
        said = {name: _unless_null(name, each) for name, each in said.items()}
    return pairs.lazy().with_columns(known.first).select(**said).collect()


def _unless_null(name: str, known: pl.Expr) -> pl.Expr:
    """A column of the scores, where rows without a result or an expected value are decided by that."""
    no_result, no_value = (pl.lit({**asdict(score), "open": False}[name]) for score in (MISSING, NOT_KNOWN))
    return pl.when(A.is_null()).then(no_result).when(E.is_null()).then(no_value).otherwise(known)
