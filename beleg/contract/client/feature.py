"""A released feature, held by the application as a handle that follows the registry."""

import importlib
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from beleg.contract.client import dates
from beleg.contract.client.cache import DiskCache
from beleg.contract.client.clock import SYSTEM, Clock
from beleg.contract.client.errors import (
    FeatureGone,
    Forbidden,
    MajorUnknown,
    SetupError,
    TooStale,
    Unreachable,
)
from beleg.contract.client.fetch import Fetcher
from beleg.contract.client.reader import FolderReader
from beleg.contract.client.refresh import Refresher
from beleg.contract.client.snapshot import Snapshot

if TYPE_CHECKING:
    from beleg.contract.client.freshness import Freshness, State
    from beleg.contract.client.source import Source
    from beleg.contract.model import Contract
    from beleg.contract.run.result import Result

TTL_S = 60.0
"""How long a confirmed version is taken as current without asking."""
MAX_STALE_S = 7 * 86_400.0
"""How long a cached version serves while the registry cannot be reached."""
TIMEOUT_S = 3.0
"""Longest that one caller waits for the registry."""

_FINAL = (FeatureGone, Forbidden, MajorUnknown)
"""Answers of the registry that end the service of what is cached."""


class Feature:
    """A feature, pinned to a major version.

    It asks the registry again when `ttl_s` have passed since it last answered; a newer minor or patch is
    then used, another major never. What a call works with is one immutable snapshot.
    """

    def __init__(
        self,
        name: str,
        major: int,
        source: "Source",
        *,
        ttl_s: float = TTL_S,
        max_stale_s: float = MAX_STALE_S,
        timeout_s: float = TIMEOUT_S,
        clock: Clock = SYSTEM,
        cache: DiskCache | None = None,
    ) -> None:
        self.name, self.major = name, major
        self._clock, self._max_stale_s = clock, max_stale_s
        self._cache = cache or DiskCache(source.identity)
        reader = FolderReader(source, f"features/{name}", self._cache, timeout_s=timeout_s)
        self._fetcher = Fetcher(name, major, reader, clock)
        self._refresher: Refresher[Snapshot] = Refresher(
            self._fetch, ttl_s=ttl_s, max_age_s=max_stale_s, timeout_s=timeout_s, monotonic_s=clock.monotonic_s
        )
        self._ttl_s = ttl_s

    def __repr__(self) -> str:
        held = self._refresher.value
        version = f"{self.major}.x" if held is None else held.release.version
        return f"<Feature {self.name} {version} {self.freshness.state}>"

    # -- what holds ---------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The version to use now; asks the registry if that is due.

        Raises FeatureGone, FeatureSunset, Forbidden, MajorUnknown, MajorExpired, TooStale, and with nothing
        cached Unreachable, Outdated or Tampered.
        """
        if self._refresher.due:
            self.refresh()
        held, error = self._refresher.value, self._refresher.error
        if isinstance(error, _FINAL):
            raise error.with_traceback(None)
        if held is None:
            raise error or Unreachable(f"{self.name}: the registry gives no answer")
        if not self._refresher.usable:
            raise self._too_stale(error)
        dates.check(held, self.major, self._clock.today())
        return held

    def refresh(self) -> None:
        """Ask the registry if that is due, whoever else may be asking; never raises."""
        self._refresher.poll()

    @property
    def due(self) -> bool:
        """Whether the next use asks the registry."""
        return self._refresher.due

    @property
    def version(self) -> str:
        """The released version in use, for example "2.3.1"."""
        return self.snapshot().release.version

    @property
    def contract(self) -> "Contract":
        """The contract in use."""
        return self.snapshot().contract

    @property
    def superseded_major(self) -> bool:
        """Whether a newer (or, after a rollback, an older) major is the active one."""
        return self.snapshot().superseded

    @property
    def deadline(self) -> date | None:
        """The day from which this major no longer runs; None while there is none."""
        return self.snapshot().pinned.deadline if self.superseded_major else None

    @property
    def sunset_on(self) -> date | None:
        """The day from which the feature no longer runs; None while there is none."""
        return self.snapshot().head.sunset_on

    @property
    def freshness(self) -> "Freshness":
        """How current the feature is; asks nobody and never raises."""
        from beleg.contract.client.freshness import Freshness  # noqa: PLC0415 - loading does not need it

        held, error = self._refresher.value, self._refresher.error
        return Freshness(
            self._state(held, error),
            None if held is None else self._refresher.age_s,
            None if held is None else held.head.epoch,
            self._refresher.failures,
            None if error is None else str(error),
            self._cache.failures,
        )

    def _state(self, held: Snapshot | None, error: Exception | None) -> "State":
        if isinstance(error, Forbidden):
            return "forbidden"
        if isinstance(error, _FINAL):
            return "gone"
        if held is not None and dates.is_sunset(held.head, self._clock.today()):
            return "sunset"
        if held is None or isinstance(error, Unreachable):
            return "offline"
        return "fresh" if error is None and self._refresher.age_s <= self._ttl_s else "stale"

    def _too_stale(self, error: Exception | None) -> TooStale:
        age = timedelta(seconds=int(self._refresher.age_s))
        limit = timedelta(seconds=self._max_stale_s)
        said = "it gives no answer" if error is None else error
        return TooStale(f"{self.name}: the registry confirmed it {age} ago; max_stale_s allows {limit}. Now: {said}")

    # -- running ------------------------------------------------------------------------------------

    def run(
        self, variables: Mapping[str, Any], *, tools: Mapping[str, Callable[..., Any]] | None = None, **trace: Any
    ) -> "Result":
        """Run the feature; see docs/sdk.md. `trace` are options of `beleg.traced_agent_run`.

        Raises VariablesInvalid, ToolsInvalid, PromptInvalid, SetupError, NoProvider, Refused, InvalidAnswer,
        what a tool of the caller's raises, and what `snapshot` raises.
        """
        result: Result = _drive().run(self.snapshot(), variables, tools or {}, trace)
        return result

    async def arun(
        self, variables: Mapping[str, Any], *, tools: Mapping[str, Callable[..., Any]] | None = None, **trace: Any
    ) -> "Result":
        """As `run`, without blocking the loop; tools may be coroutine functions."""
        import asyncio  # noqa: PLC0415

        if self.due:
            await asyncio.to_thread(self.refresh)
        result: Result = await _drive().arun(self.snapshot(), variables, tools or {}, trace)
        return result

    def _fetch(self) -> Snapshot:
        """In the refresher's thread. What an earlier process left serves if the registry is away."""
        if self._refresher.value is None and self._fetcher.known is None:
            kept = self._fetcher.from_disk()
            if kept is not None:
                self._refresher.start_with(*kept)
        return self._fetcher.fetch(self._refresher.value)


def _drive() -> Any:
    """What runs features, loaded when the first one is run."""
    try:
        return importlib.import_module("beleg.contract.run.drive")
    except ImportError as error:
        raise SetupError(f'running a feature needs {error.name}: pip install "beleg[providers]"') from error
