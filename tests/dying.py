"""Runs the command and kills it at a chosen call of a chosen function: `python -m tests.dying STEP WHEN NTH …`."""

import os
import signal
import sys
from importlib import import_module
from itertools import count
from typing import Any


def arm(step: str, when: str, nth: int) -> None:
    """Make the process kill itself before or after the nth call of `module:name`, wherever that was imported to."""
    module_name, _, name = step.partition(":")
    owner: Any = import_module(module_name)
    *inner, name = name.split(".")
    for part in inner:
        owner = getattr(owner, part)
    real, calls = getattr(owner, name), count(1)

    def dying(*args: Any, **kwargs: Any) -> Any:
        mine = next(calls)  # threads may call it at the same time
        if mine == nth and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        found = real(*args, **kwargs)
        if mine == nth and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    for module in list(sys.modules.values()):
        if getattr(module, name, None) is real:
            setattr(module, name, dying)
    setattr(owner, name, dying)


if __name__ == "__main__":
    from beleg.cli.main import main

    _, step, when, nth, *arguments = sys.argv
    arm(step, when, int(nth))
    sys.argv = ["beleg", *arguments]
    main()
