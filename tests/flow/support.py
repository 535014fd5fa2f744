"""An installation that runs the whole flow on given events, and tells what readers then see."""

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from beleg import flow
from beleg.core.settings import Settings
from beleg.lake import catalog, publication
from tests.events import event, lines

AS_OF = datetime(2030, 6, 1, tzinfo=UTC)
MARTS = (
    "run_days",
    "step_costs",
    "run_costs",
    "run_lookup",
    "unit_costs",
    "flags",
    "reconciliation",
    "workflow_traffic",
    "cache_efficiency",
    "drift",
    "bindings",
    "prompt_versions",
    "tool_usage",
    "held_tokens",
    "playbook_hits",
    "cache_misses",
)


class Installation:
    """A home of its own; events go through files as a user's would."""

    def __init__(self, home: Path, *, timezone: str = "UTC") -> None:
        self.settings = Settings(home=home / "beleg", spool=home / "beleg" / "spool", timezone=timezone)
        self.inbox = home / "inbox"
        self.inbox.mkdir(parents=True)
        self._files = 0

    @classmethod
    def begun(cls, home: Path, *events: dict[str, Any]) -> "Installation":
        """An installation that has taken these events; made once a process, since copying is quicker."""
        key = lines(*events)
        if key not in _begun:
            _begun[key] = cls(Path(_folder.name) / str(len(_begun)))
            _begun[key].take(*events)
        return _begun[key].copied_to(home)

    def write(self, *events: dict[str, Any]) -> Path:
        self._files += 1
        path = self.inbox / f"{self._files:04d}.jsonl"
        path.write_bytes(lines(*events))
        return path

    def take(self, *events: dict[str, Any], as_of: datetime = AS_OF) -> flow.Report:
        return flow.run(self.settings, [self.write(*events)], as_of=as_of)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        with catalog.connect(self.settings) as con:
            return con.execute(sql).fetchall()

    def marts(self) -> dict[str, list[tuple[Any, ...]]]:
        return {name: self.ask(f"SELECT * FROM {name} ORDER BY ALL") for name in MARTS}

    def copied_to(self, home: Path) -> "Installation":
        """The same installation at another place, for tests that need the same beginning: making it takes longer."""
        copy = Installation(home, timezone=self.settings.timezone)
        copy._files = self._files
        shutil.copytree(self.settings.home, copy.settings.home)
        shutil.copytree(self.inbox, copy.inbox, dirs_exist_ok=True)
        moved(copy.settings)
        return copy

    def rebuilt(self) -> dict[str, list[tuple[Any, ...]]]:
        """The marts after everything was computed again from the lake."""
        path = self.settings.lake / "_publication.json"
        now = publication.current(self.settings)
        assert now is not None
        path.unlink()
        flow.publish(self.settings, as_of=datetime.fromisoformat(now.as_of))
        return self.marts()


def moved(settings: Settings) -> None:
    """Make the database of a copied installation anew: it names the files at their old place."""
    shown = publication.current(settings)
    assert shown is not None
    catalog.rebuild(settings, shown)


_folder = tempfile.TemporaryDirectory(prefix="beleg-begun-")
_begun: dict[bytes, Installation] = {}


def run_events(
    run: str,
    start: datetime,
    *,
    workflow: str = "ocr",
    seconds: float = 5,
    tokens: int = 1000,
    units: dict[str, int] | None = None,
    finish: bool = True,
    **fields: Any,
) -> list[dict[str, Any]]:
    """Start, one priced step and finish of a run."""

    def at(share: float) -> str:
        moment = datetime.fromtimestamp(start.timestamp() + share * seconds, UTC)
        return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")

    usage = {"buckets": {"input_uncached": tokens, "output": 10}, "provider": "openai", "model": "gpt-4o"}
    events = [
        event("run_started", f"{run}-start", at(0), run_id=run, workflow=workflow, **fields),
        event("step", f"{run}-step", at(0.5), run_id=run, latency_ms=100, **usage),
    ]
    if finish:
        events.append(event("run_finished", f"{run}-end", at(1), run_id=run, units=units or {"documents": 1}))
    return events
