"""Made-up comparisons whose truth is known: the candidate is worse by exactly the margin."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
World = Callable[[np.random.Generator, int], Floats]
MARGIN = 0.05


def outcomes(rng: np.random.Generator, n: int, discordance: float = 0.15) -> Floats:
    """-1, 0 or 1 for each independent case."""
    p_b, p_c = (discordance + MARGIN) / 2, (discordance - MARGIN) / 2
    return rng.choice([-1.0, 0.0, 1.0], n, p=[p_b, 1 - discordance, p_c])


def smooth(rng: np.random.Generator, n: int) -> Floats:
    """Differences of any size."""
    return rng.normal(-MARGIN, 0.15, n).clip(-1, 1)


def ties(rng: np.random.Generator, n: int) -> Floats:
    """Seven of ten cases agree."""
    return np.where(rng.random(n) < 0.7, 0.0, rng.normal(-MARGIN / 0.3, 0.25, n).clip(-1, 1))


def rare(rng: np.random.Generator, n: int) -> Floats:
    """Now and then everything is lost."""
    return -(rng.random(n) < MARGIN).astype(np.float64)


def mixed(rng: np.random.Generator, n: int) -> Floats:
    """Small gains hide rare total losses."""
    return np.where(rng.random(n) < 0.07 / 1.02, -1.0, 0.02)


def repeated(rng: np.random.Generator, n: int) -> Floats:
    """Means of five repetitions, passed or failed, that differ between cases."""
    rate = rng.beta(4, 1, n)
    return (rng.binomial(5, rate * (1 - MARGIN / 0.8)) - rng.binomial(5, rate)) / 5


SCORES = {each.__name__: each for each in (smooth, ties, rare, mixed, repeated)}


def families(rng: np.random.Generator, clusters: int, *, equal: bool) -> npt.NDArray[np.intp]:
    """Labels of cases in clusters of five, or of one to nine."""
    sizes = np.full(clusters, 5) if equal else rng.integers(1, 10, clusters)
    return np.repeat(np.arange(clusters), sizes)


def correlated(rng: np.random.Generator, world: World, labels: npt.NDArray[np.intp], icc: float) -> Floats:
    """Each case shares its family's draw with probability sqrt(icc), which makes icc the correlation of two."""
    common, alone = world(rng, int(labels.max()) + 1), world(rng, len(labels))
    return np.where(rng.random(len(labels)) < np.sqrt(icc), common[labels], alone)


def costs(rng: np.random.Generator, n: int, sigma: float, ratio: float) -> tuple[Floats, Floats]:
    """Lognormal costs, side noise, one case in fifty retried ten times on either side."""
    case = rng.normal(0, sigma, n)
    x, y = (np.exp(case + rng.normal(0, 0.3, n)) * np.where(rng.random(n) < 0.02, 10, 1) for _ in range(2))
    return x, ratio * y
