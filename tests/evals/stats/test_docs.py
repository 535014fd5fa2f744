"""What the guide shows is what happens."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from beleg.evals import stats

GUIDE = Path(__file__).parents[3] / "docs" / "statistics.md"


def test_the_example_of_the_guide_prints_what_stands_beside_it() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue().splitlines() == re.findall(r"print\(.*\)  # (.*)", code)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(\w+)[`(]", GUIDE.read_text(encoding="utf-8")))))
def test_every_name_of_the_guide_exists(name: str) -> None:
    plain = {
        "alpha",
        "b",
        "c",
        "n",
        "method",
        "blocks",
        "regression_shown",
        "min_families",
        "StatisticsError",
        "narrowed",
    }
    assert name in plain or name in stats.__all__


def test_the_public_names_exist() -> None:
    assert all(hasattr(stats, name) for name in stats.__all__)
    assert sorted(set(stats.__all__)) == sorted(stats.__all__)
