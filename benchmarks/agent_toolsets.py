"""What a toolset costs at run time, what it saves, and how far its token estimates are off.

python -m benchmarks.agent_toolsets          speed with 500 tools, prefix shared by 16 cohorts, the example's saving
python -m benchmarks.agent_toolsets --fit    how far the weights of beleg.contract.tokens are off over this repository,
                                               and what they would be if fitted to it (needs beleg[tokens])
"""

import itertools
import json
import logging
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from beleg.agent.adapters import anthropic
from beleg.agent.example.agent import CONTEXTS, TOOLSET
from beleg.agent.toolsets import Condition, Group, Toolset, account, cohorts, month
from beleg.contract.tokens import FAMILIES, character_counts, count
from benchmarks.timing import seconds

WARM_LIMIT_MS = 1.0
"""`for_context` with 500 declared tools, warm."""
TOOLS = 500
ROOT = Path(__file__).parents[1]
INPUT_MICRO_USD, CACHED_MICRO_USD = 1_250_000, 125_000
"""USD 1.25 and 0.125 per million tokens: an example, not a quotation."""


def _holding(number: int) -> Condition:
    return Condition(f"needs {number:02}", lambda held: number in held)


def _group(name: str, rank: int, tools: int, when: Condition | None) -> Group:
    """Tools whose names say nothing about their group, as names do."""
    group = Group(name, rank=rank, when=when)
    rng = random.Random(rank)
    schema = {
        "type": "object",
        "required": ["first"],
        "properties": {
            "first": {"type": "string", "description": "Day as YYYY-MM-DD", "maxLength": 10},
            "most": {"type": "integer", "minimum": 1, "maximum": 100},
        },
    }
    for number in range(tools):
        called = f"{rng.choice('abcdefghijklmnop')}{number:03}_{name}"
        said = f"Looks at {name} number {number} and says what is there, oldest first."
        group.tool(binding=False, effect="read", name=called, description=said, input_schema=schema)(dict)
    return group


def _large() -> tuple[list[Group], frozenset[int]]:
    groups = [_group(f"g{n:02}", n, TOOLS // 50, _holding(n) if n > 9 else None) for n in range(50)]
    return groups, frozenset(range(10, 50, 2))


def measure(work: Path, *, quick: bool, say: Callable[[str], None]) -> list[tuple[object, ...]]:
    """Rows of the table about toolsets."""
    del work
    say(f"agent_toolsets: {TOOLS} tools")
    logging.getLogger("beleg.agent").setLevel(logging.ERROR)  # past fifty tools on purpose
    groups, context = _large()
    toolset: Toolset[frozenset[int]] = Toolset(groups)
    toolset.for_context(context)
    rounds = 100 if quick else 1000
    took_ms = sorted(seconds(lambda: toolset.for_context(context)) * 1000 for _ in range(rounds))
    note = f"[{took_ms[rounds // 20]:.4f}, {took_ms[-rounds // 20]:.4f}] over {rounds} rounds"
    return [(f"tools for a context, {TOOLS} declared, warm", "-", WARM_LIMIT_MS, 0.5, "ms", took_ms[rounds // 2], note)]


def speed() -> None:
    groups, context = _large()
    toolset: Toolset[frozenset[int]] = Toolset(groups)
    cold_ms = seconds(lambda: Toolset(groups).for_context(context)) * 1000
    offer = toolset.for_context(context)
    warm_ms = statistics.median(seconds(lambda: toolset.for_context(context)) for _ in range(1000)) * 1000
    format_ms = seconds(lambda: anthropic.tools(offer)) * 1000
    account_ms = seconds(lambda: account(offer.cohort, "o200k")) * 1000
    verdict = "within" if warm_ms <= WARM_LIMIT_MS else "PAST"
    print(f"{len(toolset.tools)} tools, {len(toolset.conditions)} conditions, {len(offer.tools)} offered")
    print(f"for_context warm {warm_ms:.4f} ms ({verdict} {WARM_LIMIT_MS} ms), cold {cold_ms:.2f} ms")
    print(f"list for a provider {format_ms:.2f} ms, account {account_ms:.2f} ms")


def prefix() -> None:
    """40 tools for all and four groups of 15: the mean prefix that two of 16 cohorts share."""
    groups = [_group("core", 0, 40, None), *(_group(f"more{n}", n, 15, _holding(n)) for n in range(1, 5))]
    held = [frozenset(each) for size in range(5) for each in itertools.combinations(range(1, 5), size)]
    report = cohorts(Toolset(groups), {str(sorted(each)): each for each in held}, "o200k")
    core, named = (statistics.mean(getattr(s, name) for s in report.shared) for name in ("share", "share_by_name"))
    print(f"{len(report.cohorts)} cohorts share on average {core:.1%} of the larger tool list, core first")
    print(f"and {named:.1%} with tools sorted by name")


def saving() -> None:
    for name, context in CONTEXTS.items():
        seen = account(TOOLSET.for_context(context).cohort, "o200k")
        saved = seen.saved_tokens
        monthly = month(saved, 100_000, price=INPUT_MICRO_USD, cached_price=CACHED_MICRO_USD)
        uncached, cached = (monthly.uncached_micro_usd or 0) / 1e6, (monthly.cached_micro_usd or 0) / 1e6
        print(
            f"{name}: {len(seen.tools)} of {len(TOOLSET.tools)} tools, {seen.offered_tokens.tokens} tokens; saves "
            f"{saved.tokens} ({saved.low} to {saved.high}) a request, {monthly.tokens.tokens:,} a month, "
            f"USD {cached:.2f} (all cached) to {uncached:.2f} (none)"
        )
    for shared in cohorts(TOOLSET, CONTEXTS, "o200k").shared:
        print(
            f"{shared.first} and {shared.second} share {shared.tools} tools, {shared.tokens.tokens} tokens, "
            f"{shared.share:.0%} (by name {shared.share_by_name:.0%})"
        )


def _pieces(folder: str, pattern: str, most: int, *, compact: bool = False) -> Iterator[str]:
    for path in sorted(ROOT.glob(f"{folder}/**/{pattern}"))[:60]:
        text = path.read_text(encoding="utf-8")
        text = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) if compact else text
        parts = [text[i : i + 1500] for i in range(0, len(text), 1500)]
        yield from (part for part in parts[:most] if len(part) > 200)


def fit() -> None:
    """Weights by non-negative least squares of the relative error, over texts of this repository."""

    texts = [
        *_pieces("docs", "*.md", 5),
        *_pieces("beleg", "*.py", 2),
        *_pieces("contracts", "*.json", 4, compact=True),
    ]
    features: Any = np.array([character_counts(text)[:-1] for text in texts], float)
    for family in FAMILIES.values():
        if family.tokenizer is None:
            continue
        tokens: Any = np.array([count(text, family.name).tokens for text in texts], float)
        weights, _ = nnls(features / tokens[:, None], np.ones(len(tokens)))
        off = tokens / (features @ np.array(family.weights))
        inside = float(np.mean((off >= family.low) & (off <= family.high)))
        low, high = np.percentile(off, [2.5, 97.5])
        print(f"{family.name}: {inside:.1%} of {len(texts)} texts in the band, 95 % within {low:.2f} to {high:.2f}")
        print(f"  fitted here {np.round(weights, 3).tolist()}, in use {list(family.weights)}")


def main() -> None:
    if "--fit" in sys.argv:
        fit()
        return
    logging.getLogger("beleg.agent").setLevel(logging.ERROR)  # past fifty tools on purpose
    speed()
    prefix()
    saving()


if __name__ == "__main__":
    main()
