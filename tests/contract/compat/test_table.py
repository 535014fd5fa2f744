"""The page of the rules: up to date, complete, and every example as the engine sees it."""

from pathlib import Path

import pytest

from beleg.contract.compat import compare
from beleg.contract.compat.table import Example, examples, page

PAGE = Path(__file__).parents[3] / "docs" / "schema-changes.md"
RULES = {*range(1, 15), *range(20, 26), *range(30, 39), 40, 41, *range(50, 54), *range(60, 64), 70}


def test_the_page_is_what_the_examples_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "run: python -m beleg.contract.compat.table > docs/schema-changes.md"
    )


def test_every_rule_has_an_example() -> None:
    assert {example.rule for example in examples()} == {f"R{number:02}" for number in RULES}


@pytest.mark.parametrize("example", examples(), ids=lambda example: f"{example.rule}-{example.bump}")
def test_an_example_is_judged_as_the_page_says(example: Example) -> None:
    found = compare(example.old, example.new)
    assert (found.bump, found.unprovable) == (example.bump, example.unprovable)
    worst = {change.rule for change in found.changes if change.bump == found.bump}
    assert found.bump == "none" or example.reported in worst
