"""The questions of docs/analysts.md: each runs, answers something, and the answers fit together."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from beleg.core.settings import Settings
from beleg.lake import catalog, metrics
from tests.lake.support import publish_latest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "analysts.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^### (\d+)\. (.*?)\n```sql\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
BY_NUMBER = {int(number): sql for number, _, sql in QUESTIONS}
each = pytest.mark.parametrize("sql", BY_NUMBER.values(), ids=[f"{n}. {title}" for n, title, _ in QUESTIONS])
RATIO = re.compile(r"_share$|^share$")


def ask(settings: Settings, sql: str) -> list[dict[str, Any]]:
    with catalog.connect(settings) as con:
        result = con.execute(sql)
        columns = [column[0] for column in result.description or []]
        return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


def test_there_are_twenty_of_them() -> None:
    assert list(BY_NUMBER) == list(range(1, 21))


@each
def test_a_question_has_an_answer_that_can_be_right(sql: str, demo: Settings) -> None:
    rows = ask(demo, sql)
    assert rows
    for row in rows:
        assert not [value for value in row.values() if isinstance(value, float)]
        for name, value in row.items():
            if RATIO.search(name) and value is not None and name != "difference_share":
                assert 0 <= value <= 1, name
            if name.endswith("cost_usd"):
                assert value is None or value >= 0, name


@each
def test_a_question_can_be_asked_before_there_is_data(sql: str, settings: Settings) -> None:
    catalog.rebuild(settings, publish_latest(settings))
    ask(settings, sql)


def test_days_customers_teams_models_and_purposes_add_up_to_what_was_spent(demo: Settings) -> None:
    def summed(number: int, where: str = "true") -> Decimal:
        with catalog.connect(demo) as con:
            ((value,),) = con.execute(f"SELECT sum(cost_usd) FROM ({BY_NUMBER[number]}) WHERE {where}").fetchall()
            return Decimal(value)

    total = summed(5)
    assert summed(6) == summed(8) == total > 0
    assert summed(7, "of = 'tenant'") == summed(7, "of = 'team'") == total


def test_the_shares_of_the_purposes_make_a_whole(demo: Settings) -> None:
    assert sum(row["share"] for row in ask(demo, BY_NUMBER[8])) == pytest.approx(Decimal(1), abs=Decimal("0.00001"))


def test_the_trend_knows_every_workflow_and_no_free_result(demo: Settings) -> None:
    weeks = ask(demo, BY_NUMBER[4])
    assert len({row["workflow"] for row in weeks}) == 6
    assert all(row["unit_cost_usd"] is None or row["unit_cost_usd"] > 0 for row in weeks)


def test_the_page_names_only_macros_that_exist() -> None:
    functions, found = metrics.load()
    known = {f.name for f in functions} | {m.name for m in found}
    called = set(re.findall(r"\b([a-z_]+)\(", " ".join(BY_NUMBER.values())))
    sql = {"sum", "count", "min", "max", "arg_max", "date_trunc", "percentile_disc"}
    assert called <= known | sql
