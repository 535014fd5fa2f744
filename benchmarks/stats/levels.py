"""How often a candidate that is worse by exactly the margin passes: at most 5 % of the time, or as documented."""

from collections.abc import Callable, Iterable
from itertools import product
from math import comb, sqrt

import numpy as np

from beleg.evals import stats
from benchmarks.stats import worlds

ALPHA = 0.05
Draw = Callable[[np.random.Generator], bool]
Row = tuple[object, ...]


def measure(*, quick: bool, say: Callable[[str], None]) -> list[Row]:
    """Rows about error rates; the largest of several worlds counts."""
    say("stats: error rates")
    fewer = 10 if quick else 1
    return [
        _exact(),
        _coverage(20 if quick else 50),
        _row("bounded mean bound", ALPHA, _bounded(), 900 // fewer),
        _row("bound of scores by rule (t where allowed)", 0.061, _by_rule(), 1200 // fewer),
        _row("counts in families, reduced by the design effect", 0.063, _cluster_counts(), 700 // fewer),
        _row("scores in families by rule", 0.067, _cluster_scores(), 500 // fewer),
        _row("geometric mean ratio, n 20 to 200", 0.064, _ratios(), 3000 // fewer),
        _row("e-value, a look after each of 400 cases", ALPHA, _looks(), 400 // fewer),
    ]


def _exact() -> Row:
    sizes, margins = (20, 50, 59, 100, 200, 500), (0.02, 0.05, 0.1)
    found = {
        (n, m, psi): stats.exact_power(n, m, psi, -m, ALPHA)
        for n, m in product(sizes, margins)
        for psi in np.linspace(m, 0.9, 60).tolist()
    }
    (n, m, psi), worst = max(found.items(), key=lambda each: each[1])
    note = f"n {n}, margin {m}, discordance {psi:.3f}; all tables of {len(sizes) * len(margins)} designs, no chance"
    return _percent("false passes: exact test of counts", "level 5 %", (ALPHA, ALPHA, worst), note)


def _coverage(n: int) -> Row:
    """The share of tables whose interval misses the truth, summed exactly over all but 1e-5 of them."""
    missed: dict[tuple[float, float], float] = {}
    for delta, psi in product((0.0, -0.02, -0.05), (0.05, 0.1, 0.2)):
        p_b, p_c = (psi - delta) / 2, (psi + delta) / 2
        total = seen = 0.0
        for b, c in product(range(n + 1), repeat=2):
            if b + c > n:
                continue
            chance = comb(n, b) * comb(n - b, c) * p_b**b * p_c**c * (1 - psi) ** (n - b - c)
            if chance > 1e-8:
                found = stats.exact_interval(b, c, n, 0.025)
                seen += chance
                total += 0.0 if found.lower - 1e-7 <= delta <= found.upper + 1e-7 else chance
        missed[delta, psi] = total + 1 - seen
    (delta, psi), worst = max(missed.items(), key=lambda each: each[1])
    note = f"n {n}, difference {delta}, discordance {psi}; all tables of {len(missed)} designs, no chance"
    return _percent("misses of the exact two-sided 95 % interval", "level 5 %", (0.05, 0.05, worst), note)


def _row(what: str, limit: float, draws: Iterable[tuple[str, Draw]], rounds: int) -> Row:
    shares: dict[str, float] = {}
    for name, draw in draws:
        rng = np.random.default_rng(20_261_130)
        shares[name] = sum(draw(rng) for _ in range(rounds)) / rounds
    worst = max(shares, key=lambda name: shares[name])
    error = sqrt(limit * (1 - limit) / rounds)
    note = f"{worst}; {rounds:,} rounds in each of {len(shares)} worlds, standard error {100 * error:.1f} points"
    against = f"{100 * limit:g} % and three standard errors"
    return _percent(f"false passes: {what}", against, (limit + 3 * error, limit, shares[worst]), note)


def _percent(what: str, against: str, shares: tuple[float, float, float], note: str) -> Row:
    at_most, aim, measured = (round(100 * each, 2) for each in shares)
    return what, against, at_most, aim, "%", measured, note


def _bounded() -> Iterable[tuple[str, Draw]]:
    for (name, world), n in product(worlds.SCORES.items(), (50, 200)):
        if name != "smooth":
            yield (
                f"{name}, n {n}",
                lambda rng, world=world, n=n: (  # type: ignore[misc]
                    stats.bounded_p(world(rng, n), -worlds.MARGIN) <= ALPHA
                ),
            )


def _by_rule() -> Iterable[tuple[str, Draw]]:
    for (name, world), n in product(worlds.SCORES.items(), (60, 200, 500)):
        yield (
            f"{name}, n {n}",
            lambda rng, world=world, n=n: (  # type: ignore[misc]
                stats.lower_bound(world(rng, n)).p(-worlds.MARGIN) <= ALPHA
            ),
        )


def _cluster_counts() -> Iterable[tuple[str, Draw]]:
    for clusters, icc, equal in product((10, 20, 40), (0.0, 0.3, 0.6), (True, False)):

        def draw(rng: np.random.Generator, clusters: int = clusters, icc: float = icc, equal: bool = equal) -> bool:
            labels = worlds.families(rng, clusters, equal=equal)
            d = worlds.correlated(rng, worlds.outcomes, labels, icc)
            return stats.cluster_binary_exact(d, labels, worlds.MARGIN).p <= ALPHA

        yield f"{clusters} families, correlation {icc}, {'equal' if equal else 'unequal'} sizes", draw


def _cluster_scores() -> Iterable[tuple[str, Draw]]:
    for world, clusters, icc, equal in product((worlds.ties, worlds.rare), (20, 80), (0.2, 0.5), (True, False)):

        def draw(
            rng: np.random.Generator,
            world: worlds.World = world,
            clusters: int = clusters,
            icc: float = icc,
            equal: bool = equal,
        ) -> bool:
            labels = worlds.families(rng, clusters, equal=equal)
            d = worlds.correlated(rng, world, labels, icc)
            return stats.cluster_lower_bound(d, labels).p(-worlds.MARGIN) <= ALPHA

        sizes = "equal" if equal else "unequal"
        yield f"{world.__name__}, {clusters} families, correlation {icc}, {sizes} sizes", draw


def _ratios() -> Iterable[tuple[str, Draw]]:
    for n, sigma in product((20, 50, 100, 200), (0.5, 1.5)):
        yield (
            f"n {n}, sigma {sigma}",
            lambda rng, n=n, sigma=sigma: (  # type: ignore[misc]
                stats.assess_ratio(*worlds.costs(rng, n, sigma, 1.1)).p_non_inferior <= ALPHA
            ),
        )


def _looks() -> Iterable[tuple[str, Draw]]:
    for discordance in (0.05, 0.1, 0.2):

        def draw(rng: np.random.Generator, discordance: float = discordance) -> bool:
            d = worlds.outcomes(rng, 400, discordance)
            b, c = (d < 0).cumsum().tolist(), (d > 0).cumsum().tolist()
            looks = (stats.log_e_ni(*table, worlds.MARGIN) for table in zip(b, c, range(1, 401), strict=True))
            return any(stats.always_valid_p(log_e) <= ALPHA for log_e in looks)

        yield f"discordance {discordance}", draw
