"""What the pages say is what happens."""

import re
from pathlib import Path

import pytest

from beleg.agent.example.agent import CONTEXTS, TOOLSET
from beleg.agent.toolsets import account, cohorts, month

DOCS = Path(__file__).parents[3] / "docs" / "agent"
PAGES = ("toolsets.md", "absent-verbs.md", "adapters.md")


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_every_example_runs(name: str) -> None:
    space: dict[str, object] = {"__name__": "example"}
    blocks = re.findall(r"^```python\n(.+?)^```", page(name), re.DOTALL | re.MULTILINE)
    assert blocks
    for block in blocks:
        exec(compile(block, name, "exec"), space)


@pytest.mark.parametrize("role", CONTEXTS)
def test_the_table_of_the_example_is_its_account(role: str) -> None:
    seen = account(TOOLSET.for_context(CONTEXTS[role]).cohort, "o200k")
    saved = seen.saved_tokens
    monthly = month(saved, 100_000, price=1_250_000, cached_price=125_000)
    cells = [
        role.replace("_", " "),
        str(len(seen.tools)),
        f"{seen.offered_tokens.tokens:,}",
        f"{saved.tokens:,} ({saved.low:,} to {saved.high:,})",
        f"{monthly.tokens.tokens / 1e6:.1f} million",
        f"{(monthly.cached_micro_usd or 0) / 1e6:.2f} to {(monthly.uncached_micro_usd or 0) / 1e6:.2f}",
    ]
    assert f"| {' | '.join(cells).replace(',', ' ')} |" in page("toolsets.md")


def test_the_shares_that_the_page_names_are_those_of_the_example() -> None:
    shared = cohorts(TOOLSET, CONTEXTS, "o200k").shared
    core, named = (sorted(round(getattr(s, name) * 100) for s in shared) for name in ("share", "share_by_name"))
    said = f"share {core[0]} to\n{core[-1]} % of their tools, core first, and {named[0]} to {named[-1]} % by name"
    assert said in page("toolsets.md")
