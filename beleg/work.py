"""What every stage of the flow holds while it works: the writer lock, the lake, the plan."""

import hashlib
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import duckdb

from beleg.checks.sums import States
from beleg.core.contracts import event_tables
from beleg.core.errors import DamagedError
from beleg.core.paths import shipped
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.cost import plan
from beleg.cost.build import Builder, differences
from beleg.cost.plan import Plan
from beleg.cost.pricing import Pricing
from beleg.lake import publication
from beleg.lake.engine import connect, memory_share
from beleg.lake.publication import Publication
from beleg.lake.snapshot import Snapshot


@dataclass(frozen=True)
class Work:
    """One stage at work on one connection."""

    con: duckdb.DuckDBPyConnection
    settings: Settings
    before: Publication | None
    """What readers see now."""
    builder: Builder
    stale: bool
    """Whether prices, policies, zone or queries have changed since."""

    @property
    def lake(self) -> Snapshot:
        """The latest versions."""
        return self.builder.lake

    @property
    def states(self) -> States:
        """What the checks look at."""
        return States(self.con, self.settings, self.lake, self.builder.published)


@dataclass(frozen=True)
class Wish:
    """What a stage is asked for beside catching up."""

    as_of: datetime | None = None
    """Instant for which runs count as abandoned; None for now, or that of the plan gone on with."""
    days: Collection[str] = ()
    """UTC days to compute whether anything changed or not."""
    note: str = "publish"
    """Kept in the logs of the tables."""
    on_progress: OnProgress = silent
    lake: Snapshot | None = None
    """The latest versions, where they are open already."""


@contextmanager
def work(settings: Settings, wish: Wish) -> Generator[Work]:
    """Open the lake and find out what is to be done; goes on with a plan that was begun and still holds.

    The caller holds the writer lock. Raises DamagedError where a log ends before what was published.
    """
    before = publication.current(settings)
    pricing = Pricing.load(settings)
    inputs = {**pricing.digests, "timezone": settings.timezone, "queries": queries_digest()}
    stale = before is None or dict(before.inputs) != inputs
    lake = wish.lake or Snapshot.latest(settings)
    if before is not None:
        _check_versions(before, lake)
    published = lake.at(before)
    with connect(settings.home / "scratch", memory_limit=memory_share()) as con:
        fresh = _plan(wish, before, lake, inputs)
        begun = plan.load(settings)
        if begun is None or not begun.serves(fresh, lake, as_of_given=wish.as_of is not None):
            begun = replace(fresh, changed=differences(con, lake, published, everything=stale))
        builder = Builder(con, settings, lake, published, pricing, begun, wish.note, wish.on_progress)
        yield Work(con, settings, before, builder, stale)


def _plan(wish: Wish, before: Publication | None, lake: Snapshot, inputs: dict[str, str]) -> Plan:
    as_of = instant(wish.as_of or datetime.now(UTC))
    tables = [contract.table for contract in event_tables().values()]
    return Plan(
        base=0 if before is None else before.number,
        sources={name: lake.versions[name] for name in sorted(tables) if name in lake.versions},
        inputs=inputs,
        as_of=as_of,
        asked=tuple(sorted(wish.days)),
        due=tuple(sorted(() if before is None else _due(before, as_of))),
        changed={},
    )


def _due(before: Publication, as_of: str) -> Iterable[str]:
    """Days with running runs that count as abandoned by now."""
    return (day for day, at in before.open_days.items() if at <= as_of)


def _check_versions(before: Publication, lake: Snapshot) -> None:
    """A log that ends before what was published has been deleted or replaced by hand."""
    for name, version in before.tables.items():
        if lake.versions.get(name, -1) < version:
            msg = f"lake/{name} has lost version {version}, which is published: restore its _delta_log from a backup"
            raise DamagedError(msg)


def queries_digest() -> str:
    """SHA-256 over the queries and contracts of the marts: a changed query means computing every day again."""
    digest = hashlib.sha256()
    for path in sorted(shipped("contracts", "tables").glob("*.sql")):
        digest.update(path.read_bytes())
        digest.update(path.with_suffix(".yaml").read_bytes())
    return digest.hexdigest()


def instant(value: datetime) -> str:
    """An instant as RFC 3339 in UTC microseconds: text that sorts as time."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
