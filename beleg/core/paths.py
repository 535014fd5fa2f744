"""Finds the data that ships with the library, in a wheel and in a checkout."""

import os
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def shipped(*parts: str) -> Path:
    """Path of shipped data, for example `shipped("contracts", "tables")`.

    A wheel carries it under `beleg/_data`, a checkout beside the package. Raises FileNotFoundError
    where neither holds it, which means a damaged installation.
    """
    for root in (_PACKAGE / "_data", _PACKAGE.parent):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    msg = f"Beleg's own data {'/'.join(parts)!r} is missing: reinstall the package"
    raise FileNotFoundError(msg)


def template(name: str) -> Path:
    """A folder or file of Beleg's own project that new projects start from: in a wheel below `template`."""
    return shipped("template", name) if (_PACKAGE / "_data" / "template").is_dir() else shipped(name)


def find_project(start: Path | None = None) -> Path | None:
    """Folder with `contracts/` and `evals/`: `BELEG_PROJECT`, else the nearest parent that has both."""
    configured = os.environ.get("BELEG_PROJECT")
    if configured:
        return Path(configured).resolve()
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "contracts").is_dir() and (folder / "evals").is_dir():
            return folder
    return None
