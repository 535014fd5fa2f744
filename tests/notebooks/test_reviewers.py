"""The notebook on reviewers runs as it is and shows what the file says."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from beleg.core.settings import Settings
from beleg.lake import catalog

PATH = Path(__file__).resolve().parents[2] / "notebooks" / "reviewers.py"


@pytest.fixture
def shown(demo: Settings, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the cells define, by name."""
    monkeypatch.setenv("BELEG_HOME", str(demo.home))
    spec = importlib.util.spec_from_file_location("reviewers_notebook", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, defined = module.app.run()
    return dict(defined)


def test_an_analyst_sees_how_good_the_words_of_reviewers_are(shown: dict[str, Any], demo: Settings) -> None:
    with catalog.connect(demo) as con:
        ((corrections, corrected),) = con.execute(
            "SELECT (SELECT count(*) FROM corrections), (SELECT sum(corrected_runs) FROM prompt_versions "
            "WHERE purpose = 'production' AND prompt_version IS NOT NULL)"
        ).fetchall()
    reached = shown["reached"].filter(shown["reached"]["kind"] == "correction")
    assert reached["words"].sum() == corrections > 0
    assert shown["versions"]["corrected"].sum() == corrected
    rows = list(shown["versions"].iter_rows(named=True))
    assert all(row["low"] <= row["rate"] <= row["high"] for row in rows)
    assert shown["decided"]["accepted"].sum() > 0
    assert "/tax_lines" in set(shown["patterns"]["field"])
    assert shown["measured"].height > 0
