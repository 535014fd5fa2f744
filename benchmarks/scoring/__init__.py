"""Scoring of 100,000 cases under two versions: eight fields by columns, against loops in pure Python."""

from collections.abc import Callable
from pathlib import Path

from beleg.evals.scorers.frame import score_frame
from benchmarks.scoring import loops
from benchmarks.scoring.cases import SCORERS, Cases, cases
from benchmarks.timing import Ratio, in_turn

CASES = 100_000
FEWER = 20_000
ROUNDS = 9
ROW_ROUNDS = 3


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:  # noqa: ARG001
    """Rows of the table about scoring."""
    made, fewer = (cases(count // 10 if quick else count) for count in (CASES, FEWER))
    say(f"scoring: {len(made.actual):,} answers by frames and by hand")
    _equal(made)
    by_hand = in_turn(lambda: _frames(made), lambda: loops.by_hand(made), ROUNDS)
    say(f"scoring: {len(fewer.actual):,} answers by the scorers, row by row")
    _equal_rows(fewer)
    by_row = in_turn(lambda: _frames(fewer), lambda: loops.by_row(fewer), ROW_ROUNDS)
    return [
        _row(made, by_hand, "a loop written by hand for these fields"),
        _row(fewer, by_row, "a loop over the scorers"),
    ]


def _row(made: Cases, taken: Ratio, against: str) -> tuple[object, ...]:
    what = f"score {len(made.actual) // 2:,} cases × 2 versions, 8 fields, as frames"
    seconds = f"{taken.subject_s * 1000:.0f} ms against {taken.limit_s * 1000:,.0f} ms"
    note = f"[{taken.low:.3f}, {taken.high:.3f}] {seconds}, {taken.rounds} rounds"
    return what, against, 0.25, 0.15, "×", round(taken.median, 3), note


def _frames(made: Cases) -> list[object]:
    return [score_frame(made.frame, SCORERS[name], name, f"{name}_actual") for name in SCORERS]


def _equal(made: Cases) -> None:
    """One outcome either way: else the times say nothing."""
    by_hand = loops.by_hand(made)
    for name, scorer in SCORERS.items():
        if score_frame(made.frame, scorer, name, f"{name}_actual").select("value", "note").rows() != by_hand[name]:
            raise AssertionError(f"{name}: frame and loop by hand differ")


def _equal_rows(made: Cases) -> None:
    by_row = loops.by_row(made)
    for name, scorer in SCORERS.items():
        rows = [(each.value, each.status, each.note) for each in by_row[name]]
        if score_frame(made.frame, scorer, name, f"{name}_actual").rows() != rows:
            raise AssertionError(f"{name}: frame and rows differ")
