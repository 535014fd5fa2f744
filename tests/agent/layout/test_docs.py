"""The examples of the pages are executed, each page from top to bottom."""

import re

import pytest

from beleg.core.paths import shipped

ROOT = shipped("contracts").parent


@pytest.mark.parametrize("page", ["playbooks", "layout", "flows"])
def test_the_examples_of_a_page_hold(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(
        r"^```python\n(.+?)^```", (ROOT / "docs" / "agent" / f"{page}.md").read_text(), re.DOTALL | re.MULTILINE
    )
    assert blocks
    exec("\n".join(blocks), {"__name__": page})
