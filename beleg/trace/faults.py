"""What happens to faults of the tracer's own: counted, logged once per kind, never raised.

In `beleg.testing` they raise, so that the tests of an application (and ours) see them.
"""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field


def _log(kind: str, error: Exception) -> None:
    with contextlib.suppress(Exception):  # an application's own filters and handlers may raise
        import logging  # noqa: PLC0415 - a sixth of the time of `import beleg`

        # The class alone: the message of a foreign exception may hold payload.
        logging.getLogger("beleg").warning(
            "tracing fault %r (%s), logged once; see beleg.health()", kind, type(error).__name__
        )


@dataclass(frozen=True, slots=True)
class Health:
    """What the tracer of this process wrote and lost since it started (or was forked)."""

    written: int
    """Events that the operating system has taken."""
    lost: dict[str, int]
    """Events that were not written, by reason."""
    faults: dict[str, int]
    """Things left out of events that were written, by kind: a payload without fingerprint, a label refused."""

    @property
    def ok(self) -> bool:
        """True where nothing was lost or left out."""
        return not self.lost and not self.faults


@dataclass
class Faults:
    """Counts faults; `strict` raises them instead."""

    strict: bool = False
    lost: dict[str, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    leave: Callable[["Faults"], None] | None = None
    """Leaves the counts where they outlive the process."""
    _logged: set[str] = field(default_factory=set)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def lose(self, reason: str, error: Exception) -> None:
        """An event could not be written."""
        self._count(self.lost, reason, error)

    def note(self, kind: str, error: Exception) -> None:
        """A part of an event had to be left out, or a call had to be ignored."""
        self._count(self.faults, kind, error)

    def report(self) -> None:
        """Leave the counts where they outlive the process, as far as that is possible."""
        if self.leave is not None and (self.lost or self.faults):
            with contextlib.suppress(Exception):
                self.leave(self)

    def _count(self, counts: dict[str, int], kind: str, error: Exception) -> None:
        if self.strict:
            raise error
        with self._lock:
            count = counts[kind] = counts.get(kind, 0) + 1
            first = kind not in self._logged
            self._logged.add(kind)
        if first:
            _log(kind, error)
        if count & (count - 1) == 0:  # when it doubles, so that a million losses are twenty reports
            self.report()

    def renew(self) -> None:
        """Forget everything and take a fresh lock, as a forked child must."""
        self._lock = threading.RLock()
        self.lost.clear()
        self.faults.clear()
        self._logged.clear()
