"""What a toolset costs and what each omission saves."""

import pytest

from beleg.agent.calibration import Calibration
from beleg.agent.example.agent import CONTEXTS, TOOLSET
from beleg.agent.toolsets import Group, Toolset, account, cohorts, fact, month
from beleg.contract.tokens import Estimate, count
from beleg.core.errors import UsageError
from tests.agent.offered import ADVISER, COMPANY, FREELANCER, numbered, toolset


def test_the_account_names_each_omission_its_reason_and_what_it_saves() -> None:
    seen = account(toolset().for_context(FREELANCER).cohort, "o200k")
    assert [(each.group, each.reason, each.tools) for each in seen.omissions] == [
        ("accounts", "is_incorporated does not hold", ("aaa_list_accounts", "get_balance")),
        ("review", "role == 'tax_adviser' does not hold", ("compare_clients", "list_clients")),
    ]
    assert all(each.saves.low < each.saves.tokens < each.saves.high for each in seen.omissions)


@pytest.mark.parametrize("person", [FREELANCER, COMPANY, ADVISER])
def test_offered_and_saved_are_all_that_is_declared(person: object) -> None:
    seen = account(toolset().for_context(person).cohort, "o200k")  # type: ignore[arg-type]
    everything = account(toolset().for_context(ADVISER).cohort, "o200k").offered_tokens
    assert seen.offered_tokens + seen.saved_tokens == everything


def test_money_is_whole_micro_usd_and_unknown_without_a_price() -> None:
    tokens = Estimate(7, 6, 8, "estimate:o200k")
    seen = month(tokens, 1_000, price=150_000)
    assert seen.tokens == Estimate(7_000, 6_000, 8_000, "estimate:o200k")
    assert seen.uncached_micro_usd == 1_050
    assert seen.cached_micro_usd is None


@pytest.mark.parametrize(("tokens", "micro_usd"), [(5, 2), (15, 8), (25, 12)])
def test_half_a_micro_usd_is_rounded_to_even_once(tokens: int, micro_usd: int) -> None:
    assert month(Estimate(tokens, tokens, tokens, "x"), 1, price=500_000).uncached_micro_usd == micro_usd


def test_a_negative_number_of_requests_is_refused() -> None:
    with pytest.raises(UsageError, match="-1 requests"):
        month(Estimate(1, 1, 1, "x"), -1)


def test_the_seeds_example_has_102_tools_in_14_modules() -> None:
    assert len(TOOLSET.tools) == 102
    assert len(TOOLSET.groups) == 14
    assert not [name for name in TOOLSET.tools if "submit" in name and not name.startswith("get_")]


def test_a_typical_freelancer_saves_five_to_eight_thousand_tokens_of_every_request() -> None:
    saved = account(TOOLSET.for_context(CONTEXTS["freelancer"]).cohort, "o200k").saved_tokens
    assert saved.low >= 5_000
    assert saved.high <= 8_000


def test_the_freelancers_saving_holds_when_a_tokenizer_counts() -> None:
    pytest.importorskip("splintr")
    seen = account(TOOLSET.for_context(CONTEXTS["freelancer"]).cohort, "o200k", by=count)
    saved = seen.saved_tokens
    assert 5_000 <= saved.low == saved.tokens == saved.high <= 8_000
    assert saved.exact
    assert saved.tokenizer == "o200k_base"


def test_a_calibration_moves_every_figure_of_the_account() -> None:
    cohort = toolset().for_context(COMPANY).cohort
    plain = account(cohort, "claude")
    requests = [Estimate(n, n, n, "estimate:claude") for n in range(1_000, 1_040)]
    doubled = Calibration.fit((each, 2 * each.tokens) for each in requests)
    seen = account(cohort, "claude", by=doubled.by)
    assert [tokens.tokens for _, tokens in seen.tools] == [2 * tokens.tokens for _, tokens in plain.tools]
    assert seen.saved_tokens.tokenizer == "estimate:claude, calibrated by 40"


def test_what_is_estimated_in_part_is_an_estimate() -> None:
    exact, rough = Estimate(5, 5, 5, "o200k_base"), Estimate(5, 4, 6, "estimate:o200k")
    assert not (exact + rough).exact
    assert not (rough + exact).exact
    assert (exact + exact).exact


def test_no_role_of_the_example_holds_more_than_fifty_tools() -> None:
    for context in CONTEXTS.values():
        seen = account(TOOLSET.for_context(context).cohort, "o200k")
        assert len(seen.tools) <= 50
        assert not seen.warnings


def test_the_three_roles_share_the_core_which_sorting_by_name_would_lose() -> None:
    report = cohorts(TOOLSET, CONTEXTS, "o200k")
    assert len(report.cohorts) == 3
    for shared in report.shared:
        assert shared.tools >= 34
        assert shared.share > 0.7
        assert shared.share_by_name < 0.1


def test_past_fifty_tools_the_account_warns() -> None:
    group = numbered(Group("core", rank=1), *(f"t{n}" for n in range(51)))
    assert "51 tools are past 50" in account(Toolset([group]).for_context(None).cohort, "o200k").warnings[0]


def test_a_group_that_more_users_have_is_named_when_it_stands_behind() -> None:
    rare = numbered(Group("rare", rank=1, when=fact("role", "tax_adviser")), "a")
    wide = numbered(Group("wide", rank=2, when=fact("is_incorporated")), "b")
    built = Toolset([numbered(Group("core", rank=0), "c"), rare, wide])
    contexts = {"company": COMPANY, "adviser": ADVISER}
    assert cohorts(built, contexts, "o200k").warnings == ()
    report = cohorts(built, contexts, "o200k", users={"company": 90, "adviser": 3})
    assert report.warnings == ("group `wide` has 93 users and stands after `rare` with 3: rank it earlier",)
