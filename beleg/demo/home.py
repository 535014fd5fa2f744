"""The demo's own installation, with its agent contracts: made anew each time, and only if it is ours to remove."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from beleg.core.errors import UsageError
from beleg.core.files import demand_folder
from beleg.core.paths import shipped
from beleg.core.settings import Settings

NOTICE = "Synthetic data, made by “beleg demo”: no customer, no person and no amount in it is real."
MARKER = ".beleg-demo"
"""File that says a folder was made by `beleg demo` and may be removed by it."""


def make_home(home: Path) -> Settings:
    """Make an empty home with the demo's own policies and return its settings.

    Raises UsageError for a folder that holds something else than an earlier demo.
    """
    home = home.expanduser().resolve()
    if home.exists() and not _is_ours(home):
        msg = f"{home} holds something that is no demo and stays as it is; name another folder with --home"
        raise UsageError(msg)
    demand_folder(home)
    shutil.rmtree(home, ignore_errors=True)
    policies = home / "project" / "contracts" / "policies"
    policies.parent.mkdir(parents=True)
    (home / MARKER).write_text("Made by `beleg demo` with synthetic data; the next demo removes this folder.\n")
    with as_file(files("beleg.demo") / "policies") as own:
        shutil.copytree(own, policies)
    with as_file(files("beleg.demo") / "registry") as own:
        shutil.copytree(own, home / "registry")
    with as_file(files("beleg.demo") / "suites") as own:
        shutil.copytree(own, home / "project" / "evals" / "suites")
    shutil.copytree(shipped("contracts", "features"), policies.parent / "features")
    return settings_of(home)


def notice_of(settings: Settings) -> str | None:
    """What a report on this installation must say on top; None for data that is not a demo's."""
    return NOTICE if (settings.home / MARKER).is_file() else None


def settings_of(home: Path) -> Settings:
    """Settings of a demo's home: its own policies, business days in the company's zone."""
    return Settings(home=home, spool=home / "spool", project=home / "project", timezone="Europe/Berlin")


def _is_ours(home: Path) -> bool:
    return home.is_dir() and ((home / MARKER).is_file() or not any(home.iterdir()))
