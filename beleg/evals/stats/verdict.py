"""What every comparison ends in: two bounds, four p-values, one of three verdicts."""

from dataclasses import dataclass
from math import isnan
from typing import Literal

from beleg.evals.stats.guard import StatisticsError, alpha_of, probability

Verdict = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Interval:
    """Two one-sided bounds, each holding with probability 1 - alpha (so 1 - 2 alpha together)."""

    lower: float
    upper: float
    alpha: float
    """One-sided error of each end."""
    method: str

    def __post_init__(self) -> None:
        if isnan(self.lower) or isnan(self.upper) or self.lower > self.upper:
            msg = f"({self.lower}, {self.upper}) is no interval ({self.method}): the lower end comes first"
            raise StatisticsError(msg)

    @property
    def width(self) -> float:
        """Upper minus lower; zero means that the data show no variation, never certainty."""
        return self.upper - self.lower


def verdict(p_not_inferior: float, p_inferior_beyond_margin: float, alpha: float = 0.05) -> Verdict:
    """Pass, fail or inconclusive, from two opposite one-sided tests at the margin.

    `p_not_inferior` tests H0 "worse by the margin or more", `p_inferior_beyond_margin` tests H0 "not worse than the
    margin". Pass if the first is at most alpha, else fail if the second is, else inconclusive: shown neither way.
    Raises StatisticsError for NaN and for what is no probability.
    """
    level = alpha_of(alpha)
    better = probability("p_not_inferior", p_not_inferior)
    worse = probability("p_inferior_beyond_margin", p_inferior_beyond_margin)
    if better <= level:
        return "pass"
    return "fail" if worse <= level else "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """One criterion compared between baseline and candidate; higher is better unless the function says otherwise."""

    method: str
    """How the non-inferiority p-value was computed."""
    cases: int
    estimate: float
    """Candidate minus baseline (a ratio for cost and latency)."""
    interval: Interval
    """Describes; the verdict comes from the p-values."""
    margin: float
    alpha: float
    p_non_inferior: float
    """H0: worse by the margin or more."""
    p_worse_than_margin: float
    """H0: not worse than the margin."""
    p_superior: float
    """H0: not better at all."""
    p_inferior: float
    """H0: not worse at all."""
    blocks: tuple[str, ...] = ()
    """Reasons that forbid a verdict other than inconclusive."""
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Pass only if shown, with an interval of some width and no reason against it."""
        if self.blocks:
            return "inconclusive"
        found = verdict(self.p_non_inferior, self.p_worse_than_margin, self.alpha)
        return "inconclusive" if found == "pass" and not self.interval.width > 0 else found

    @property
    def regression_shown(self) -> bool:
        """Worse than the baseline at all; it can stand beside a pass. Over several criteria use Holm instead."""
        return self.p_inferior <= self.alpha
