"""`beleg ingest` and `beleg run`: take events in, bring the figures up to them."""

from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, Task, TaskID, TextColumn, TimeElapsedColumn, TransferSpeedColumn
from rich.text import Text

from beleg.cli.options import MOST, Json
from beleg.cli.output import console, print_json
from beleg.core.errors import CheckFailed, UsageError
from beleg.core.progress import OnProgress
from beleg.core.settings import Settings

if TYPE_CHECKING:
    from beleg.ask.sessions import Sessions
    from beleg.flow import Report

MaxQuarantined = Annotated[
    float, typer.Option("--max-quarantined", min=0, max=1, help="Share of refused lines past which the command fails.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("ingest")(ingest)
    app.command("run")(run)


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Files, folders or addresses (s3://bucket/events); gzip and zstd are recognised by content."
        ),
    ],
    *,
    mapping: Annotated[
        Path | None, typer.Option("--mapping", "-m", help="YAML that turns a CSV, JSONL or Parquet table into events.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", "-f", help="Format of the files; by content where it is not given.")
    ] = None,
    max_quarantined: MaxQuarantined = 0.05,
    explain: Annotated[
        bool, typer.Option("--explain", help="Store nothing; show what the naming rules make of each foreign trace.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="Traces that --explain shows.")] = 20,
    json: Json = False,
) -> None:
    """Take events from files and publish the figures; the same file twice changes nothing.

    Example: beleg ingest calls.csv --mapping calls.yaml
    """
    if explain:
        from beleg.cli.explained import show

        if mapping is not None:
            raise UsageError("--explain and --mapping exclude each other: a mapping names the runs of its table itself")
        show(paths, form, limit, json=json)
        return
    _run(paths, max_quarantined, mapping=mapping, form=form, json=json, spool=False)


def run(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files, folders or addresses to take beside the spool.")
    ] = None,
    max_quarantined: MaxQuarantined = 0.05,
    report: Annotated[bool, typer.Option("--report", help="Write reports/report.html as well.")] = False,
    json: Json = False,
) -> None:
    """Take what is new in the spool, bring all figures up to it, publish: the whole pipeline once.

    Example: beleg run --report
    """
    _run(paths or [], max_quarantined, json=json, spool=True, page=report)


def _run(
    paths: list[str],
    max_quarantined: float,
    *,
    mapping: Path | None = None,
    form: str | None = None,
    json: bool,
    spool: bool,
    page: bool = False,
) -> None:
    from dataclasses import asdict

    from beleg import flow
    from beleg.cli.report import make
    from beleg.cli.sessions import show as show_sessions
    from beleg.ingest.inbox import local_paths
    from beleg.ingest.quarantine import Share

    if mapping is not None and form is not None:
        raise UsageError("--mapping and --format exclude each other: a mapping says itself how its table is read")
    if mapping is not None and not mapping.is_file():
        msg = f"mapping {str(mapping)!r} is no file; docs/mapping.md shows how to write one"
        raise UsageError(msg)
    with progress_bar(show=not json) as show:
        settings = Settings.load()
        try:
            taken_from = local_paths(settings, paths)
            report = flow.run(settings, taken_from, mapping=mapping, form=form, spool=spool, on_progress=show)
        except CheckFailed:
            from beleg.report.checks import render_checks

            render_checks(settings)
            raise
    made = make(settings) if page else None
    taken = report.ingest
    sessions = _sessions(settings, taken.formats)
    if json:
        counts = asdict(taken) | {"publication": report.publication.number, "touched_days": report.touched_days}
        counts["lost"] = dict(report.lost)
        counts["report"] = made
        if sessions is not None:
            counts["sessions"] = sessions.record()
        print_json(counts)
    else:
        _tell(report)
        if sessions is not None:
            show_sessions(sessions)
        if made is not None:
            console().print(f"{made}", soft_wrap=True)
    Share(most=max_quarantined).check(taken.accepted, taken.quarantined)


def _sessions(settings: Settings, formats: Collection[str]) -> "Sessions | None":
    """What sessions of coding agents cost, where some of their logs were just read."""
    if not formats:
        return None
    from beleg.ask.sessions import sessions
    from beleg.ingest.readers.agents import AGENTS

    agents = AGENTS & set(formats)
    return sessions(settings, agents) if agents else None


def _tell(report: "Report") -> None:
    taken = report.ingest
    out = console()
    out.print(
        f"read {taken.read:,} lines of {taken.files:,} files: {taken.accepted:,} accepted "
        f"({taken.duplicates:,} duplicates, {taken.superseded:,} superseded), "
        f"{taken.quarantined:,} quarantined, {taken.pending:,} pending"
    )
    if taken.ignored:
        out.print(f"{taken.ignored:,} items tell nothing of a run and were passed over")
    for name, count in taken.unmapped.items():
        out.print(f"{count:,} traces of {name} follow no naming rule: `beleg ingest --explain`, docs/naming.md")
    if taken.skipped:
        out.print(f"{taken.skipped:,} files were renamed or replaced meanwhile: run it again to read them")
    for reason, count in taken.quarantined_by_reason.items():
        out.print(f"  quarantined {count:,}: {reason}")
    days = report.touched_days
    span = f" ({days[0]} to {days[-1]})" if days else ""
    out.print(f"publication {report.publication.number}: {len(days):,} days computed{span}")
    for why, count in report.lost.items():
        out.print(f"lost at the source {count:,}: {why}")
    if taken.quarantined:
        out.print("`beleg quarantine list` tells more; `beleg quarantine retry` tries again once they are mended")


@contextmanager
def progress_bar(*, show: bool) -> Generator[OnProgress]:
    """A progress bar on standard error while a terminal reads it; yields the function to call."""
    err = console(stderr=True)
    columns = (
        TextColumn("{task.description:>14}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        _Rate(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not show or not err.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def step(what: str, done: int, total: int, detail: str = "") -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total, detail=detail)
            bar.update(tasks[what], completed=done, total=total, detail=detail)

        yield step


class _Rate(TransferSpeedColumn):
    """Bytes a second, for the one stage that counts bytes."""

    def render(self, task: Task) -> Text:
        return super().render(task) if task.description == "reading" else Text("")
