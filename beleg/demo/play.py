"""The whole demo: make the files, run the pipeline over them, check the answers, render the report."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from beleg import flow
from beleg.core.progress import OnProgress
from beleg.core.settings import Settings
from beleg.cost import figures
from beleg.cost.figures import CostLine, Period
from beleg.demo import learning
from beleg.demo.check import Check, check_gate, checks
from beleg.demo.generate import as_of, write_demo
from beleg.demo.home import NOTICE, make_home
from beleg.demo.reader import serving
from beleg.demo.tally import DemoSummary
from beleg.lake import catalog
from beleg.report.figures import ask, scope_of
from beleg.report.render import render

WEEKS = 5


@dataclass(frozen=True)
class Played:
    """What a demo showed."""

    settings: Settings
    summary: DemoSummary
    flow: flow.Report
    checks: tuple[Check, ...]
    unit_costs: tuple[CostLine, ...]
    flags: tuple[Mapping[str, Any], ...]
    """By kind and workflow, with the worst case of each."""
    reconciliation: tuple[Mapping[str, Any], ...]
    """By provider and model, amounts in pico-USD."""
    gate: learning.Gate
    report: Path


Learning = Callable[[Settings, datetime, OnProgress], None]
"""Takes what people corrected to a gate report, as of an instant."""
Pipeline = Callable[[Settings, datetime, OnProgress], flow.Report]
"""Takes a demo's events to a publication, as of an instant."""


def in_order(settings: Settings, now: datetime, on_progress: OnProgress) -> flow.Report:
    """The stages one after another in this process, as `beleg run` does it."""
    return flow.run(settings, as_of=now, on_progress=on_progress)


def play(
    home: Path,
    *,
    runs: int,
    seed: int,
    on_progress: OnProgress,
    pipeline: Pipeline = in_order,
    learn: Learning = learning.in_order,
) -> Played:
    """Make the demo in a home of its own, replacing an earlier one.

    Raises UsageError for a folder that is no demo's and for less than one run.
    """
    settings = make_home(home)
    summary = write_demo(settings.spool, runs=runs, seed=seed, weeks=WEEKS, on_progress=on_progress)
    done = pipeline(settings, as_of(WEEKS), on_progress)
    with catalog.connect(settings) as con:  # before the evaluation adds runs of its own
        known = tuple(checks(summary, done.ingest, con))
    learning.verify_receipts(settings, as_of(WEEKS))
    with serving(), learning.demo_time(as_of(WEEKS)):
        learn(settings, as_of(WEEKS), on_progress)
    gate = learning.gate_of(settings)
    report = render(settings, settings.home / "reports" / "report.html", notice=NOTICE)
    with catalog.connect(settings) as con:
        scope = scope_of(con, settings.timezone, None, None)
        return Played(
            settings=settings,
            summary=summary,
            flow=done,
            checks=(*known, check_gate(gate)),
            unit_costs=tuple(figures.costs(con, ["workflow"], Period())),
            flags=ask(con, "flags", scope).rows,
            reconciliation=ask(con, "reconciliation", scope).rows,
            gate=gate,
            report=report,
        )
