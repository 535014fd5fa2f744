"""Released event schemas never change: files in the wild were written by them."""

import hashlib

from beleg.core.paths import shipped

EVENTS = shipped("contracts", "events")

WHAT_TO_DO = """
{names} differ from contracts/events/FROZEN.sha256.

A released schema is frozen, since events written by it are out there and must stay readable. So
- do not change it: put the new fields into the next version, vN+1.schema.json, and give ingest an upcaster
  from vN, so that older files are still read;
- a new file, or one that no release has shipped yet, is added here by
  `cd contracts/events && sha256sum */v*.schema.json > FROZEN.sha256`, in a commit that says why.
"""


def test_released_event_schemas_are_as_they_were_released() -> None:
    lines = (EVENTS / "FROZEN.sha256").read_text(encoding="ascii").splitlines()
    frozen = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    found = {
        path.relative_to(EVENTS).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(EVENTS.glob("*/v*.schema.json"))
    }
    differing = sorted({name for name, _ in frozen.items() ^ found.items()})
    assert not differing, WHAT_TO_DO.format(names=", ".join(differing))
