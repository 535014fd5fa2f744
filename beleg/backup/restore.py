"""Brings an installation back from a backup.

All is fetched beside and compared with the manifest first. Then `restore.json` says that the files are being
moved in: from there on every writer refuses the half-moved folder, and the same restore again finishes it.
"""

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from beleg.backup import contents, manifest
from beleg.backup.fetch import fetch
from beleg.backup.manifest import Manifest
from beleg.backup.store import store_at
from beleg.core.errors import UsageError
from beleg.core.files import demand_folder, replace_text
from beleg.core.lock import writer
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.lake import catalog, publication
from beleg.lake import format as lake_format
from beleg.lake.exclusive import PUT_ASIDE, RESTORING, STAGED, explained

_KEPT = ("writer.lock", "backup.lock", "scratch", RESTORING, contents.SPOOL)
"""What a restore leaves alone. The spool is not the installation's to replace: applications write to it."""


@dataclass(frozen=True)
class Restored:
    """What a restore did."""

    manifest: Manifest
    home: Path
    put_aside: Path | None
    """Where the installation that was there before lies now; delete it when it is no longer needed."""

    @property
    def forgets_undone(self) -> tuple[str, ...]:
        """What was forgotten after the backup and has come back with it, by kind and label: forget it again."""
        if self.put_aside is None:
            return ()
        before, now = (_forgets(home) for home in (self.put_aside, self.home))
        return tuple(sorted(before - now))


def restore(
    settings: Settings,
    place: str,
    *,
    backup_id: str | None = None,
    replace: bool = False,
    on_progress: OnProgress = silent,
) -> Restored:
    """Bring the newest backup of a place, or the one named, into `settings.home`.

    The spool stays as it is, so that `beleg run` goes on from the restored figures with what the spool still
    holds. Raises UsageError for a folder that holds anything else, unless that is to be replaced; DamagedError for a
    file that is not what was backed up: nothing has changed then.
    """
    demand_folder(settings.home)
    store = store_at(place)
    wanted = manifest.load(store, backup_id)
    lake_format.check(wanted.lake_format, f"backup {wanted.id}")
    with explained(settings), writer(settings.home):
        if _resumed(settings.home) == wanted.id:
            return Restored(wanted, settings.home, _finish(settings))
        _check_empty(settings, replace=replace)
        staged = _staging(settings.home, wanted.id)
        fetch(store, wanted, staged, on_progress)
        moves = {"backup": wanted.id, "entries": sorted(p.name for p in staged.iterdir()), "aside": _aside()}
        replace_text(settings.home / RESTORING, json.dumps(moves))
        return Restored(wanted, settings.home, _finish(settings))


def _staging(home: Path, backup_id: str) -> Path:
    """Where a backup is fetched to; what an earlier restore of it fetched is there still."""
    staged = home / f"{STAGED}{backup_id}"
    for other in home.glob(f"{STAGED}*"):
        if other != staged:
            shutil.rmtree(other)
    staged.mkdir(exist_ok=True)
    return staged


def _resumed(home: Path) -> str | None:
    """Id of the backup whose files are being moved in; None where none are."""
    moves = _moves(home)
    return None if moves is None else str(moves["backup"])


def _moves(home: Path) -> dict[str, Any] | None:
    path = home / RESTORING
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def _aside() -> str:
    return f"{PUT_ASIDE}{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"


def _finish(settings: Settings) -> Path | None:
    """Move what was fetched into place, as far as that is not done yet; returns where the old files are."""
    home = settings.home
    moves = _moves(home) or {}
    staged, aside = home / f"{STAGED}{moves['backup']}", home / moves["aside"]
    for old in sorted(home.iterdir()):
        replaced = old.name not in moves["entries"] or (staged / old.name).exists()
        if replaced and old.name not in _KEPT and not old.name.startswith("."):
            aside.mkdir(exist_ok=True)
            old.rename(aside / old.name)
    for new in sorted(staged.iterdir()):
        if new.name == contents.SPOOL:
            _add_spool(new, settings.spool)
        else:
            new.rename(home / new.name)
    if (published := publication.current(settings)) is not None:
        catalog.rebuild(settings, published)
    (home / RESTORING).unlink()
    shutil.rmtree(staged)
    return aside if aside.exists() else None


def _add_spool(staged: Path, spool: Path) -> None:
    """Add spool files that are no longer there; what an application writes now is never touched."""
    spool.mkdir(parents=True, exist_ok=True)
    for path in sorted(p for p in staged.rglob("*") if p.is_file()):
        target = spool / path.relative_to(staged)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, target)


def _check_empty(settings: Settings, *, replace: bool) -> None:
    found = sorted(p.name for p in settings.home.iterdir() if _would_move(p))
    if not found or replace:
        return
    is_ours = {settings.lake.name, settings.ledger.name, "registry"} & set(found)
    what = "an installation already" if is_ours else f"files that are no installation of Beleg ({', '.join(found[:3])})"
    msg = f"{settings.home} holds {what}; --replace puts that aside, --into DIR restores elsewhere"
    raise UsageError(msg)


def _would_move(path: Path) -> bool:
    """Whether something in the home would be put aside; a folder without anything in it is nothing."""
    kept = path.name in _KEPT or path.name.startswith(".")
    return not kept and not (path.is_dir() and not any(path.iterdir()))


def _forgets(home: Path) -> set[str]:
    facts = publication.facts(home / "ledger" / "forgets.jsonl")
    return {f"{fact['kind']} {fact['label']} at {fact['at']}" for fact in facts if fact.get("state") == "done"}
