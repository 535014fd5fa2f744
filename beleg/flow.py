"""The stages of the flow: ingest, build the marts, check what was built, publish. `run` does them in order.

A scheduler calls them one by one. Each holds the installation's one writer lock while it works, finds out
from the lake what is left to do, and does nothing where nothing is: so stages may be repeated, killed, and
mixed with `run`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from beleg.checks import judge as judging
from beleg.checks.evidence import Evidence
from beleg.checks.judge import Judge, compare
from beleg.core.contracts import event_tables, load
from beleg.core.errors import CheckFailed
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.cost import plan
from beleg.cost.build import needed, open_days
from beleg.cost.restatements import restate
from beleg.evals import findings
from beleg.ingest.run import IngestReport
from beleg.ingest.run import ingest as take
from beleg.lake import catalog, publication
from beleg.lake.engine import connect
from beleg.lake.exclusive import exclusive
from beleg.lake.housekeeping import tidy
from beleg.lake.publication import Publication
from beleg.lake.snapshot import Snapshot
from beleg.trace import losses
from beleg.trace.spool_files import seal_dead
from beleg.work import Wish, Work, instant, work


@dataclass(frozen=True)
class Report:
    """What a run of the flow did."""

    ingest: IngestReport
    publication: Publication
    touched_days: tuple[str, ...]
    """UTC days computed again, sorted."""
    lost: Mapping[str, int]
    """Why → events that tracers could not write, over all processes that left a word on it in the spool."""


@dataclass(frozen=True)
class Built:
    """What a stage made of one mart."""

    mart: str
    days: tuple[str, ...]
    """UTC days that were computed for the publication to come, by this call or one before it."""
    version: int | None
    """Version of the table now; None where it is not made yet."""
    rows: int
    """Rows of the table now."""
    rows_by_day: Mapping[str, int]
    """UTC day of `days` → rows of the table that lie on it; empty for a table that is not kept by day."""


@dataclass(frozen=True)
class DayCost:
    """What the steps of a UTC day cost."""

    calls: int
    """Calls that need a price: model calls, and others that report usage without a known price."""
    unpriced_calls: int
    """Of these, without a known price: missing in the cost."""
    cost_pico_usd: int


@dataclass(frozen=True)
class Arrived:
    """What the lake holds that is not published yet."""

    rows_by_day: Mapping[str, int]
    """UTC day → rows of all event tables, on days that differ from the publication."""
    rows: int
    """Rows of all event tables on all days."""


def run(
    settings: Settings,
    paths: Sequence[Path] = (),
    *,
    mapping: Path | None = None,
    form: str | None = None,
    spool: bool = True,
    as_of: datetime | None = None,
    on_progress: OnProgress = silent,
) -> Report:
    """Ingest the spool (unless told not to) and `paths`, bring the marts up to it, check, publish.

    `mapping` and `form` say how `paths` are to be read, see `beleg.ingest.run.ingest`. `as_of` (default: now,
    UTC) is the instant for which runs count as abandoned. Raises UsageError for a wrong path, policy or
    setting, CheckFailed where a check stops the publication, DamagedError where the disk is full or the store
    is damaged: nothing half-written is then visible, and the same call again gives the same rows.
    """
    with exclusive(settings):
        lake = Snapshot.latest(settings)
        taken = _ingest(settings, lake, paths, on_progress, mapping=mapping, form=form, spool=spool)
        wish = Wish(as_of or datetime.now(UTC), note=taken.ingest_id, on_progress=on_progress, lake=lake.newest())
        made, touched = _publish(settings, wish, compare)
    return Report(taken, made, touched, losses.read(settings.spool).lost)


def ingest(
    settings: Settings,
    paths: Sequence[Path] = (),
    *,
    mapping: Path | None = None,
    form: str | None = None,
    on_progress: OnProgress = silent,
) -> IngestReport:
    """The first stage: take what is new in the spool and at `paths` into the lake; publishes nothing."""
    with exclusive(settings):
        lake = Snapshot.latest(settings)
        return _ingest(settings, lake, paths, on_progress, mapping=mapping, form=form, spool=True)


def build(
    settings: Settings,
    mart: str,
    *,
    days: Collection[str] = (),
    as_of: datetime | None = None,
    on_progress: OnProgress = silent,
) -> Built:
    """One stage of the marts: bring one up to the lake, and those it stands on; publishes nothing.

    `days` (UTC, ISO) are computed whether anything changed or not. Raises CheckFailed where an earlier
    check of what it stands on failed and that has not changed since.
    """
    with exclusive(settings), work(settings, Wish(as_of, days, "build", on_progress)) as at:
        below = needed([mart]) - {mart} | set(at.builder.plan.sources)
        judging.demand(judging.recall(at.states, below))
        done = at.builder.build([mart])
        if not done.is_empty:
            plan.save(settings, done)
        days = done.days.get(mart, ())
        return Built(mart, days, at.lake.versions.get(mart), at.lake.rows(mart), _rows_by_day(at.lake, mart, days))


def _rows_by_day(lake: Snapshot, table: str, days: Collection[str]) -> dict[str, int]:
    if load(table).partition_by != "day":
        return {}
    found = dict.fromkeys(days, 0)
    for file in lake.files(table, days):
        found[str(file.partition)] += file.rows
    return found


def arrived(settings: Settings) -> Arrived:
    """Which days of events have changed since the publication; reads the logs of the tables alone."""
    lake = Snapshot.latest(settings)
    published = lake.at(publication.current(settings))
    tables = [contract.table for contract in event_tables().values()]
    days = sorted({day for table in tables for day in lake.changed(published, table)})
    rows = {day: sum(lake.rows(table, [day]) for table in tables) for day in days}
    return Arrived(rows, sum(lake.rows(table) for table in tables))


def daily_costs(settings: Settings, days: Collection[str]) -> dict[str, DayCost]:
    """UTC day → what its steps cost, published or not, of some days."""
    lake = Snapshot.latest(settings)
    with connect(settings.home / "scratch") as con:
        con.execute(f"CREATE TEMP VIEW step_costs AS SELECT * FROM {lake.relation('step_costs', days)}")
        rows = con.execute(query("beleg.cost", "daily")).fetchall()
    return {day: DayCost(int(calls), int(unpriced), int(cost)) for day, calls, unpriced, cost in rows}


def check(settings: Settings, subjects: Collection[str] | None = None, *, judge: Judge = compare) -> list[Evidence]:
    """The evidence on what is not published yet, of all subjects or some; looks where nobody has looked yet.

    Subjects are tables and the sums over several. A failed check raises nothing here, but stops `publish`.
    """
    with exclusive(settings), work(settings, Wish()) as at:
        return judging.check(at.states, subjects, judge=judge)


def publish(
    settings: Settings, *, as_of: datetime | None = None, judge: Judge = compare, on_progress: OnProgress = silent
) -> Publication:
    """The last stage: bring all marts up to the lake, check, publish; a no-op where nothing has changed.

    Raises CheckFailed where a check fails or failed before on the same data: the old figures then stand.
    """
    with exclusive(settings):
        return _publish(settings, Wish(as_of, on_progress=on_progress), judge)[0]


def _ingest(
    settings: Settings,
    lake: Snapshot,
    paths: Sequence[Path],
    on_progress: OnProgress,
    *,
    mapping: Path | None,
    form: str | None,
    spool: bool,
) -> IngestReport:
    own = [settings.spool] if spool and mapping is None and settings.spool.is_dir() else []
    if own:
        seal_dead(settings.spool)
    return take(settings, [*own, *paths], lake=lake, mapping=mapping, form=form, on_progress=on_progress)


def _publish(settings: Settings, wish: Wish, judge: Judge) -> tuple[Publication, tuple[str, ...]]:
    with work(settings, wish) as at:
        before, done = at.before, at.builder.build()
        touched = tuple(sorted(done.touched.all))
        if before is not None and not at.stale and at.lake.versions == dict(before.tables):
            _ensure_catalog(settings, before)
            return before, touched
        restate(at.builder, before, done.inputs, done.touched)
        findings.renew(at.con, at.lake, note=wish.note)
        _demand(at, judge)
        made = _next(at)
    publication.publish(settings, made)
    plan.forget(settings)
    catalog.rebuild(settings, made, at.lake)
    return made, touched


def _demand(at: Work, judge: Judge) -> None:
    """Check what is to be published; a failed check keeps the plan, so that nothing is computed again in vain."""
    try:
        judging.demand(judging.check(at.states, judge=judge))
    except CheckFailed:
        plan.save(at.settings, at.builder.plan)
        raise


def _next(at: Work) -> Publication:
    """The publication of what the lake holds now."""
    before, done = at.before, at.builder.plan
    tidy(at.settings, at.lake, before, datetime.now(UTC))
    computed = done.touched.run_days
    kept = {} if before is None else {d: t for d, t in before.open_days.items() if d not in computed}
    return Publication(
        number=1 if before is None else before.number + 1,
        published_at=instant(datetime.now(UTC)),
        as_of=done.as_of,
        tables=dict(at.lake.versions),
        inputs=done.inputs,
        open_days=dict(sorted((kept | open_days(at.con, at.lake, computed)).items())),
    )


def _ensure_catalog(settings: Settings, published: Publication) -> None:
    """A writer killed between the record and the file, or a moved folder, leaves the file behind."""
    if not catalog.shows(settings, published):
        catalog.rebuild(settings, published)
