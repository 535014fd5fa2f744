"""Whether inputs changed under their keys, and whether the same question still gets the same answer."""

from typing import NamedTuple

from beleg.ask.desk import Record, desk
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
    """Compare the runs of a period with the last ones before them."""
    asked = {**period.parameters, "workflow": workflow, "input_key": key}
    with desk(settings) as at:
        months = [m for m in at.lake.partitions("drift") if f"{period.first}" <= f"{m}-31" and m <= f"{period.last}"]
        at.lay({"drift": months})
        return Drift(at.ask("drift_summary", **asked), at.ask("drift_runs", limit=limit, **asked))
