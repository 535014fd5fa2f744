"""What was found for which versions: append-only facts that every later stage reads before it goes on.

A finding holds for exactly the versions it was made for. So a failed check goes on failing, without being
asked again, until the data or the contracts change.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from beleg.checks.scan import Finding, Scanned
from beleg.core.paths import shipped
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.lake.publication import append_fact, facts_backwards

_REMEMBERED = 200
"""Facts that are looked through for evidence; older ones speak of versions that were published or replaced."""


@dataclass(frozen=True)
class Evidence:
    """What a check of one subject (a table, or a sum over several) found."""

    subject: str
    versions: Mapping[str, int]
    """Table → version that was looked at."""
    published: Mapping[str, int]
    """Table → version it was held against; -1 for none."""
    rows: int
    partitions: int
    passed: int
    """Rules that found nothing."""
    findings: tuple[Finding, ...]
    """Rules that found something, or could not be compared."""
    failed: tuple[str, ...]
    """Rules whose finding stops a publication."""
    judge: str
    """Who gave the verdict: beleg, or great_expectations and its version."""
    rules: str
    """Digest of the contracts and queries behind the rules."""
    checked_at: str

    @property
    def warned(self) -> tuple[str, ...]:
        """Rules whose finding is worth a look."""
        return tuple(f.rule for f in self.findings if f.violations and f.severity == "warn")


def found(scanned: Scanned) -> tuple[Finding, ...]:
    """The findings that say more than that all is well."""
    return tuple(f for f in scanned.findings if f.violations != 0)


def keep(settings: Settings, evidence: Iterable[Evidence]) -> None:
    """Append what was found to the ledger, as one fact."""
    entries = [asdict(entry) for entry in evidence]
    if entries:
        append_fact(_path(settings), {"evidence": entries})


def known(settings: Settings) -> dict[str, list[Evidence]]:
    """Subject → recent evidence, newest first."""
    recent: dict[str, list[Evidence]] = {}
    for fact in islice(facts_backwards(_path(settings), block_bytes=65_536), _REMEMBERED):
        for raw in fact.get("evidence", ()):
            entry = _parse(raw)
            recent.setdefault(entry.subject, []).append(entry)
    return recent


def _parse(raw: dict[str, Any]) -> Evidence:
    findings = tuple(Finding(**finding) for finding in raw.pop("findings"))
    return Evidence(**{**raw, "failed": tuple(raw["failed"])}, findings=findings)


def _path(settings: Settings) -> Path:
    return settings.ledger / "checks.jsonl"


@cache
def rules_digest() -> str:
    """SHA-256 over all that decides what is checked."""
    digest = hashlib.sha256()
    for path in sorted(shipped("contracts", "tables").glob("*.yaml")):
        digest.update(path.read_bytes())
    for name in ("cost_by_day", "cost_of_runs"):
        digest.update(query("beleg.checks", name).encode())
    return digest.hexdigest()
