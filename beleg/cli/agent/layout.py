"""`beleg agent layout`: does a prompt keep what is shared first, and how much of it will a cache find again."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.agent.playbooks import show_findings
from beleg.cli.options import Json
from beleg.cli.output import show_rows

if TYPE_CHECKING:
    from beleg.agent.layout import Report


def register(agent: typer.Typer) -> None:
    """Add the command."""
    noun = typer.Typer(no_args_is_help=True, help="The layout of a prompt: shared first, so that caches hold.")
    noun.command("check")(check)
    noun.callback()(_noun)
    agent.add_typer(noun, name="layout")


def _noun() -> None:
    """The layout of a prompt: shared first, so that caches hold."""


def check(
    target: Annotated[str, typer.Argument(help="MODULE:NAME of a beleg.agent.layout.Samples. The module is run.")],
    *,
    json: Json = False,
) -> None:
    """Render a prompt under other hash seeds, clocks, zones, locales and companies; exit code 1 for an error.

    Example: beleg agent layout check beleg.agent.example.prompt:SAMPLES
    """
    from beleg.agent import layout

    report = layout.check(target)
    predictions = [
        {
            "first": first,
            "second": second,
            "shared_tokens": each.shared_tokens,
            "cached_tokens": each.cached_tokens,
            "total_tokens": each.total_tokens,
            "share": each.share,
            "why": each.why,
        }
        for (first, second), each in report.predictions.items()
    ]
    if not json:
        _show(report, predictions)
    more = {"tokens_by_scope": report.tokens_by_scope, "predictions": predictions} if json else {}
    show_findings(report.findings, json=json, **more)


def _show(report: "Report", predictions: list[dict[str, Any]]) -> None:
    scopes = list(dict.fromkeys(scope for each in report.tokens_by_scope.values() for scope in each))
    rows = [[name, *(each.get(scope, 0) for scope in scopes)] for name, each in report.tokens_by_scope.items()]
    show_rows("Tokens by scope", ("sample", *scopes), rows, numbers=scopes)
    columns = ("first", "second", "shared", "cached", "of", "share", "why")
    shown = [
        [
            *(each[key] for key in ("first", "second", "shared_tokens", "cached_tokens", "total_tokens")),
            None if each["share"] is None else f"{each['share']:.0%}",
            each["why"],
        ]
        for each in predictions
    ]
    show_rows("Read from the cache by the second request", columns, shown, numbers=columns[2:6])
