"""How often the rule of findings is wrong: worlds of pure noise in which it finds anything, and what it recalls.

`python -m benchmarks.findings` prints the table that docs/corrections.md quotes.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from beleg.evals.findings.rule import Group, judge

REASONS = ("extraction_error", "mapping_bug", "unsupported_case")
WORLDS, QUICK_WORLDS = 500, 50
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class World:
    """Corrections at random: `rate` of the runs, for each of some fields and reasons under each of two versions."""

    fields: int
    runs: int
    """Of each version."""
    rate: float
    favourite: float = 1.0
    """How much more often people give the first reason."""
    zeal: float = 1.0
    """How much more they correct under the second version."""
    effect: float = 1.0
    """How much more often one field goes wrong for the first reason under the second version."""

    def groups(self, random: np.random.Generator) -> list[Group]:
        """One draw: every run has an input of its own."""
        return [
            _group(f, reason, version, self.runs, inputs)
            for f in range(self.fields)
            for reason in REASONS
            for version in (1, 2)
            if (inputs := int(random.binomial(self.runs, self._rate(f, reason, version))))
        ]

    def _rate(self, field: int, reason: str, version: int) -> float:
        first, second = reason == REASONS[0], version == 2
        rate = self.rate * (self.favourite if first else 1) * (self.zeal if second else 1)
        return rate * self.effect if field == 0 and first and second else rate


def _group(field: int, reason: str, version: int, runs: int, inputs: int) -> Group:
    counts = (runs, inputs, min(inputs, 4), inputs, inputs, 0)
    return Group("w", f"/f{field}", reason, f"v{version}", version, *counts, NOON, NOON)


def noise() -> Iterator[World]:
    """Worlds without any pattern; with one field, up to the rate that is assumed there."""
    for fields in (1, 2, 5, 20):
        for runs in (30, 300, 3_000):
            for rate in (0.002, 0.01, 0.04):
                world = World(fields, runs, rate)
                if fields > 1:
                    yield from (world, replace(world, favourite=5.0 if rate < 0.02 else 2.0), replace(world, zeal=2.0))
                elif rate <= 0.01:
                    yield world


def found(world: World, worlds: int, seed: int) -> tuple[float, float]:
    """Share of draws in which anything is found, and in which the field with the effect is."""
    random = np.random.default_rng(seed)
    anything = right = 0
    for _ in range(worlds):
        ids = {
            (f.group.field, f.group.reason, f.group.version_place)
            for f in judge(world.groups(random))
            if f.kind == "finding"
        }
        anything += bool(ids)
        right += ("/f0", REASONS[0], 2) in ids
    return anything / worlds, right / worlds


def measure(_work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows: the worst world of noise against 5 %, and what is missed of an effect of 5 times; recall in the details."""
    worlds = QUICK_WORLDS if quick else WORLDS
    say(f"findings: {worlds} draws of {len(list(noise()))} worlds of noise")
    shares = {world: found(world, worlds, seed)[0] for seed, world in enumerate(noise())}
    worst = max(shares, key=shares.__getitem__)
    # The worst of many is so by chance as well: what it is worth, fresh draws tell.
    again = found(worst, 10 * worlds, len(shares))[0]
    mean = f"mean of all {100 * sum(shares.values()) / len(shares):.1f} %"
    told = f"{len(shares)} worlds of {worlds} draws, {mean}; the worst drawn {10 * worlds} times again: {worst}"
    row = ("noise in which anything is found, worst of all worlds", "all draws", 5.0, 4.0, "%")
    rows: list[tuple[object, ...]] = [(*row, round(100 * again, 2), told)]
    for runs, rate in ((300, 0.01), (1_000, 0.01), (3_000, 0.01), (1_000, 0.04)):
        recalled = [found(World(8, runs, rate, effect=effect), worlds, 1)[1] for effect in (2.0, 3.0, 5.0)]
        told = ", ".join(f"{100 * share:.0f} %" for share in recalled)
        what = f"missed of 5 times {rate:.0%} at one of 8 fields, {runs:,} runs"
        missed = round(100 * (1 - recalled[2]), 1)
        rows.append((what, "all draws", 30.0, 10.0, "%", missed, f"recall of 2, 3 and 5 times: {told}"))
    return rows


if __name__ == "__main__":
    for row in measure(Path(), quick="--quick" in sys.argv, say=print):
        print(*row, sep=" | ")
