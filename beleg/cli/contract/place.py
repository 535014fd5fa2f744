"""What the commands on contracts share: where things lie, who acts, what the policies know."""

import getpass
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beleg.core.errors import UsageError
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.contract.draft import Feature
    from beleg.contract.promotion import Ask
    from beleg.contract.registry.registry import Registry

FeatureName = Annotated[str, typer.Argument(metavar="FEATURE", help="Name of the folder below contracts/features.")]
By = Annotated[
    str | None,
    typer.Option("--by", envvar="BELEG_USER", help="Who does it; by default the name git knows you by."),
]
Why = Annotated[str, typer.Option("--why", help="The reason, kept in the history.")]


def project() -> Path:
    """The project's folder; raises UsageError outside of one."""
    found = Settings.load().project
    if found is None:
        raise UsageError("no project here: go to a folder with contracts/ and evals/, or make one with: beleg init DIR")
    return found


def feature(name: str) -> "Feature":
    """A feature of the project."""
    from beleg.contract import draft

    return draft.find(project(), name)


def registry() -> "Registry":
    """The registry that commands write to; raises UsageError where it is no folder."""
    from beleg.contract.registry.registry import Registry

    return Registry.of(Settings.load().home)


def policies() -> "Path | None":
    """The folder of the project's own policies; None outside of a project."""
    found = Settings.load().project
    return None if found is None else found / "contracts" / "policies"


def person(by: str | None) -> str:
    """Who acts: as said, else git's user, else the login."""
    if by:
        return by
    try:
        told = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, check=False).stdout
    except OSError:
        told = ""
    return told.strip() or getpass.getuser()


def ask(*, confirm_breaking: bool = False, bump: str | None = None, override: str | None = None, by: str = "") -> "Ask":
    """What whoever publishes wishes, with what the project's policies know of models."""
    from beleg.contract.lint import Facts
    from beleg.contract.promotion import Ask, Override

    if bump not in {None, "patch", "minor", "major"}:
        raise UsageError(f"--bump {bump!r} is none of patch, minor, major")
    return Ask(
        confirm_breaking=confirm_breaking,
        bump=bump,  # type: ignore[arg-type]
        override=None if override is None else Override(by, override),
        facts=Facts(risk_levels=_risk_levels()),
    )


def _risk_levels() -> dict[tuple[str, str], str]:
    """(provider, model) → risk level, as models.yaml has it today."""
    from beleg.cost.policies import load_policies

    now = datetime.now(UTC)
    rows = (row for row in load_policies(Settings.load()).models.rows if row.covers(now))
    return {(row.provider, row.model): row.risk_level for row in rows if row.risk_level is not None}
