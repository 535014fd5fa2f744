"""The installation that the assets work on."""

from datetime import datetime
from pathlib import Path

import dagster as dg

from beleg.core.settings import Settings


class Installation(dg.ConfigurableResource[None]):
    """One installation; what is left empty comes from the environment, as for the `beleg` command."""

    home: str = ""
    spool: str = ""
    project: str = ""
    timezone: str = ""
    as_of: str = ""
    """Instant for which runs count as abandoned, RFC 3339; empty for now."""

    def settings(self) -> Settings:
        """The settings; raises UsageError for a zone that does not exist."""
        found = Settings.load()
        home = Path(self.home) if self.home else found.home
        spool = Path(self.spool) if self.spool else (home / "spool" if self.home else found.spool)
        project = Path(self.project) if self.project else found.project
        return Settings(home, spool, project, self.timezone or found.timezone)

    def instant(self) -> datetime | None:
        """The instant to compute for; None for now."""
        return datetime.fromisoformat(self.as_of) if self.as_of else None
