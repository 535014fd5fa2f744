"""Checks subjects, gives the verdict and keeps the evidence; what was judged already is read, not asked again."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

from beleg.checks import evidence
from beleg.checks.evidence import Evidence
from beleg.checks.scan import Finding, Scanned, scan
from beleg.checks.sums import SUMS, States
from beleg.core import contracts
from beleg.core.errors import CheckFailed
from beleg.core.settings import Settings

Judge = Callable[[str, Sequence[Finding]], tuple[str, frozenset[str]]]
"""Subject and its findings → who judged, and the rules that found something."""

KINDS: tuple[contracts.Kind, ...] = ("events", "system", "mart")


def compare(_subject: str, findings: Sequence[Finding]) -> tuple[str, frozenset[str]]:
    """The verdict by comparison alone, as `beleg run` gives it: a rule is broken by one row."""
    return "beleg", frozenset(f.rule for f in findings if f.violations)


def subjects() -> dict[str, tuple[str, ...]]:
    """Everything that is checked → the tables it reads, causes before what follows from them.

    The tables of events, those computed from them, then the sums over several.
    """
    tables = [contract.table for kind in KINDS for contract in contracts.of_kind(kind)]
    return {name: (name,) for name in tables} | {s.name: s.reads for s in SUMS}


def check(states: States, wanted: Collection[str] | None = None, *, judge: Judge = compare) -> list[Evidence]:
    """The evidence on every subject (or those wanted) with a table that differs from the publication.

    Looks at what no evidence speaks of yet and keeps what it finds. Raises nothing for a failed check: see `demand`.
    """
    before = evidence.known(states.settings)
    every = {s: reads for s, reads in subjects().items() if wanted is None or s in wanted}
    asked = {subject: reads for subject, reads in every.items() if _differs(states, reads)}
    recalled = {subject: _recall(before.get(subject, ()), states, reads) for subject, reads in asked.items()}
    known = {subject: entry for subject, entry in recalled.items() if entry is not None}
    scans = _scans(states, [subject for subject in asked if subject not in known])
    fresh = {subject: _verdict(states, subject, asked[subject], scanned, judge) for subject, scanned in scans}
    evidence.keep(states.settings, fresh.values())
    return [(known | fresh)[subject] for subject in asked]


def _scans(states: States, asked: Sequence[str]) -> Iterator[tuple[str, Scanned]]:
    """Scan subjects, two at a time: most are too small for DuckDB to share among cores."""

    def scan_one(subject: str) -> Scanned:
        with states.con.cursor() as con:
            return _scan(replace(states, con=con), subject)

    with ThreadPoolExecutor(2) as pool:
        yield from zip(asked, pool.map(scan_one, asked), strict=True)


def recall(states: States, tables: Collection[str]) -> list[Evidence]:
    """What is known already about subjects that read nothing but these tables; looks at nothing."""
    before = evidence.known(states.settings)
    asked = [(s, reads) for s, reads in subjects().items() if set(reads) <= set(tables) and _differs(states, reads)]
    return [e for subject, reads in asked if (e := _recall(before.get(subject, ()), states, reads)) is not None]


def last_passed(settings: Settings, wanted: Collection[str]) -> list[Evidence]:
    """The newest evidence on some subjects that stopped nothing: what is known of the published figures."""
    known = evidence.known(settings)
    return [e for subject in wanted if (e := next((e for e in known.get(subject, ()) if not e.failed), None))]


def demand(entries: Iterable[Evidence]) -> None:
    """Raise CheckFailed, naming the worst of what was found, unless every check passed."""
    failed = [(entry, finding) for entry in entries for finding in _stopping(entry)]
    if failed:
        (entry, finding), others = failed[0], len(failed) - 1
        more = f" ({others} more)" if others else ""
        where = f": {finding.detail}" if finding.detail else ""
        msg = (
            f"check {finding.rule} of {entry.subject} failed, {finding.violations} violations{where}{more}. "
            "Nothing was published, the old figures stand; docs/pipeline.md says what it means and how to mend it"
        )
        raise CheckFailed(msg)


def _stopping(entry: Evidence) -> Iterator[Finding]:
    return (finding for finding in entry.findings if finding.rule in entry.failed)


def _verdict(states: States, subject: str, reads: tuple[str, ...], scanned: Scanned, judge: Judge) -> Evidence:
    who, broken = judge(subject, scanned.findings)
    stopping = {f.rule for f in scanned.findings if f.severity == "error"}
    return Evidence(
        subject=subject,
        versions=_versions(states.lake.versions, reads),
        published=_versions(states.published.versions, reads),
        rows=scanned.rows,
        partitions=scanned.partitions,
        passed=sum(f.violations == 0 for f in scanned.findings),
        findings=evidence.found(scanned),
        failed=tuple(sorted(broken & stopping)),
        judge=who,
        rules=evidence.rules_digest(),
        checked_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    )


def _scan(states: States, subject: str) -> Scanned:
    for one in SUMS:
        if one.name == subject:
            return one.find(states)
    return scan(states.con, states.lake, states.published, subject)


def _recall(entries: Iterable[Evidence], states: States, reads: tuple[str, ...]) -> Evidence | None:
    """Evidence on exactly these versions under exactly these rules."""
    now, before = (_versions(s.versions, reads) for s in (states.lake, states.published))
    asked = (now, before, evidence.rules_digest())
    return next((e for e in entries if (e.versions, e.published, e.rules) == asked), None)


def _versions(versions: Mapping[str, int], reads: tuple[str, ...]) -> dict[str, int]:
    return {name: versions.get(name, -1) for name in reads}


def _differs(states: States, reads: tuple[str, ...]) -> bool:
    return any(states.lake.versions.get(n) != states.published.versions.get(n) for n in reads)
