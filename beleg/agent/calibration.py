"""A token estimate made true to one family of models by what its providers reported."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from beleg.contract.tokens import FAMILIES, Estimate, estimate
from beleg.core.errors import UsageError

LEAST = 20
"""Requests below which a calibration would be chance."""
_CERTAIN = 2
"""Standard errors on each side of a slope."""
_AMONG_GROUPS = 0.09
"""How far the factor of a group of tools is off that of all: the 15 groups of the example in six tokenizers lie within
-9 % and +6 % in 95 % of the cases (splintr-rs 0.22.0, 2026-12-01)."""


class CannotCalibrate(UsageError):
    """The requests at hand do not tell how far the estimate is off; the estimate stays as it is."""


@dataclass(frozen=True)
class Calibration:
    """What a provider reported, as a multiple of the estimate."""

    factor: float
    low: float
    high: float
    samples: int
    tokenizer: str

    @classmethod
    def fit(cls, pairs: Iterable[tuple[Estimate, int]]) -> Self:
        """From estimates of whole requests and the input tokens their usage reported.

        The band is that of 95 % of the samples. Raises CannotCalibrate for fewer than 20, for an estimate or a
        report of nothing, and for estimates of different families.
        """
        seen = list(pairs)
        name = _tokenizer(seen)
        ratios = sorted(reported / each.tokens for each, reported in seen)
        cut = len(ratios) // 40
        factor = sum(reported for _, reported in seen) / sum(each.tokens for each, _ in seen)
        return cls(factor, ratios[cut], ratios[-1 - cut], len(seen), name)

    @classmethod
    def fit_part(cls, pairs: Iterable[tuple[Estimate, int]]) -> Self:
        """From estimates of a part of each request, such as its tools, and the input tokens of the whole.

        The factor is the slope of a straight line: by how much the whole grows where the part grows by a token.
        What else a request holds falls out of it as far as it does not go along with the part. The band is that
        of the slope (two standard errors, whatever the spread) and, on top, of groups of tools among themselves:
        the slope is that of the groups by which requests differ, and is applied to all. Raises
        CannotCalibrate as `fit` does, and where the parts are all of one size, the rest varies too much, or the
        slope lies outside of what the family can be.
        """
        seen = list(pairs)
        name = _tokenizer(seen)
        sizes, wholes = [each.tokens for each, _ in seen], [reported for _, reported in seen]
        if len(set(sizes)) < 2:
            raise CannotCalibrate("all requests were offered as much; two tool lists of different size are needed")
        slope, error = _slope(sizes, wholes)
        low, high = slope - _CERTAIN * error, slope + _CERTAIN * error
        if not 0 < slope / 2 < low or not _is_plausible(low, high, name):
            told = f"{slope:.2f} ± {_CERTAIN * error:.2f}"
            raise CannotCalibrate(f"{len(seen)} requests tell a factor of {told}, no better than a guess: trace more")
        return cls(slope, low * (1 - _AMONG_GROUPS), high * (1 + _AMONG_GROUPS), len(seen), name)

    def by(self, text: str, family: str) -> Estimate:
        """The calibrated estimate of a text: a `Counter`."""
        return self.apply(estimate(text, family))

    def apply(self, given: Estimate) -> Estimate:
        """The estimate as this model's usage would report it; an exact count stays as it is."""
        if given.exact:
            return given
        tokens = given.tokens
        name = f"{given.tokenizer}, calibrated by {self.samples}"
        return Estimate(round(tokens * self.factor), int(tokens * self.low), -int(-tokens * self.high // 1), name)


def _is_plausible(low: float, high: float, tokenizer: str) -> bool:
    """Whether the slope meets the band of its family; one far beyond it comes of something else."""
    family = FAMILIES[tokenizer.removeprefix("estimate:")]
    return low <= family.high and family.low <= high


def _tokenizer(seen: Sequence[tuple[Estimate, int]]) -> str:
    if len(seen) < LEAST:
        raise CannotCalibrate(f"{len(seen)} requests are too few to calibrate by; {LEAST} are needed")
    names = {each.tokenizer for each, _ in seen}
    if len(names) > 1 or any(each.tokens <= 0 or reported <= 0 for each, reported in seen):
        raise CannotCalibrate(f"every sample needs tokens on both sides, of one family; given are {sorted(names)}")
    return names.pop()


def _slope(sizes: Sequence[int], wholes: Sequence[int]) -> tuple[float, float]:
    """Slope by least squares, and its standard error where the spread differs from size to size (HC1)."""
    count, middle, mean = len(sizes), sum(sizes) / len(sizes), sum(wholes) / len(wholes)
    square = sum((x - middle) ** 2 for x in sizes)
    slope = sum((x - middle) * (y - mean) for x, y in zip(sizes, wholes, strict=True)) / square
    rest = (((x - middle) * (y - mean - slope * (x - middle))) ** 2 for x, y in zip(sizes, wholes, strict=True))
    return slope, math.sqrt(sum(rest) * count / (count - 2)) / square
