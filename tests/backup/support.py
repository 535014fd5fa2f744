"""Installations with some history, the command, and what stands in a backup."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from beleg.backup import manifest
from beleg.backup.manifest import Kept
from beleg.backup.store import store_at
from beleg.core.settings import Settings
from tests.flow.support import Installation, run_events

ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2030, 1, 10, 12, tzinfo=UTC)


def day(number: int) -> list[dict[str, Any]]:
    """Three runs of a day."""
    runs = (run_events(f"d{number}r{n}", NOON + timedelta(days=number, hours=3 * n)) for n in range(3))
    return [e for events in runs for e in events]


def beleg(settings: Settings, *arguments: str, dying: tuple[str, str, int] | None = None) -> Any:
    """Run the command on an installation, perhaps to its death."""
    module = ["beleg.cli.main"] if dying is None else ["tests.dying", dying[0], dying[1], str(dying[2])]
    env = {k: v for k, v in os.environ.items() if not k.startswith("BELEG_")} | {"BELEG_HOME": str(settings.home)}
    command = [sys.executable, "-m", *module, *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def elsewhere(home: Path) -> Installation:
    """An installation in a folder of its own, empty as yet."""
    return Installation(home)


def path_of(place: Path, kind: str) -> tuple[str, Path]:
    """A file of the newest backup whose path holds `kind`, and where its content lies."""
    files = manifest.load(store_at(str(place))).files
    path = next(path for path in files if kind in path)
    return path, place / Kept(*files[path]).name
