"""What prompt registries got wrong elsewhere, one test per report (research/observability.md, section 2F)."""

import shutil
from typing import Any

import pytest

from beleg.contract.client import errors
from beleg.contract.client.load import load
from beleg.contract.prompts.prompt import TTL_S, prompt
from tests.contract.client.conftest import Hands
from tests.contract.client.released import FEATURE, Shop, contract, provider
from tests.contract.client.server import Web, status
from tests.contract.prompts.test_prompt import BAKED, WORKFLOW, ask


def test_r1_prompt_taken_back_is_not_served_for_ever(shop: Shop, web: Web, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    assert ask(hands, web.url).text == "first"
    web.fault = status(404)
    hands.on(seconds=TTL_S)
    assert (ask(hands, web.url).text, ask(hands, web.url).reason) == (BAKED, "missing")


def test_r2_version_and_name_that_look_alike_are_two_things(shop: Shop, hands: Hands) -> None:
    shop.prompt("2", "1", "of the workflow 2")
    shop.prompt(WORKFLOW, "2", "version 2 of the other")
    shop.prompt(WORKFLOW, "2.0", "version 2.0")
    assert ask(hands, workflow="2").text == "of the workflow 2"
    assert (ask(hands).text, ask(hands).version) == ("version 2.0", "2.0")


def test_r3_after_a_promotion_the_old_version_never_comes_back(shop: Shop, web: Web, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "1", "old")
    head = shop.root / "prompts" / WORKFLOW / "head.json"
    old = head.read_bytes()
    shop.prompt(WORKFLOW, "2", "new")
    new = head.read_bytes()
    seen = []
    for number in range(12):  # a balancer before two replicas, of which one lags behind
        head.write_bytes(old if number % 2 else new)
        seen.append(ask(hands, web.url).text)
        hands.on(seconds=TTL_S / 2)
    assert set(seen) <= {"new", BAKED}
    assert seen[0] == "new"


@pytest.mark.parametrize("noticed", [True, False])
def test_r3_name_deleted_and_made_anew_gives_the_new_text(shop: Shop, hands: Hands, noticed: bool) -> None:
    shop.prompt(WORKFLOW, "1", "old")
    shop.prompt(WORKFLOW, "2", "old too")
    assert ask(hands).text == "old too"
    shutil.rmtree(shop.root / "prompts" / WORKFLOW)
    if noticed:
        hands.on(seconds=TTL_S)
        assert ask(hands).text == BAKED
    shop.prompt(WORKFLOW, "1", "made anew")
    seen = []
    for _ in range(4):
        hands.on(seconds=TTL_S)
        seen.append(ask(hands).text)
    assert set(seen) <= {BAKED, "made anew", "old too"}
    assert seen[-1] == "made anew"
    assert seen[1:].count("old too") == 0, "none is older than its time"


def test_r4_deleted_version_is_not_served(shop: Shop, hands: Hands) -> None:
    shop.prompt(WORKFLOW, "1", "first")
    ask(hands)
    shutil.rmtree(shop.root / "prompts" / WORKFLOW)
    hands.on(seconds=TTL_S)
    assert ask(hands).text == BAKED


def test_r4_deleted_feature_is_not_served(shop: Shop, hands: Hands) -> None:
    shop.publish("1.0.0")
    shop.publish("1.0.0", contract(feature="another"))
    feature = load(FEATURE, major=1, clock=hands.clock)
    shutil.rmtree(shop.folder())
    hands.on(seconds=61)
    with pytest.raises(errors.FeatureGone):
        _ = feature.version


def test_r5_changed_model_is_a_new_version_and_is_seen(shop: Shop, hands: Hands) -> None:
    shop.publish("1.0.0")
    feature = load(FEATURE, major=1, clock=hands.clock)
    before = feature.snapshot()
    primary = provider(model="gpt-6-2026-10-01", temperature=0.0)
    from beleg.contract.model import Providers

    shop.publish("1.1.0", contract(providers=Providers(primary)))
    hands.on(seconds=61)
    assert feature.contract.providers.primary == primary
    assert (before.release.version, before.contract.providers.primary.model) == ("1.0.0", provider().model)


def test_r6_same_name_in_another_registry_is_another_prompt(shop: Shop, hands: Hands, tmp_path: Any) -> None:
    other = Shop(tmp_path / "other")
    shop.prompt(WORKFLOW, "1", "of the first tenant")
    other.prompt(WORKFLOW, "1", "of the second tenant")
    texts = [ask(hands, root).text for root in (shop.root, other.root, shop.root)]
    assert texts == ["of the first tenant", "of the second tenant", "of the first tenant"]


def test_r7_option_that_does_not_exist_fails_loudly() -> None:
    with pytest.raises(TypeError):
        prompt(WORKFLOW, default=BAKED, cache_ttl=0)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        load(FEATURE, major=1, cache_ttl=0)  # type: ignore[call-arg]
