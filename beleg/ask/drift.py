"""Whether inputs changed under their keys, and whether the same question still gets the same answer."""

from typing import NamedTuple

from beleg.ask.desk import Desk, Record, desk
from beleg.core.errors import CheckFailed
from beleg.core.settings import Settings
from beleg.cost.figures import Period


class Drift(NamedTuple):
    """What was compared in a period, and the runs that differ."""

    summary: list[Record]
    """Per workflow and purpose: runs compared, re-triggered, changed, and when first and last."""
    runs: list[Record]
    """Runs that differ from the earlier one, newest first."""


def drift(
    settings: Settings, period: Period, *, workflow: str | None = None, key: str | None = None, limit: int = 20
) -> Drift:
    """Compare the runs of a period with the last ones before them; raises CheckFailed for a workflow without runs."""
    asked = {**period.parameters, "workflow": workflow, "input_key": key}
    with desk(settings) as at:
        months = [m for m in at.lake.partitions("drift") if f"{period.first}" <= f"{m}-31" and m <= f"{period.last}"]
        at.lay({"drift": months})
        found = Drift(at.ask("drift_summary", **asked), at.ask("drift_runs", limit=limit, **asked))
        if workflow is not None and not found.summary:
            _demand_runs(at, workflow, period)
        return found


def _demand_runs(at: Desk, workflow: str, period: Period) -> None:
    """Nothing to compare is an answer; a workflow without any run is a question about nothing."""
    at.lay({"unit_costs": None})
    if not at.ask("has_runs", workflow=workflow, **period.parameters):
        msg = (
            f"no runs of workflow {workflow!r} in that time: `beleg costs` lists the workflows, --from and --to choose "
            "other days"
        )
        raise CheckFailed(msg)
