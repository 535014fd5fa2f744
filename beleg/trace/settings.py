"""What the tracer reads from the environment."""

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_NAMES = (
    "BELEG_DISABLED",
    "BELEG_SPOOL",
    "BELEG_HOME",
    "BELEG_LABELS",
    "BELEG_TEAM",
    "BELEG_ENVIRONMENT",
    "BELEG_SPOOL_SYNC",
    "BELEG_SPOOL_MAX_BYTES",
    "BELEG_SPOOL_ROTATE_BYTES",
    "BELEG_SPOOL_ROTATE_S",
    "BELEG_HASH_KEYS",
)
_TRUE = frozenset({"1", "true", "yes", "on"})


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """Settings of the tracer; `beleg.configure` overrides single ones in code."""

    spool: Path = Path(".beleg/spool")
    """Folder of the spool: `BELEG_SPOOL`, else `BELEG_HOME/spool`."""
    disabled: bool = False
    """The master switch: no I/O, no hashing, every helper does nothing."""
    labels: frozenset[str] = frozenset()
    """Names of labels that may be stored (`BELEG_LABELS`, comma-separated)."""
    team: str | None = None
    environment: str | None = None
    sync: bool = False
    """Sync each event to disk: survives a power cut, costs a disk access an event."""
    max_bytes: int = 1 << 30
    """Most bytes the spool folder may hold; beyond, new events are dropped and counted."""
    rotate_bytes: int = 64 << 20
    rotate_s: int = 900


def snapshot() -> tuple[object, ...]:
    """The raw values of all settings, cheap enough to compare at the start of every run."""
    return tuple(map(_get, _KEYS))


def from_environment(environ: Mapping[str, str] | None = None) -> TraceSettings:
    """Read the settings. A value that cannot be read counts as its default: tracing never stops an app."""
    env = os.environ if environ is None else environ
    names = env.get("BELEG_LABELS", "").split(",")
    return TraceSettings(
        spool=_folder(env),
        disabled=env.get("BELEG_DISABLED", "").strip().lower() in _TRUE,
        labels=frozenset(name.strip() for name in names if name.strip()),
        team=env.get("BELEG_TEAM") or None,
        environment=env.get("BELEG_ENVIRONMENT") or None,
        sync=env.get("BELEG_SPOOL_SYNC", "").strip().lower() in _TRUE,
        max_bytes=_number(env, "BELEG_SPOOL_MAX_BYTES", 1 << 30),
        rotate_bytes=_number(env, "BELEG_SPOOL_ROTATE_BYTES", 64 << 20),
        rotate_s=_number(env, "BELEG_SPOOL_ROTATE_S", 900),
    )


def _folder(env: Mapping[str, str]) -> Path:
    spool = env.get("BELEG_SPOOL")
    path = Path(spool) if spool else Path(env.get("BELEG_HOME") or ".beleg") / "spool"
    with contextlib.suppress(RuntimeError):  # "~nobody": there is no such home
        path = path.expanduser()
    with contextlib.suppress(OSError):  # the working directory was deleted
        path = path.absolute()
    return path


def _number(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name, "").strip()
    return int(text) if text.isdecimal() and int(text) > 0 else default


def _reader() -> tuple[Callable[[object], object], tuple[object, ...]]:
    # os.environ encodes the key at each look-up; its own dict answers ten times faster where it exists.
    raw = getattr(os.environ, "_data", None)
    if os.name == "posix" and isinstance(raw, dict):
        return raw.get, tuple(os.fsencode(name) for name in _NAMES)
    return os.environ.get, _NAMES  # type: ignore[return-value]


_get, _KEYS = _reader()
