"""How many cases a verdict needs, and how likely a number of cases is to give one."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log, log1p, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from beleg.evals.stats.binary import EXACT_UP_TO, exact_ni
from beleg.evals.stats.guard import Floats, StatisticsError, alpha_of, margin_of, share, whole
from beleg.evals.stats.trinomial import probability, region, worst

Z_STEP = 1e-5
"""How near to the critical score a rejection region ends, on the safe side."""


@dataclass(frozen=True, slots=True)
class CasesNeeded:
    """A planning number, no promise."""

    cases: int
    method: str
    """`exact power`, or `normal approximation` where exact would need more than 2000 cases."""


def exact_power(n: int, margin: float, discordance: float, true_delta: float = 0.0, alpha: float = 0.05) -> float:
    """Probability that `exact_ni` gives p <= alpha, with p_b + p_c = discordance and p_c - p_b = true_delta.

    At true_delta = -margin this is the type I error. Exact up to 2000 cases (sum of the trinomial over the rejection
    region); above, StatisticsError.
    """
    n = whole("n (cases)", n, least=1)
    if n > EXACT_UP_TO:
        msg = f"n is {n}: exact power is for up to {EXACT_UP_TO} cases; `cases_needed` falls back to a formula"
        raise StatisticsError(msg)
    p_b, p_c = _rates(discordance, true_delta)
    least = _rejection(n, -margin_of(margin), alpha_of(alpha))
    return float(probability(least, np.array([p_b]), np.array([p_c]))[0])


def _rates(discordance: float, true_delta: float) -> tuple[float, float]:
    p_b, p_c = (discordance - true_delta) / 2, (discordance + true_delta) / 2
    if not (p_b >= 0 and p_c >= 0 and 0 <= discordance <= 1):
        msg = f"discordance {discordance} and difference {true_delta} do not fit: |difference| <= discordance <= 1"
        raise StatisticsError(msg)
    return p_b, p_c


@lru_cache(maxsize=1024)
def _rejection(n: int, null: float, alpha: float) -> Floats:
    """The largest region by score whose worst probability is at most alpha."""

    def surplus(score: float) -> float:
        return log(max(worst(region(n, score, null), null), 1e-300) / alpha)

    low, high = 0.0, 3.0
    while surplus(low) <= 0:
        low = 2 * low - 1
    while surplus(high) > 0:
        high *= 2
    critical = float(brentq(surplus, low, high, xtol=Z_STEP))
    while surplus(critical) > 0:
        critical += Z_STEP
    found = region(n, critical, null)
    found.flags.writeable = False
    return found


def pass_floor(margin: float, alpha: float = 0.05) -> int:
    """Fewest cases for a pass when no case differs: 29 for a margin of 0.1, 59 for 0.05, 149 for 0.02, 299 for 0.01.

    (1 - margin)^n <= alpha is necessary, and for these margins enough.
    """
    n = ceil(log(alpha_of(alpha)) / log1p(-share("margin", margin)) - 1e-12)
    while exact_ni(0, 0, n, margin).p > alpha:
        n += 1
    return n


def normal_cases(
    margin: float, discordance: float, true_delta: float = 0.0, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """(z_alpha + z_power)^2 (psi - delta^2) / (delta + m)^2; None if delta <= -m, where no number of cases suffices.

    Too small where few pairs differ. Source: Connor 1987, Miettinen 1968.
    """
    _rates(discordance, true_delta)
    if true_delta <= -margin_of(margin):
        return None
    z = float(ndtri(1 - alpha_of(alpha)) + ndtri(share("power", power)))
    return max(1, ceil(z**2 * (discordance - true_delta**2) / (true_delta + margin) ** 2))


@lru_cache(maxsize=1024)
def cases_needed(
    margin: float,
    discordance: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    design_effect: float = 1.0,
) -> CasesNeeded:
    """Cases for a pass with the asked power when both sides are equal, times the design effect of clusters.

    Exact power is saw-toothed: it is asked for at n + 3 too, and found by bisection from the normal formula.
    """
    effect = share("design_effect", design_effect, above=1 - 1e-12, below=float("inf"))
    floor, target = pass_floor(margin, alpha), share("power", power)
    guess = max(floor, normal_cases(margin, discordance, 0.0, target, alpha) or 1)

    def enough(n: int) -> bool:
        return all(exact_power(each, margin, discordance, 0.0, alpha) >= target for each in (n, n + 3))

    low, high = floor - 1, guess
    while high + 3 <= EXACT_UP_TO and not enough(high):
        low, high = high, high + max(5, high // 8)
    if high + 3 > EXACT_UP_TO:
        return CasesNeeded(ceil(guess * effect), "normal approximation")
    # Power is saw-toothed: half a per cent of n is as near as planning gets.
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return CasesNeeded(ceil(high * effect), "exact power")


def minimal_detectable_difference(n: int, discordance: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Smallest difference shown as superior with the asked power, about 2.486 sqrt(psi / n) at 0.8 and 0.05."""
    z = float(ndtri(1 - alpha_of(alpha)) + ndtri(share("power", power)))
    return z * sqrt(share("discordance", discordance) / whole("n (cases)", n, least=1))
