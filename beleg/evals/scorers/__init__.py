"""Scorers: named, versioned rules that hold an answer against what was expected (`docs/scorers.md`).

`frame` scores whole Polars frames, `judges` holds the base classes of scorers that judge, `calibration` what people
said about them, `answers` finds results in collected texts.
"""

from beleg.evals.scorers.library import Library, library, resolve
from beleg.evals.scorers.model import ABSENT, CannotJudge, Score, Scorer, failed, wrong

__all__ = ["ABSENT", "CannotJudge", "Library", "Score", "Scorer", "failed", "library", "resolve", "wrong"]
