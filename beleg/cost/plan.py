"""What a build has to do: decided once, kept while its marts are made one by one, gone once they are published."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from beleg.core.files import replace_text
from beleg.core.settings import Settings
from beleg.cost.touched import Touched
from beleg.lake.snapshot import Snapshot


@dataclass(frozen=True)
class Plan:
    """The way from one publication to what the lake holds now. All days are UTC days, all lists sorted."""

    base: int
    """Number of the publication it starts from; 0 before the first."""
    sources: Mapping[str, int]
    """Versions of the event tables it leads to."""
    inputs: Mapping[str, str]
    """Digests of prices, policies and queries, and the zone."""
    as_of: str
    """Instant the marts are computed for, RFC 3339."""
    asked: tuple[str, ...]
    """Days to compute whether anything changed or not."""
    due: tuple[str, ...]
    """Days with runs that count as abandoned by `as_of`."""
    changed: Mapping[str, tuple[str, ...]]
    """Table → partitions that differ from the publication."""
    touched: Touched = field(default_factory=Touched)
    """Days to compute; known once `run_days` is made."""
    made: Mapping[str, int] = field(default_factory=dict)
    """Mart → version that was made by this plan."""
    days: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Mart → days that were computed in it."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compute."""
        return not (self.asked or self.due or any(self.changed.values()))

    def serves(self, wanted: "Plan", lake: Snapshot, *, as_of_given: bool) -> bool:
        """Whether this plan, begun earlier, is still the one to go on with."""
        same = (self.base, self.sources, self.inputs) == (wanted.base, wanted.sources, wanted.inputs)
        enough = set(wanted.asked) <= set(self.asked) and set(wanted.due) <= set(self.due)
        untouched = all(lake.versions.get(name, -1) == version for name, version in self.made.items())
        return same and enough and untouched and (self.as_of == wanted.as_of or not as_of_given)

    def with_made(self, lake: Snapshot, marts: Iterable[str], days: Collection[str]) -> "Plan":
        """The plan after some marts were made."""
        names = tuple(marts)
        versions = {name: lake.versions[name] for name in names if name in lake.versions}
        return replace(
            self,
            made={**self.made, **dict.fromkeys(names, -1), **versions},
            days={**self.days, **dict.fromkeys(names, tuple(sorted(days)))},
        )


def _path(settings: Settings) -> Path:
    return settings.lake / "_plan.json"


def load(settings: Settings) -> Plan | None:
    """The plan that was begun and is not published yet; None where there is none, or none that can be read."""
    try:
        raw: dict[str, Any] = json.loads(_path(settings).read_text(encoding="utf-8"))
        touched = Touched(**{name: frozenset(days) for name, days in raw.pop("touched").items()})
        raw |= {name: tuple(raw[name]) for name in ("asked", "due")}
        raw |= {name: {k: tuple(v) for k, v in raw[name].items()} for name in ("changed", "days")}
        return Plan(**raw, touched=touched)
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return None  # all of it can be found out again


def save(settings: Settings, plan: Plan) -> None:
    """Keep a plan, so that the next stage goes on with it."""
    touched = {name: sorted(days) for name, days in vars(plan.touched).items()}
    replace_text(_path(settings), json.dumps(asdict(plan) | {"touched": touched}, sort_keys=True))


def forget(settings: Settings) -> None:
    """Drop the plan once it is published."""
    _path(settings).unlink(missing_ok=True)
