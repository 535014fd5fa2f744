"""What all runs of a process share: settings, spool, clock, ids, keys and the count of faults."""

import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from beleg.trace import losses
from beleg.trace import settings as settings_module
from beleg.trace.canon_codec import NotCanonicalError
from beleg.trace.clock import Clock
from beleg.trace.faults import Faults, Health
from beleg.trace.fingerprint import Fingerprint, full_fingerprint
from beleg.trace.ids import new_id
from beleg.trace.keys import KeyRing, key_ring, ring_of
from beleg.trace.policy import PolicyError, take_words
from beleg.trace.settings import TraceSettings, from_environment
from beleg.trace.shapes import check_shape
from beleg.trace.spool import Spool, reason_of

NO_FINGERPRINT = Fingerprint("", "", None)


@dataclass
class Runtime:
    """One set of everything a run needs; a run keeps the one it started with."""

    settings: TraceSettings
    write: Callable[[bytes], None]
    """Stores one line; raises for one that is lost."""
    faults: Faults
    clock: Clock = field(default_factory=Clock)
    new_id: Callable[[], str] = new_id
    stored_values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Workflow → shape of the corrected values that may be stored; others are hashed."""
    keys: Callable[[], KeyRing] = key_ring
    keyed: bool = True
    """False where there is no key ring, so that nobody needs to look."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Team and environment of events that name none."""

    def emit(self, line: bytes) -> None:
        """Store one event; a lost one is counted."""
        try:
            self.write(line)
        except Exception as error:  # noqa: BLE001 - nothing of ours may reach the caller
            self.faults.lose(reason_of(error), error)

    def fingerprint(self, value: Any, tenant: str | None = None) -> Fingerprint | None:
        """Fingerprint of a payload; None, counted with its reason, where it has none."""
        try:
            return full_fingerprint(value, self.keys().for_tenant(tenant) if self.keyed else None)
        except NotCanonicalError as error:
            self.faults.note(f"no_hash_{error.reason}", error)
        except Exception as error:  # noqa: BLE001 - a hostile payload raises what it likes
            self.faults.note("no_hash_unreadable", error)
        return None


_lock = threading.RLock()
_faults = Faults()
_overrides: dict[str, Any] = {}
_stored_values: dict[str, Mapping[str, Any]] = {}
_spool: Spool | None = None
_seen: tuple[object, ...] = ()
_current: Runtime | None = None
_stack: list[Runtime] = []


def runtime() -> Runtime | None:
    """The runtime for a new run; None while tracing is switched off. Follows changes of the environment."""
    current = _current
    if _stack:
        current = _stack[-1]
    elif current is None or settings_module.snapshot() != _seen:
        current = _rebuild()
    return None if current.settings.disabled else current


def configure(*, stored_values: Mapping[str, Mapping[str, Any]] | None = None, **overrides: Any) -> None:
    """Override settings in code, for example `configure(disabled=True)` or `configure(labels={"region"})`.

    Raises TypeError for a setting that does not exist, PolicyError for a shape that is too open. Runs that
    already started keep their settings.
    """
    if "labels" in overrides:
        overrides["labels"] = frozenset(overrides["labels"])
    replace(TraceSettings(), **overrides)
    for shape in (stored_values or {}).values():
        check_shape(shape)
    with _lock:
        _overrides.update(overrides)
        _stored_values.update(stored_values or {})
    _rebuild()


def health() -> Health:
    """What this process wrote, lost and left out so far."""
    faults = _stack[-1].faults if _stack else _faults
    return Health(_spool.written if _spool is not None else 0, dict(faults.lost), dict(faults.faults))


def push(replacement: Runtime) -> None:
    """Use another runtime until `pop` (for `beleg.testing`)."""
    _stack.append(replacement)


def pop(replacement: Runtime) -> None:
    """Take a pushed runtime away again."""
    _stack.remove(replacement)


def _rebuild() -> Runtime:
    global _current, _seen, _spool  # noqa: PLW0603 - the process has one
    with _lock:
        seen = settings_module.snapshot()
        settings = replace(from_environment(), **_overrides)
        if _current is None or _spool is None or _current.settings != settings:
            previous, _spool = _spool, _make_spool(settings)
            if previous is not None:
                _spool.written = previous.written
                with contextlib.suppress(OSError):  # left to the pipeline, as if this process had died
                    previous.seal()
        ring = os.environ.get("BELEG_HASH_KEYS", "")
        _current = Runtime(
            settings,
            _spool.write,
            _faults,
            stored_values=dict(_stored_values),
            keys=partial(ring_of, ring),
            keyed=bool(ring),
            defaults=_defaults(settings),
        )
        _seen = seen
        return _current


def _defaults(settings: TraceSettings) -> dict[str, str]:
    given = {"team": settings.team, "environment": settings.environment}
    fields: dict[str, str] = {}
    for name in take_words(given, {"team": 200, "environment": 100}, fields):
        _faults.note(f"refused_{name}", PolicyError(f"{name} in the environment is no word that may be stored"))
    return fields


def _make_spool(settings: TraceSettings) -> Spool:
    return Spool(
        settings.spool,
        rotate_bytes=settings.rotate_bytes,
        rotate_s=settings.rotate_s,
        max_bytes=settings.max_bytes,
        sync=settings.sync,
    )


def _leave_losses(faults: Faults) -> None:
    if _current is not None:
        losses.write(_current.settings.spool, faults)


_faults.leave = _leave_losses
atexit.register(_faults.report)


def _renew_after_fork() -> None:
    global _lock  # noqa: PLW0603
    _lock = threading.RLock()
    _faults.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
