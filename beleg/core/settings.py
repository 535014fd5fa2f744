"""The settings of one installation, validated once where they are derived."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from beleg.core.errors import UsageError
from beleg.core.paths import find_project, shipped


@dataclass(frozen=True)
class Settings:
    """Where an installation lives and how it counts days.

    Derive it with `Settings.load()`; tests construct it directly.
    """

    home: Path
    """Folder of the installation (`BELEG_HOME`, default `./.beleg`)."""
    spool: Path
    """Folder the tracer writes to (`BELEG_SPOOL`, default `home/spool`)."""
    project: Path | None = None
    """Folder with the user's own `contracts/` and `evals/`; None where there is none."""
    timezone: str = "UTC"
    """IANA zone of the business day (`BELEG_TIMEZONE`)."""

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None) -> "Settings":
        """Read the environment; raises UsageError for a zone that does not exist."""
        env = os.environ if environ is None else environ
        home = Path(env.get("BELEG_HOME") or ".beleg").expanduser().resolve()
        if any(c in str(home) for c in "?\\"):
            msg = (
                f"BELEG_HOME={str(home)!r} holds a question mark or backslash, which DuckDB cannot open; choose another"
            )
            raise UsageError(msg)
        spool = Path(env["BELEG_SPOOL"]).expanduser().resolve() if env.get("BELEG_SPOOL") else home / "spool"
        return cls(home, spool, find_project(), _zone(env.get("BELEG_TIMEZONE") or "UTC"))

    @property
    def lake(self) -> Path:
        """Folder of the Delta tables."""
        return self.home / "lake"

    @property
    def ledger(self) -> Path:
        """Folder of the append-only facts: publications, ingests, price snapshots."""
        return self.home / "ledger"

    @property
    def database(self) -> Path:
        """The DuckDB file for analysts."""
        return self.home / "beleg.duckdb"

    def policy(self, name: str) -> Path:
        """Path of a policy file: the project's own, else the default that ships with the library."""
        if self.project is not None:
            own = self.project / "contracts" / "policies" / name
            if own.exists():
                return own
        return shipped("contracts", "policies", name)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        msg = f"BELEG_TIMEZONE={name!r} is no IANA time zone; set for example Europe/Berlin or UTC"
        raise UsageError(msg) from error
    return name
