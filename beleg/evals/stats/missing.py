"""Missing results, counted so that losing one never helps: the candidate failed, the baseline passed."""

from dataclasses import dataclass, replace

from beleg.evals.stats.binary import BinaryAssessment, assess_binary
from beleg.evals.stats.guard import StatisticsError, alpha_of, counts, whole
from beleg.evals.stats.mcnemar import mcnemar

MOST_MISSING = 0.05
"""Share of either side above which nothing is concluded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Planned cases by what came back: complete pairs, and what the other side did where one is missing."""

    b: int
    """Complete: baseline passed, candidate failed."""
    c: int
    """Complete: baseline failed, candidate passed."""
    n_complete: int
    missing_candidate_baseline_pass: int = 0
    missing_candidate_baseline_fail: int = 0
    missing_baseline_candidate_pass: int = 0
    missing_baseline_candidate_fail: int = 0
    missing_both: int = 0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            whole(name, getattr(self, name))
        if self.b + self.c > self.n_complete or not self.n_total:
            msg = f"{self} does not add up: b + c <= n_complete, and at least one planned case"
            raise StatisticsError(msg)

    @property
    def missing_candidate(self) -> int:
        """Planned cases without a candidate result."""
        return self.missing_candidate_baseline_pass + self.missing_candidate_baseline_fail + self.missing_both

    @property
    def missing_baseline(self) -> int:
        """Planned cases without a baseline result."""
        return self.missing_baseline_candidate_pass + self.missing_baseline_candidate_fail + self.missing_both

    @property
    def n_total(self) -> int:
        """All planned cases: the denominator."""
        return self.n_complete + self.missing_candidate + self.missing_baseline - self.missing_both

    @property
    def _losses(self) -> int:
        return self.missing_candidate_baseline_pass + self.missing_baseline_candidate_fail + self.missing_both

    @property
    def worst_case(self) -> tuple[int, int, int]:
        """b, c and n that the verdict uses."""
        return self.b + self._losses, self.c, self.n_total

    @property
    def delta_bounds(self) -> tuple[float, float]:
        """Lowest and highest difference that the missing results could have made. Source: Manski 1990."""
        gains = self.missing_candidate_baseline_fail + self.missing_baseline_candidate_pass + self.missing_both
        net = self.c - self.b
        return (net - self._losses) / self.n_total, (net + gains) / self.n_total


def missing_reasons(
    n_total: int, missing_baseline: int, missing_candidate: int, missing_both: int = 0
) -> tuple[str, ...]:
    """Reasons why so many, or so unevenly, missing results forbid a conclusion; empty if there are none.

    More than 5 % missing on either side; or one side misses more, by a one-sided exact McNemar test at 0.05. Also for
    scores, cost and latency, where missing ones were filled with the worst case.
    """
    n, both = whole("n_total", n_total, least=1), whole("missing_both", missing_both)
    only_base = whole("missing_baseline - missing_both", missing_baseline - both)
    only_cand = whole("missing_candidate - missing_both", missing_candidate - both)
    counts(only_cand + both, only_base, n)
    sides = (("baseline", missing_baseline), ("candidate", missing_candidate))
    found = [
        f"{missing} of {n} {side} results are missing, more than {MOST_MISSING:.0%}".replace("%", " %")
        for side, missing in sides
        if missing > MOST_MISSING * n
    ]
    uneven = mcnemar(only_cand, only_base)
    if min(uneven.p_superior, uneven.p_inferior) <= 0.05:
        found.append(f"sides miss unevenly: candidate {missing_candidate}, baseline {missing_baseline}")
    return tuple(found)


def assess_pairing(pairing: Pairing, margin: float, alpha: float = 0.05) -> BinaryAssessment:
    """Verdict on the worst case over all planned cases; inconclusive where missing results decide it.

    That is where `missing_reasons` has some, or the complete pairs alone would give another verdict.
    """
    worst = assess_binary(*pairing.worst_case, margin, alpha_of(alpha))
    blocks = list(
        missing_reasons(pairing.n_total, pairing.missing_baseline, pairing.missing_candidate, pairing.missing_both)
    )
    if pairing.n_complete and pairing.n_total > pairing.n_complete:
        complete = assess_binary(pairing.b, pairing.c, pairing.n_complete, margin, alpha)
        if complete.verdict != worst.verdict:
            blocks.append(f"missing results decide: {complete.verdict} without them, {worst.verdict} at worst")
    return replace(worst, blocks=tuple(blocks))
