"""What everything that writes to an installation stands in: the lock, the right format, an empty scratch folder.

Whoever is killed in it leaves nothing that the next one does not clear away.
"""

import errno
import shutil
from collections.abc import Generator
from contextlib import contextmanager

import duckdb
from deltalake.exceptions import DeltaError

from beleg.core.errors import DamagedError
from beleg.core.lock import writer
from beleg.core.settings import Settings
from beleg.lake import format as lake_format

RESTORING = "restore.json"
"""There while a restore moves its files in; it says what is still to be done."""
STAGED = ".restore-"
"""Begins the name of a folder into which a restore fetches a backup."""
_SPILLED = "max_temp_directory_size"
"""Stands in what DuckDB says where it ran out of memory because the disk has no room to spill to."""
PUT_ASIDE = ".replaced-"
"""Begins the name of a folder into which a restore puts what was there before."""


@contextmanager
def exclusive(settings: Settings, *, any_format: bool = False) -> Generator[None]:
    """Hold the writer lock over a whole lake of this release's format (`any_format`: of any that can be read).

    Raises Busy where another writer does not end in time; DamagedError for another format, a restore that
    was cut off, and, with words on what to do, where the disk is full or the store cannot be read.
    """
    with explained(settings), writer(settings.home):
        check_whole(settings)
        if any_format:
            lake_format.check_readable(settings)
        else:
            lake_format.prepare_writing(settings)
        shutil.rmtree(settings.home / "scratch", ignore_errors=True)
        yield


@contextmanager
def explained(settings: Settings) -> Generator[None]:
    """Raise DamagedError, with words on what to do, where the disk is full or the store cannot be read."""
    try:
        yield
    except (OSError, DeltaError, duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise DamagedError(_what_to_do(settings, error)) from error


def is_full(error: Exception) -> bool:
    """Whether an error says that there is no room left."""
    if "No space left" in str(error) or _SPILLED in str(error):
        return True
    return isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, duckdb.OutOfMemoryException) and not is_full(error)


def check_whole(settings: Settings) -> None:
    """Raise DamagedError where a restore was cut off while it moved its files in."""
    if (settings.home / RESTORING).exists():
        msg = f"a restore into {settings.home} was cut off as it moved its files in: run the same `beleg restore` again"
        raise DamagedError(msg)


def _what_to_do(settings: Settings, error: Exception) -> str:
    """What stopped a writer, in words; whatever it was, the old figures stand."""
    if is_full(error):
        return f"{settings.home} cannot be written: {error}. Nothing was changed; free space and run it again"
    if _is_out_of_memory(error):
        return f"{settings.home}: this needs more memory: {error}. Nothing was changed; give it more, or less at once"
    return f"{settings.home} cannot be read or written: {error}. Nothing was changed; mend that or restore a backup"
