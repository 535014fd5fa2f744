"""What processes lost, left beside the spool for the pipeline and `beleg` to show.

    <host>~<boot>~<pid>~<start>.losses.json      {"lost": {reason: events}, "faults": {kind: times}}

Written when a count doubles and at exit, as far as the disk allows; the counts in the process stay exact.
"""

import json
import os
from collections import Counter
from pathlib import Path

from beleg.trace import spool_files
from beleg.trace.faults import Faults

SUFFIX = ".losses.json"


def write(folder: Path, faults: Faults) -> None:
    """Leave this process's counts in the folder; raises OSError where that is not possible."""
    path = folder / f"{spool_files.this_process().prefix}{SUFFIX}"
    partial = path.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(json.dumps({"lost": faults.lost, "faults": faults.faults}), encoding="utf-8")
    partial.replace(path)


def read(folder: Path) -> Faults:
    """The sum of what all processes left; files that cannot be read count nothing."""
    lost: Counter[str] = Counter()
    noted: Counter[str] = Counter()
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            lost.update(found["lost"])
            noted.update(found["faults"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return Faults(lost=dict(lost), faults=dict(noted))
