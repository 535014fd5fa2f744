"""What is left of a value beside the lake: replaced files, reports, a tenant's key."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from beleg.core.contracts import names
from beleg.core.files import replace_text
from beleg.core.settings import Settings
from beleg.lake.exclusive import PUT_ASIDE, STAGED
from beleg.lake.table import LakeTable
from beleg.trace.keys import key_ring, ring_of


def purge(settings: Settings) -> int:
    """Delete every data file that the latest versions do not name, however young; returns how many.

    An installation that a restore has put aside goes as a whole, since it tells everything.
    The caller holds the writer lock and has published: who reads the previous `beleg.duckdb` loses its files.
    """
    deleted = 0
    for name in names():
        table = LakeTable(settings, name)
        known = {table.root / file.path for file in table.files()}
        for path in table.root.rglob("*.parquet"):
            if path not in known and "_delta_log" not in path.parts:
                path.unlink(missing_ok=True)
                deleted += 1
    for folder in (*settings.home.glob(f"{PUT_ASIDE}*"), *settings.home.glob(f"{STAGED}*")):
        shutil.rmtree(folder)
    return deleted


def remove_reports(settings: Settings, value: str) -> tuple[str, ...]:
    """Delete the reports that show the value; their names."""
    found = [
        p for p in sorted((settings.home / "reports").rglob("*")) if p.is_file() and value.encode() in p.read_bytes()
    ]
    for path in found:
        path.unlink()
    return tuple(path.name for path in found)


def destroy_key(tenant: str) -> tuple[str | None, tuple[str, ...]]:
    """Take a tenant's own key out of the key ring's file; its id, and what remains to do in words."""
    ring_of.cache_clear()
    ring = key_ring()
    key_id = ring.tenants.get(tenant)
    if key_id is None or key_id not in ring.keys:
        return None, ()
    if key_id == ring.active or [t for t, k in ring.tenants.items() if k == key_id] != [tenant]:
        return None, (f"key {key_id} is not the tenant's alone and stays; its fingerprints were removed",)
    setting = os.environ["BELEG_HASH_KEYS"].strip()
    if setting.startswith("{"):
        return None, (f"BELEG_HASH_KEYS holds its keys itself: take key {key_id} out of it",)
    path = Path(setting)
    raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    del raw["keys"][key_id]
    mode = path.stat().st_mode
    replace_text(path, json.dumps(raw, indent=1))
    path.chmod(mode)
    ring_of.cache_clear()
    return key_id, ("every process that writes events must read the key ring anew: restart it",)
