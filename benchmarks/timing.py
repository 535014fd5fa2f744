"""Ratios that hold on a noisy machine: variants take turns, each round gives one ratio, the median counts."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Variant = Callable[[], object]


@dataclass(frozen=True)
class Ratio:
    """How many times as long one thing takes as another."""

    median: float
    low: float
    high: float
    subject_s: float
    """Median wall seconds of the thing measured."""
    limit_s: float
    """Median wall seconds of what it is held against."""
    rounds: int


def seconds(variant: Variant) -> float:
    """Wall seconds of one call."""
    begun = time.perf_counter()
    variant()
    return time.perf_counter() - begun


def ratio(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """Summarise (subject, limit) seconds of interleaved rounds."""
    ratios = sorted(subject / limit for subject, limit in pairs)
    return Ratio(
        median=statistics.median(ratios),
        low=ratios[0],
        high=ratios[-1],
        subject_s=statistics.median(s for s, _ in pairs),
        limit_s=statistics.median(limit for _, limit in pairs),
        rounds=len(pairs),
    )


def in_turn(subject: Variant, limit: Variant, rounds: int, *, warm: bool = True) -> Ratio:
    """Run two variants in turn and compare them round by round."""
    if warm:
        subject()
        limit()
    return ratio([(seconds(subject), seconds(limit)) for _ in range(rounds)])
