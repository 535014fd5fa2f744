"""What has no price is listed with the row that would price it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from beleg.core.errors import UsageError
from beleg.cost.modelfile import load_models
from beleg.cost.unpriced import Unpriced, unpriced
from tests.cost.support import GPT, NOON, Lake, policies

DEPLOYMENT = {"provider": "azure", "model": "my-deployment"}


def found(lake: Lake) -> list[Unpriced]:
    lake.build(("step_costs",))
    return list(unpriced(lake.con))


def as_file(folder: Path, rows: list[Any], price: str) -> Path:
    path = folder / "models.yaml"
    path.write_text(yaml.safe_dump({"models": rows}).replace("''", f"'{price}'"), encoding="utf-8")
    return path


def test_calls_are_counted_by_name_and_reason_with_their_first_day() -> None:
    lake = Lake()
    lake.step(**DEPLOYMENT, input_uncached=10, output=5, at=NOON + timedelta(days=1))
    lake.step(**DEPLOYMENT, input_uncached=1, cache_read=7, at=NOON)
    lake.step(**GPT)
    lake.step(**GPT, output=1)
    lake.step(output=1)
    rows = found(lake)
    told = {(r.model, r.reason): (r.steps, sum(r.tokens.values()), r.first_at, r.policy_row is None) for r in rows}
    assert told == {
        ("my-deployment", "unknown_model"): (2, 23, NOON, False),
        ("gpt-4o", "missing_usage"): (1, 0, NOON, True),
        (None, "no_model"): (1, 1, NOON, True),
    }
    assert rows[0].model == "my-deployment"


@pytest.mark.parametrize(
    "call",
    [
        {**DEPLOYMENT, "input_uncached": 10, "cache_read": 5, "output": 3},
        {**DEPLOYMENT, "output": 3, "batch": True},
        {**GPT, "output": 3, "service_tier": "no-such-tier"},
        {
            "provider": "openai",
            "model": "gpt-4o-mini",
            "output": 3,
            "batch": True,
        },  # the book's batch prices begin later
        {"provider": "nobody", "model": "m", "cache_write_1h": 3, "output_image": 2},
        {**GPT, "output": 3, "other_units": {"moon_landings": 1}},
    ],
)
def test_the_row_prices_the_call_once_filled_in_and_is_refused_before(tmp_path: Path, call: dict[str, Any]) -> None:
    lake = Lake()
    lake.step(**call)
    (one,) = found(lake)
    empty = as_file(tmp_path, [one.policy_row], "")
    with pytest.raises(UsageError, match="no exact amount"):
        load_models(empty)
    mended = Lake(policies(tmp_path, as_file(tmp_path, [one.policy_row], "2.00").read_text(encoding="utf-8")))
    mended.step(**call)
    assert found(mended) == []
    assert mended.cost() is not None


def test_a_row_for_a_time_without_prices_leaves_later_times_to_the_book() -> None:
    lake = Lake()
    lake.step(provider="openai", model="gpt-4o-mini", output=3, batch=True)
    (one,) = found(lake)
    assert one.policy_row is not None
    assert (one.reason, one.policy_row["valid_to"] - one.policy_row["valid_from"]) == (
        "no_price_at_that_time",
        timedelta(days=1),
    )


def test_where_every_call_has_a_price_nothing_is_listed() -> None:
    lake = Lake()
    lake.step(**GPT, output=1)
    assert found(lake) == []
