"""Brings a lake of an earlier format to the one this release writes, one step a format.

A step may be killed at any point and is then simply run again. It never changes a file that the publication
names: readers go on seeing the old figures until the next run publishes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from beleg.core import contracts
from beleg.core.settings import Settings
from beleg.lake import format as lake_format
from beleg.lake.exclusive import exclusive
from beleg.lake.table import LakeTable


class Step(NamedTuple):
    """The way from one format to the next."""

    what: str
    """What it does, for the user."""
    apply: Callable[[Settings], None]


STEPS: Mapping[int, Step] = MappingProxyType({})
"""Format → the step from it to the next. Format 1 is the first, so there is none yet."""


@dataclass(frozen=True)
class Migrated:
    """What a migration did, or would do."""

    before: int | None
    """Format of the lake; None where there is none."""
    after: int
    steps: tuple[str, ...] = ()
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Table → columns that its contract has gained; they are null in rows that are there already."""
    marts: tuple[str, ...] = ()
    """Marts whose columns have changed: the next run computes them anew, until then the old figures stand."""

    @property
    def nothing(self) -> bool:
        """True where all is as this release writes it."""
        return not (self.steps or self.columns or self.marts)


def plan(settings: Settings) -> Migrated:
    """What `migrate` would do; raises DamagedError for a lake that this release cannot read."""
    before = lake_format.of(settings)
    lake_format.check(before, str(settings.lake))
    formats = range(lake_format.LAKE_FORMAT if before is None else before, lake_format.LAKE_FORMAT)
    tables = {name: LakeTable(settings, name) for name in contracts.names()}
    marts = tuple(name for name, t in tables.items() if t.contract.kind == "mart" and t.changed_columns())
    gained = {name: tuple(c.name for c in t.gained()) for name, t in tables.items() if name not in marts}
    columns = {name: names for name, names in gained.items() if names}
    return Migrated(before, lake_format.LAKE_FORMAT, tuple(STEPS[k].what for k in formats), columns, marts)


def migrate(settings: Settings) -> Migrated:
    """Do it, under the writer lock; on a lake that is up to date it does nothing.

    Raises DamagedError for a lake that this release cannot read, Busy where another writer does not end.
    """
    with exclusive(settings, any_format=True):
        done = plan(settings)
        if done.before is not None:
            for number in range(done.before, lake_format.LAKE_FORMAT):
                STEPS[number].apply(settings)
                lake_format.record(settings, number + 1)
        for name in done.columns:
            LakeTable(settings, name).evolve()
        for name in done.marts:
            LakeTable(settings, name).start_anew()
    return done
