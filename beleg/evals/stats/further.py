"""What to say, and what to plan, where nothing was shown either way."""

from dataclasses import dataclass
from math import ceil

from beleg.evals.stats.binary import exact_interval
from beleg.evals.stats.guard import counts
from beleg.evals.stats.power import cases_needed, normal_cases, pass_floor


@dataclass(frozen=True, slots=True)
class FurtherCases:
    """What would settle an inconclusive comparison, rounded up to tens."""

    discordance: float
    """(b + c + 1) / (n + 2)."""
    total_if_equal: int
    """Cases in total for the asked power if both sides were truly equal."""
    more_if_equal: int
    total_if_as_observed: int | None
    """The same if the observed difference were the true one; None: no number of cases leads to a pass."""
    power: float


def further_cases(
    b: int, c: int, n: int, margin: float, alpha: float = 0.05, *, power: float = 0.8, design_effect: float = 1.0
) -> FurtherCases:
    """Cases in total and beyond the n at hand, under two truths: both sides equal, and as observed."""
    b, c, n = counts(b, c, n)
    psi, observed = (b + c + 1) / (n + 2), (c - b) / n
    equal = _tens(cases_needed(margin, psi, power=power, alpha=alpha, design_effect=design_effect).cases)
    # The shrunken discordance may lie below an observed difference of nearly all cases.
    seen = normal_cases(margin, max(psi, abs(observed)), observed, power, alpha)
    as_seen = None if seen is None else _tens(ceil(max(seen, pass_floor(margin, alpha)) * design_effect))
    return FurtherCases(psi, equal, _tens(max(equal - n, 0)), as_seen, power)


def _tens(cases: int) -> int:
    return -(-cases // 10) * 10


def inconclusive_sentence(
    b: int, c: int, n: int, margin: float, alpha: float = 0.05, *, power: float = 0.8, design_effect: float = 1.0
) -> str:
    """What to tell where neither a loss nor its absence was shown; never "almost significant", no post-hoc power."""
    b, c, n = counts(b, c, n)
    plan = further_cases(b, c, n, margin, alpha, power=power, design_effect=design_effect)
    points = -100 * exact_interval(b, c, n, alpha).lower
    chance = f"{power:.0%} chance of a pass".replace("%", " %")
    equal = (
        "If candidate and baseline were truly equal and cases keep differing at the present rate "
        f"({100 * plan.discordance:.1f} %), about {plan.total_if_equal} cases in total ({plan.more_if_equal} more of "
        f"the same kind) would give an {chance}. This is a planning number, not a promise"
        if plan.more_if_equal
        else f"If candidate and baseline were truly equal, the {n} cases at hand already gave an {chance}"
    )
    seen = (
        "If the observed difference is the true one, no number of cases leads to a pass."
        if plan.total_if_as_observed is None
        else f"If the observed difference is the true one, about {plan.total_if_as_observed} cases in total would."
    )
    return (
        f"Not shown either way. With {n} cases ({b} worse, {c} better) the candidate may be up to {points:.1f} points "
        f"worse. {equal}; adding cases to this set and testing again is a second look and is counted as one. {seen}"
    )
