"""What a run did and why it cost what it cost."""

import shutil
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beleg.ask.arithmetic import CHANGED, Line, arithmetic
from beleg.ask.desk import day_of_id
from beleg.ask.explain import explain
from beleg.core.errors import CheckFailed, UsageError
from beleg.core.settings import Settings
from beleg.core.sql import query
from beleg.cost.book import PriceBook
from beleg.cost.register import register_policies, register_prices
from beleg.lake.table import LakeTable
from tests.ask.support import GPT, ID, IN, OUT, START, finished, started, step, story, text
from tests.cost.support import NOON, Lake
from tests.deep import examples
from tests.events import event
from tests.flow.support import Installation


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return story(tmp_path_factory.mktemp("story"))


def test_steps_stand_in_order_with_attempts_and_fallbacks(there: Installation) -> None:
    steps = [s.record for s in explain(there.settings, ID).steps]
    assert [(s["step_id"], s["attempt"], s["attempt_reason"], s["status"]) for s in steps] == [
        ("a", 1, None, "failed"),
        ("b", 2, "fallback", "succeeded"),
        ("t", None, None, "succeeded"),
    ]
    assert steps[2]["tool_name"] == "look_up"
    assert steps[0]["exception_class"] == "Overloaded"


def test_the_run_says_what_made_it(there: Installation) -> None:
    run = explain(there.settings, ID).run
    named = {name: run[name] for name in ("status", "prompt_version", "contract_version", "input_ref", "output_hash")}
    assert named == {
        "status": "succeeded",
        "prompt_version": "v1",
        "contract_version": "1.2.0",
        "input_ref": "scan/7",
        "output_hash": OUT,
    }
    assert run["contract_digest"] == "f" * 64


def test_the_lines_name_bucket_price_and_amount_and_add_up_to_the_run(there: Installation) -> None:
    told = explain(there.settings, ID)
    assert told.steps[1].arithmetic.lines == (
        Line("input_uncached", 1000, 2_500_000, 2_500_000_000),
        Line("cache_read", 200, 1_250_000, 250_000_000),
        Line("output", 10, 10_000_000, 100_000_000),
    )
    assert told.run["cost_pico_usd"] == 2_850_000_000
    assert told.adds_up
    assert (told.steps[1].arithmetic.price or {})["price_key"] == "openai/gpt-4o"


def test_what_has_no_cost_says_why(there: Installation) -> None:
    told = explain(there.settings, ID)
    assert told.steps[0].arithmetic.note == "unpriced: missing_usage"
    assert told.steps[0].arithmetic.pico_usd is None
    assert told.steps[2].arithmetic.pico_usd == 0


def test_people_artifacts_children_and_earlier_runs_of_the_input_stand_by(there: Installation) -> None:
    told = explain(there.settings, ID)
    assert [a["kind"] for a in told.artifacts] == ["answer_summary"]
    assert [f["rating"] for f in told.feedback] == ["dislike"]
    assert [(c["reason"], c["bound_by"], c["superseded_by"], c["decision"]) for c in told.corrections] == [
        ("mapping_bug", "fingerprint", "c2", None),
        ("extraction_error", "run_id", None, "accept"),
        ("user_preference", "run_id", None, "reject"),
    ]
    assert [c["run_id"] for c in told.children] == ["child"]
    assert [(r["run_id"], r["same_output"]) for r in told.same_input] == [("early", False)]


def test_a_word_bound_by_fingerprint_says_which_run_it_counts_for(tmp_path: Path) -> None:
    """It is shown under every run with the fingerprint; `prompt_versions` counts it once, for the latest before it."""
    there = Installation(tmp_path)
    by_run = {name: START + timedelta(hours=n) for n, name in enumerate(("first", "second", "after"))}
    by_run["after"] += timedelta(days=9)
    for name, at in by_run.items():
        there.take(started(name, at), finished(name, at))
    said = text(START + timedelta(days=1))
    there.take(
        event("feedback", "f", said, output_hash=OUT, rating="like"),
        event("feedback", "g", said, run_id="first", rating="dislike"),
        event("correction", "c", said, input_hash=IN, workflow="ocr", reason="mapping_bug"),
    )
    shown = {name: explain(there.settings, name) for name in by_run}
    assert {n: [(f["bound_by"], f["counts_for"]) for f in told.feedback] for n, told in shown.items()} == {
        "first": [("fingerprint", "second"), ("run_id", "first")],
        "second": [("fingerprint", "second")],
        "after": [],
    }
    assert [c["counts_for"] for c in shown["first"].corrections] == ["second"]


def test_an_id_that_tells_no_day_is_found_too(there: Installation) -> None:
    assert day_of_id("early") is None
    assert explain(there.settings, "early").run["day"].isoformat() == "2029-12-01"


def test_only_files_of_the_days_a_run_touches_are_read(there: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, set[str]] = {}
    relation = LakeTable.relation

    def noted(self: LakeTable, files: Iterable[Any], **more: Any) -> str:
        chosen = list(files)
        seen.setdefault(self.contract.table, set()).update(str(f.partition) for f in chosen)
        return relation(self, chosen, **more)

    monkeypatch.setattr(LakeTable, "relation", noted)
    explain(there.settings, ID)
    assert seen["steps"] == seen["step_costs"] == seen["runs_started"] == {"2030-01-10"}
    # The other day of run_costs is that of the earlier run of the same input.
    assert seen["run_costs"] == {"2030-01-10", "2029-12-01"}


def test_an_unknown_run_says_how_to_find_one(there: Installation) -> None:
    with pytest.raises(CheckFailed, match=r"no run '01b90bb2-1e00-7001-8fb4-000000000000' .*`beleg runs`"):
        explain(there.settings, "01b90bb2-1e00-7001-8fb4-000000000000")


def test_before_the_first_publication_it_says_what_to_do(settings: Settings) -> None:
    with pytest.raises(UsageError, match="beleg ingest PATH"):
        explain(settings, ID)


def test_prices_that_changed_since_are_told_instead_of_a_wrong_sum(there: Installation, tmp_path: Path) -> None:
    own = tmp_path / "contracts" / "policies"
    shutil.copytree("contracts/policies", own)
    (own / "models.yaml").write_text(
        'models: [{provider: openai, model: gpt-4o, valid_from: 2020-01-01, prices: {input: "9", output: "9"}}]'
    )
    changed = Settings(there.settings.home, there.settings.spool, project=tmp_path)
    told = explain(changed, ID)
    assert told.steps[1].arithmetic.note == CHANGED
    assert not told.adds_up


def test_a_run_over_midnight_is_explained_with_all_its_steps(tmp_path: Path) -> None:
    there = Installation(tmp_path)
    usage: dict[str, Any] = {"buckets": {"output": 1}, **GPT}
    late = START.replace(hour=23, minute=59, second=58)
    there.take(started(ID, late), step(ID, "a", late, **usage), step(ID, "b", late, seconds=5, **usage))
    there.take(finished(ID, late))
    told = explain(there.settings, ID)
    assert [s.record["step_id"] for s in told.steps] == ["a", "b"]
    assert told.adds_up


tokens = st.integers(0, 10**9)


@pytest.mark.deep
@settings(max_examples=examples(12, soak=25))
@given(st.lists(st.fixed_dictionaries({"input_uncached": tokens, "cache_read": tokens, "output": tokens}), max_size=4))
def test_the_arithmetic_is_that_of_the_marts_for_any_usage(calls: list[dict[str, int]]) -> None:
    lake = Lake()
    lake.start()
    for call in calls:
        lake.step(provider="anthropic", model="claude-sonnet-4-5", at=NOON, **call)
    lake.build(("step_costs", "run_costs"))
    register_policies(lake.con, lake.policies)
    register_prices(lake.con, PriceBook(lake.policies.models))
    result = lake.con.execute(query("beleg.ask", "steps"), {"run_id": "run"})
    columns = [column[0] for column in result.description or []]
    told = [arithmetic(dict(zip(columns, row, strict=True))) for row in result.fetchall()]
    assert len(told) == len(calls)
    assert [a.note for a in told] == [None] * len(calls)
    assert sum(a.pico_usd or 0 for a in told) == lake.one("SELECT cost_pico_usd FROM run_costs")
