"""Shares with how far they can be trusted."""

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


class Rate(NamedTuple):
    """Hits of a number of trials."""

    hits: int
    of: int

    @property
    def share(self) -> float | None:
        """Hits over trials; None without trials."""
        return None if self.of == 0 else self.hits / self.of

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson score interval at 95 %; None without trials.

        It never has zero width, unlike the textbook interval, whose 0 of 20 would be 0 % for certain.
        """
        if self.of == 0:
            return None
        n, p = self.of, self.hits / self.of
        scale = 1 + _Z**2 / n
        middle = (p + _Z**2 / (2 * n)) / scale
        reach = _Z * sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2)) / scale
        # Rounding must not push an end beyond what is possible, nor past the share itself.
        return max(0.0, min(middle - reach, p)), min(1.0, max(middle + reach, p))

    def record(self) -> dict[str, int | float | None]:
        """For machines: shares rounded to six places."""
        low, high = (None, None) if self.interval is None else self.interval
        ends = {"share": self.share, "low": low, "high": high}
        return {"count": self.hits, "of": self.of, **{k: None if v is None else round(v, 6) for k, v in ends.items()}}
