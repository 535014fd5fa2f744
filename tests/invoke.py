"""Runs a command in this process; an error of Beleg's is raised, not printed."""

import typer
from typer.testing import CliRunner, Result


def run(app: typer.Typer, *arguments: str) -> Result:
    """What the command printed and its exit code."""
    result = CliRunner().invoke(app, list(arguments))
    if isinstance(result.exception, Exception):
        raise result.exception
    return result
