"""How prompt versions fared, side by side. Observational: versions met different inputs at different times."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beleg.ask.desk import desk
from beleg.ask.rates import Rate
from beleg.core.errors import CheckFailed
from beleg.core.settings import Settings
from beleg.cost.figures import Period
from beleg.cost.money import divide_half_even, exact_usd_text, known_cost, usd_text

REASONS = ("extraction_error", "mapping_bug", "unsupported_case", "user_preference")
CAVEAT = (
    "Observational, not a test: versions meet different inputs at different times. A gate over frozen cases would tell."
)


@dataclass(frozen=True)
class Version:
    """One prompt version of a workflow over a period; `counts` are the sums of `prompt_versions`."""

    counts: Mapping[str, Any]

    @property
    def rates(self) -> dict[str, Rate]:
        """Name → rate. Dislikes are of judged runs, failures of ended ones, corrections of all runs."""
        c = self.counts
        return {
            "failed": Rate(c["failed_runs"], c["ended_runs"]),
            "disliked": Rate(c["disliked_runs"], c["judged_runs"]),
            "corrected": Rate(c["corrected_runs"], c["runs"]),
            **{reason: Rate(c[f"{reason}_runs"], c["runs"]) for reason in REASONS},
        }

    @property
    def unit_cost_usd(self) -> str | None:
        """Cost for `unit_per` results; None without results, and without runs, as for those that outcomes report."""
        c = self.counts
        cost = known_cost(int(c["cost_pico_usd"]), runs=c["runs"], steps=c["steps"], unpriced_steps=c["unpriced_steps"])
        if cost is None or c["unit_per"] is None or not c["results"]:
            return None
        micro = divide_half_even(cost * c["unit_per"], int(c["results"]) * 10**6)
        return usd_text(micro * 10**6)

    def record(self) -> dict[str, Any]:
        """For machines: money as decimal text, unknown as None."""
        c = self.counts
        plain = ("prompt_version", "first_day", "last_day", "runs", "judged_runs", "liked_runs", "steps")
        return {
            **{name: c[name] for name in plain},
            "rates": {name: rate.record() for name, rate in self.rates.items()},
            "cost_usd": usd_text(int(c["cost_pico_usd"])),
            "cost_exact_usd": exact_usd_text(int(c["cost_pico_usd"])),
            "unpriced_steps": c["unpriced_steps"],
            "results": int(c["results"]),
            "unit": c["unit"],
            "unit_per": c["unit_per"],
            "unit_cost_usd": self.unit_cost_usd,
            "p95_latency_ms": None if c["p95_latency_ms"] is None else int(c["p95_latency_ms"]),
        }


def versions(settings: Settings, workflow: str, period: Period, *, purpose: str = "production") -> list[Version]:
    """Versions of a workflow, the latest in use first; raises CheckFailed where it had no runs."""
    with desk(settings) as at:
        at.lay({"prompt_versions": None, "run_costs": None})
        asked = {**period.parameters, "workflow": workflow, "purpose": purpose, "timezone": settings.timezone}
        found = at.ask("versions", **asked)
    if not found:
        msg = (
            f"no {purpose} runs of workflow {workflow!r} in that time: "
            "`beleg costs` lists the workflows, --from, --to and --purpose choose others"
        )
        raise CheckFailed(msg)
    return [Version(row) for row in found]
