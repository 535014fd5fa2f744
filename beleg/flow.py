"""The stages of the flow in order: ingest, build the marts, publish. A scheduler calls the same functions.

Everything that writes holds the installation's one writer lock, so two pipelines at once take turns.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from beleg.core.errors import DamagedError
from beleg.core.paths import shipped
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.cost.build import Builder, open_days
from beleg.cost.pricing import Pricing
from beleg.cost.touched import Touched
from beleg.ingest.run import IngestReport, ingest
from beleg.lake import catalog, publication
from beleg.lake.engine import connect, memory_share
from beleg.lake.exclusive import exclusive
from beleg.lake.housekeeping import tidy
from beleg.lake.publication import Publication
from beleg.lake.snapshot import Snapshot
from beleg.trace import losses
from beleg.trace.spool_files import seal_dead


@dataclass(frozen=True)
class Report:
    """What a run of the flow did."""

    ingest: IngestReport
    publication: Publication
    touched_days: tuple[str, ...]
    """UTC days computed again, sorted."""
    lost: Mapping[str, int]
    """Why → events that tracers could not write, over all processes that left a word on it in the spool."""


def run(
    settings: Settings,
    paths: Sequence[Path] = (),
    *,
    mapping: Path | None = None,
    spool: bool = True,
    as_of: datetime | None = None,
    on_progress: OnProgress = silent,
) -> Report:
    """Ingest the spool (unless told not to) and `paths`, bring the marts up to it, publish.

    `as_of` (default: now, UTC) is the instant for which runs count as abandoned. Raises UsageError for a
    wrong path, policy or setting, DamagedError where the disk is full or the store is damaged: nothing
    half-written is then visible, and the same call again gives the same rows.
    """
    with exclusive(settings):
        own = [settings.spool] if spool and mapping is None and settings.spool.is_dir() else []
        if own:
            seal_dead(settings.spool)
        taken = ingest(settings, [*own, *paths], mapping=mapping, on_progress=on_progress)
        made, touched = _publish(settings, as_of or datetime.now(UTC), on_progress, note=taken.ingest_id)
    return Report(taken, made, tuple(sorted(touched.all)), losses.read(settings.spool).lost)


def publish(settings: Settings, *, as_of: datetime | None = None, on_progress: OnProgress = silent) -> Publication:
    """Bring the marts up to the lake and publish, without ingesting; a no-op where nothing has changed."""
    with exclusive(settings):
        return _publish(settings, as_of or datetime.now(UTC), on_progress, note="publish")[0]


def _publish(settings: Settings, as_of: datetime, on_progress: OnProgress, *, note: str) -> tuple[Publication, Touched]:
    before = publication.current(settings)
    pricing = Pricing.load(settings)
    inputs = {**pricing.digests, "timezone": settings.timezone, "queries": queries_digest()}
    stale = before is None or dict(before.inputs) != inputs
    with connect(settings.home / "scratch", memory_limit=memory_share()) as con:
        builder = Builder(con, settings, pricing, as_of, note, on_progress)
        if before is not None:
            _check_versions(before, builder.lake)
        due = () if before is None else _due(before, as_of)
        touched = builder.build(builder.lake.at(before), everything=stale, due=due)
        versions = builder.lake.versions
        if before is not None and not stale and versions == dict(before.tables):
            _ensure_catalog(settings, before)
            return before, touched
        tidy(settings, builder.lake, before, datetime.now(UTC))
        versions = dict(builder.lake.versions)
        still_open = open_days(con, builder.lake, touched.run_days)
    kept = {} if before is None else {d: t for d, t in before.open_days.items() if d not in touched.run_days}
    made = Publication(
        number=1 if before is None else before.number + 1,
        published_at=instant(datetime.now(UTC)),
        as_of=instant(as_of),
        tables=versions,
        inputs=inputs,
        open_days=dict(sorted((kept | still_open).items())),
    )
    publication.publish(settings, made)
    catalog.rebuild(settings, made)
    return made, touched


def _due(before: Publication, as_of: datetime) -> Iterable[str]:
    """Days with running runs that count as abandoned by now."""
    now = instant(as_of)
    return [day for day, at in before.open_days.items() if at <= now]


def _ensure_catalog(settings: Settings, published: Publication) -> None:
    """A writer killed between the record and the file, or a moved folder, leaves the file behind."""
    if not catalog.shows(settings, published):
        catalog.rebuild(settings, published)


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
