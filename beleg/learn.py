"""The stages from corrections to a gate report: freeze what people accepted, have drafts answer, judge them.

They go on where `flow` ends and, like its stages, find out by themselves what is left to do: a case that stands, an
answer that was given is not made again. None of them publishes a version; that is a person's to do.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from beleg import flow
from beleg.contract.registry.registry import Registry
from beleg.core.errors import UsageError
from beleg.core.files import replace_text
from beleg.core.progress import OnProgress, silent
from beleg.core.settings import Settings
from beleg.evals import gate as gates
from beleg.evals.cases.freeze import Frozen
from beleg.evals.cases.freeze import freeze as freeze_accepted
from beleg.evals.cases.table import tabulate
from beleg.evals.gate.table import tabulate as tabulate_verdicts
from beleg.evals.scoring.order import Order, Report
from beleg.evals.scoring.run import run
from beleg.report.gate import gate_page


@dataclass(frozen=True)
class Judged:
    """What the gate found out about a draft, and where a release owner can read it."""

    outcome: gates.Outcome
    page: Path


def features(settings: Settings) -> list[str]:
    """Features whose drafts can be scored: those with a suite, by name; raises UsageError without a project."""
    if settings.project is None:
        raise UsageError("no project here: go to a folder with contracts/ and evals/, or make one with: beleg init DIR")
    return sorted(path.stem for path in (settings.project / "evals" / "suites").glob("*.yaml"))


def freeze(settings: Settings) -> Frozen:
    """Freeze everything accepted that the lake knows into cases and datasets; the next publication shows them."""
    flow.build(settings, "bindings")
    made = freeze_accepted(settings)
    tabulate(settings)
    return made


def score(settings: Settings, registry: Registry, feature: str, *, on_progress: OnProgress = silent) -> Report:
    """Have a feature's draft and its active version answer what they have not answered yet.

    The results are in the lake afterwards. Raises as `beleg.evals.scoring.run.run` does.
    """
    report = run(settings, registry, Order(feature), on_progress=on_progress)
    flow.ingest(settings)
    return report


def judge(
    settings: Settings, registry: Registry, feature: str, *, lang: str = "en", now: datetime | None = None
) -> Judged:
    """Judge a feature's draft by the results in the lake; writes its evidence, and a page into the home's reports.

    The next publication shows analysts the scores and the finding.

    Raises as `beleg.evals.gate.gate` does.
    """
    outcome = gates.gate(settings, registry, feature, now=now)
    page = page_of(settings, feature)
    replace_text(page, gate_page(outcome, settings, lang=lang))
    tabulate_verdicts(settings)
    return Judged(outcome, page)


def page_of(settings: Settings, feature: str) -> Path:
    """Where the gate's page on a feature's draft lies."""
    return settings.home / "reports" / f"gate-{feature}.html"
