"""The other process of the check: `python -m beleg.agent.layout.render MODULE:NAME CLOCK FILE`."""

import contextlib
import dataclasses
import datetime as dt
import json
import locale
import sys
from pathlib import Path

from beleg.agent.layout.surroundings import move_clock


def main() -> None:
    """Move the clock, then import and render every sample into the file."""
    target, clock, answer = sys.argv[1:]
    with contextlib.suppress(locale.Error):  # not installed here
        locale.setlocale(locale.LC_ALL, "")
    move_clock(dt.datetime.fromisoformat(clock))
    from beleg.agent.layout.samples import load_samples  # noqa: PLC0415 - after the clock was moved

    found = load_samples(target)
    rows = [
        {
            "sample": name,
            "belongs": sample.belongs,
            "pieces": [dataclasses.asdict(piece) for piece in found.render(name).pieces],
        }
        for name, sample in found.samples.items()
    ]
    Path(answer).write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
