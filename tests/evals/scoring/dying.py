"""`beleg eval` in a process that kills itself: `python -m tests.evals.scoring.dying STEP WHEN NTH run FEATURE …`."""

import sys

import typer

from beleg.cli import eval as noun
from tests.dying import arm

if __name__ == "__main__":
    _, step, when, nth, *arguments = sys.argv
    import beleg.evals.scoring.run  # noqa: F401 - what is armed must be loaded

    arm(step, when, int(nth))
    app = typer.Typer()
    noun.register(app)
    app(["eval", *arguments])
