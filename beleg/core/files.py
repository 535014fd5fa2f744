"""Files that appear whole or not at all."""

import os
from pathlib import Path

from beleg.core.errors import UsageError


def demand_folder(path: Path) -> None:
    """Raise UsageError for a path where no folder is and none can be made: a file is there, or above it."""
    for place in (path, *path.parents):
        if place.exists() or place.is_symlink():
            if not place.is_dir():
                raise UsageError(f"{place} is no folder, so nothing can lie in it: name another place")
            return


def replace_text(path: Path, text: str) -> None:
    """Replace a file's text so that a reader sees the old or the new one, never a part.

    Raises UsageError for a path that can be no file's: that of a folder, or one below a file.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file in it")
    demand_folder(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        error.filename = str(path)  # nobody has heard of the file beside it
        raise
    finally:
        beside.unlink(missing_ok=True)
