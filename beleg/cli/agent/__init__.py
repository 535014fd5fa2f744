"""`beleg agent`: what surrounds an agent, looked at before it runs. One module per group of subcommands."""

import importlib
import pkgutil
import sys
from pathlib import Path

import typer

agent = typer.Typer(no_args_is_help=True, help="An agent's surroundings: its tools, verbs, playbooks and prompt.")


@agent.callback()
def _here() -> None:
    """Modules named on the command line are found from the working folder, as with `python -m`."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def register(app: typer.Typer) -> None:
    """Add the commands of every module in this package."""
    app.add_typer(agent, name="agent")


for _module in sorted(each.name for each in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}").register(agent)
