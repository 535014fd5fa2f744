"""`beleg gate`: may this version ship? For CI, and for whoever decides."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beleg.cli.contract import place
from beleg.cli.contract.place import FeatureName
from beleg.cli.ingest import progress_bar
from beleg.cli.options import MOST, Json
from beleg.cli.output import console, print_json, show_rows
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.evals.gate import Outcome, Report

EXIT = {"pass": 0, "fail": 1, "inconclusive": 3}
COLUMNS = ("criterion", "verdict", "cases", "estimate", "threshold", "against baseline", "margin", "worse", "better")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("gate")(gate)


def gate(
    feature: FeatureName,
    *,
    candidate: Annotated[str, typer.Option(help="`draft`, or a released version.")] = "draft",
    baseline: Annotated[str, typer.Option(help="A released version, `active` or `none`.")] = "active",
    repeat: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="Planned answers per case and version; default: the suite's.")
    ] = None,
    hidden: Annotated[
        Path | None, typer.Option(help="Folder with a set of cases kept outside the project, by the risk owner.")
    ] = None,
    summary: Annotated[Path | None, typer.Option(help="Write Markdown for a pull request there; appends.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML there.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the HTML report there.")] = None,
    lang: Annotated[str, typer.Option(help="Language of the HTML report: en or de.")] = "en",
    json: Json = False,
) -> None:
    """Judge a draft by the results of its evaluation, and write the evidence that publishing asks for.

    Exit codes: 0 pass, 1 fail (or stale and doubled cases), 3 inconclusive, 2 usage, 4 damaged. Publishes nothing.

    Example: beleg gate receipt-extraction --summary gate.md --junit gate.xml --report gate.html
    """
    from beleg import flow
    from beleg.evals import gate as gates

    settings = Settings.load()
    with progress_bar(show=not json) as show:
        flow.ingest(settings, on_progress=show)
    found = gates.gate(
        settings, place.registry(), feature, candidate=candidate, baseline=baseline, repeat=repeat, hidden=hidden
    )
    gates.tabulate(settings)
    flow.publish(settings)
    _write(found, settings, lang, summary=summary, junit=junit, report=report)
    if json:
        print_json({"schema_version": 1, "evidence_file": found.evidence, "evidence": gates.evidence(found.report)})
    else:
        _tell(found)
    raise typer.Exit(EXIT[found.report.verdict])


def _write(found: "Outcome", settings: Settings, lang: str, **places: Path | None) -> None:
    from beleg.core.files import replace_text
    from beleg.evals.gate.junit import junit
    from beleg.evals.gate.markdown import summary
    from beleg.report.gate import gate_page

    # A CI job's summary is one file that all its steps add to, and that must stay the same file.
    if (path := places["summary"]) is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(summary(found.report))
    if (path := places["junit"]) is not None:
        replace_text(path, junit(found.report))
    if (path := places["report"]) is not None:
        replace_text(path, gate_page(found, settings, lang=lang))


def _tell(found: "Outcome") -> None:
    report = found.report
    show_rows(
        f"{report.plan.feature}: {report.verdict}",
        COLUMNS,
        [_row(each) for each in report.criteria],
        numbers=COLUMNS[2:],
    )
    for sentence in _why(report):
        console().print(f"- {sentence}", soft_wrap=True)
    console().print(f"Evidence: {found.evidence}", soft_wrap=True)


def _row(each: Any) -> list[Any]:
    level, compared = each.threshold, each.comparison
    assessed = None if compared is None else compared.assessed
    difference = None if assessed is None else f"{assessed.estimate:.4g}"
    return [
        each.criterion.name,
        each.verdict,
        len(each.paired.pairs),
        f"{level.level.estimate:.4g}",
        f"{level.threshold:.4g}",
        difference,
        None if compared is None else f"{each.criterion.margin:.4g}",
        None if compared is None else compared.worse,
        None if compared is None else compared.better,
    ]


def _why(report: "Report") -> list[str]:
    told = [each.sentence for each in report.reasons]
    return told + [f"{each.criterion.name}: {why.sentence}" for each in report.criteria for why in each.reasons]
