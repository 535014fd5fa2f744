"""How far token estimates of an agent's tools are off, by what its providers reported."""

from collections.abc import Mapping

from beleg.agent.calibration import Calibration
from beleg.ask.desk import desk
from beleg.contract.tokens import Estimate, family_of
from beleg.core.settings import Settings

DAYS = 90
"""Days of requests that are looked at, the newest published one last."""


def calibration(settings: Settings, toolsets: Mapping[str, int], family: str) -> Calibration:
    """The calibration of a family of models by the first request of each run, over the newest 90 days.

    `toolsets` gives the estimated tokens of each tool list by its `toolset_hash`. Only requests of these count, and
    only where the trace was written with the same estimates: those of another family, an exact count or an earlier
    release do not compare. Raises CannotCalibrate where too few are left, UsageError where nothing was published.
    """
    with desk(settings) as at:
        days = sorted(at.lake.partitions("step_costs"))[-DAYS:]
        at.lay({"step_costs": days, "toolsets": None, "layouts": None})
        rows = at.ask("first_requests")
    return Calibration.fit_part(
        (_estimate(row["tool_tokens"] + row["other_tokens"], family), row["input_tokens"])
        for row in rows
        if family_of(row["model"] or "") == family and toolsets.get(row["toolset_hash"]) == row["tool_tokens"]
    )


def _estimate(tokens: int, family: str) -> Estimate:
    return Estimate(tokens, tokens, tokens, f"estimate:{family}")
