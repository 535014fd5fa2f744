"""The demo removes only what a demo made."""

from decimal import Decimal
from pathlib import Path

import pytest

from beleg.core.errors import UsageError
from beleg.cost.policies import load_policies
from beleg.demo.company import OWN, OWN_PRICES, PRICE_CHANGE_US, WORKFLOWS, micros
from beleg.demo.home import make_home, notice_of


def test_an_earlier_demo_is_removed(tmp_path: Path) -> None:
    home = tmp_path / "demo"
    make_home(home)
    (home / "left-over").write_text("x")
    make_home(home)
    assert not (home / "left-over").exists()


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    assert make_home(tmp_path).home == tmp_path


@pytest.mark.parametrize("name", ["spool", "report.html"])
def test_a_folder_with_anything_else_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match="stays as it is; name another folder with --home"):
        make_home(tmp_path)
    assert (tmp_path / name).read_text() == "mine"


def test_a_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(UsageError, match="holds something that is no demo"):
        make_home(path)
    assert path.read_text() == "mine"


def test_only_a_demo_carries_the_notice(tmp_path: Path) -> None:
    settings = make_home(tmp_path / "demo")
    assert "Synthetic" in str(notice_of(settings))
    (settings.home / ".beleg-demo").unlink()
    assert notice_of(settings) is None


def test_the_demos_policies_say_what_its_generator_knows(tmp_path: Path) -> None:
    policies = load_policies(make_home(tmp_path / "demo"))
    before, after = policies.models.rows_of(OWN.provider, OWN.name)
    assert micros(after.valid_from) == PRICE_CHANGE_US
    for row, known in zip((before, after), OWN_PRICES, strict=True):
        assert row.standard is not None
        usd = {bucket: Decimal(price).scaleb(-6) for bucket, price in known.items()}
        assert row.standard.prices == {
            "input_mtok": usd["input_uncached"],
            "cache_read_mtok": usd["cache_read"],
            "output_mtok": usd["output"],
        }
    assert {policy.workflow for policy in policies.workflows.workflows} == {workflow.name for workflow in WORKFLOWS}
