"""A writer that merges without end, for the tests that race or kill it: run as a process of its own."""

import sys
from itertools import pairwise
from pathlib import Path

from beleg.core.lock import writer
from beleg.core.settings import Settings
from beleg.lake import catalog
from beleg.lake.engine import connect
from beleg.lake.table import LakeTable
from tests.lake.support import TABLE, publish_latest, statuses

ROWS = 200


def main(home: Path, rounds: int) -> None:
    """Rewrite one day again and again, now in many files, now in one; it always holds the same ROWS rows."""
    settings = Settings(home, home / "spool")
    table = LakeTable(settings, TABLE)
    for number in range(rounds):
        with writer(home), connect(home / "scratch") as con:
            parts = 1 if number % 2 else 7
            cuts = [ROWS * n // parts for n in range(parts + 1)]
            new = [f for a, b in pairwise(cuts) for f in table.write(con, statuses(con, range(a, b)))]
            table.commit(new, table.files())
            made = publish_latest(settings)
            catalog.rebuild(settings, made)
            table.vacuum(keep_versions=[made.tables[TABLE]])
        print(number, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
