"""An explained run as one JSON document."""

from collections.abc import Mapping
from typing import Any

from beleg.ask.explain import Explained, Step
from beleg.cost.figures import shown
from beleg.cost.money import exact_usd_text

INTERNAL = frozenset({"abandon_at", "run_budget_pico_usd", "latency_ceiling_ms", "day"})


def record(explained: Explained) -> dict[str, Any]:
    """For machines: money as decimal text and, where it is computed with, as integer pico-USD; unknown as None."""
    run = {name: value for name, value in explained.run.items() if name not in INTERNAL}
    cost = int(run["cost_pico_usd"])
    exact = {"cost_pico_usd": cost, "cost_exact_usd": exact_usd_text(cost)}
    return {
        "schema_version": 1,
        "currency": "USD",
        "run": {**shown(run), **exact},
        "adds_up": explained.adds_up,
        "steps": [_step(step) for step in explained.steps],
        "artifacts": explained.artifacts,
        "feedback": explained.feedback,
        "corrections": explained.corrections,
        "same_input": [shown(row) for row in explained.same_input],
        "children": [shown(row) for row in explained.children],
    }


def _step(step: Step) -> dict[str, Any]:
    sums: Mapping[str, Any] = step.arithmetic._asdict()
    lines = [line._asdict() for line in step.arithmetic.lines]
    return {**shown(step.record), **sums, "lines": lines}
