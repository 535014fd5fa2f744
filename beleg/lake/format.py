"""The format of a lake: how its folders, logs and records are laid out.

The number stands in `lake/_format`. It is raised when an earlier release could no longer read the lake; a
column that a table gains does not raise it, since it is added in place (`LakeTable.evolve`). A release reads
its own format and the one before, and writes its own only: `beleg migrate` brings a lake to it.
"""

from beleg.core.errors import DamagedError
from beleg.core.files import replace_text
from beleg.core.settings import Settings

LAKE_FORMAT = 1
"""What this release writes."""
FIRST_FORMAT = 1
"""There was none before; a lake without `_format` has it."""


def of(settings: Settings) -> int | None:
    """The format of an installation's lake; None where there is no lake yet.

    Raises DamagedError for a file that holds no number.
    """
    path = settings.lake / "_format"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return FIRST_FORMAT if settings.lake.is_dir() and any(settings.lake.iterdir()) else None
    try:
        return int(text)
    except ValueError as error:
        msg = f"{path} holds {text[:20]!r} instead of a number: restore a backup"
        raise DamagedError(msg) from error


def record(settings: Settings, number: int) -> None:
    """Write down the format of a lake, in one atomic step."""
    replace_text(settings.lake / "_format", f"{number}\n")


def check_readable(settings: Settings) -> None:
    """Raise DamagedError for a lake that this release cannot read."""
    check(of(settings), str(settings.lake))


def check(number: int | None, what: str) -> None:
    """Raise DamagedError where a lake of that format, called `what`, cannot be read by this release."""
    oldest = max(FIRST_FORMAT, LAKE_FORMAT - 1)
    if number is None or oldest <= number <= LAKE_FORMAT:
        return
    if number < FIRST_FORMAT:
        way = f"no release of Beleg ever wrote that, the first is {FIRST_FORMAT}: restore a backup"
    elif number > LAKE_FORMAT:
        way = f"it was written by a newer release of Beleg than this one, which reads up to {LAKE_FORMAT}: install that"
    else:
        way = f"this release reads {LAKE_FORMAT} and {oldest}: migrate with the releases between, in order"
    msg = f"{what} has format {number}; {way}"
    raise DamagedError(msg)


def prepare_writing(settings: Settings) -> None:
    """Raise DamagedError for a lake that is not of this release's format; mark a new lake as such."""
    found = of(settings)
    check(found, str(settings.lake))
    if found is not None and found != LAKE_FORMAT:
        way = "run `beleg backup TARGET`, then `beleg migrate`"
        msg = f"{settings.lake} has format {found}, this release writes {LAKE_FORMAT}: {way}"
        raise DamagedError(msg)
    if not (settings.lake / "_format").exists():
        record(settings, LAKE_FORMAT)
