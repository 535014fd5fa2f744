"""Lint of the example features, as a console does it while somebody types: everything loaded, each draft against its
active version, with satisfiability and comparison.
"""

import shutil
import statistics
from collections.abc import Callable
from datetime import date
from pathlib import Path

from beleg.contract import draft
from beleg.contract.lint import Facts, lint
from beleg.contract.model import Contract
from beleg.core.paths import shipped
from benchmarks.timing import seconds

ROUNDS = 30


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about lint."""
    rounds = 3 if quick else ROUNDS
    say("lint: the example features")
    pairs = _pairs(work / "lint")
    for old, new in pairs.values():
        _clean(old, new)
    taken = {
        name: sorted(seconds(lambda pair=pair: _clean(*pair)) for _ in range(rounds))  # type: ignore[misc]
        for name, pair in pairs.items()
    }
    name, slowest = max(taken.items(), key=lambda each: statistics.median(each[1]))
    return [
        (
            f"lint an example feature, the slowest of {len(pairs)}",
            "time, warm",
            100,
            30,
            "ms",
            round(statistics.median(slowest) * 1000, 1),
            f"[{slowest[0] * 1000:.1f}, {slowest[-1] * 1000:.1f}] {name}, {rounds} rounds",
        )
    ]


def _pairs(folder: Path) -> dict[str, tuple[Contract, Contract]]:
    """Each feature's newest earlier version and its draft."""
    root = shipped("contracts").parent
    return {each.name: (_newest(root, each, folder), draft.read(each)) for each in draft.features(root)}


def _newest(root: Path, feature: draft.Feature, folder: Path) -> Contract:
    versions = (root / "beleg" / "demo" / "features" / feature.name).iterdir()
    home = folder / feature.name
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(max(versions, key=lambda each: int(each.name)), home / "draft")
    shutil.copy(feature.folder / "feature.yaml", home)
    return draft.read(draft.feature(home))


def _clean(old: Contract, new: Contract) -> None:
    if found := lint(new, Facts(active=old, today=date(2026, 11, 30))):
        msg = f"{new.feature} does not lint clean, so its time says nothing: {found}"
        raise AssertionError(msg)
