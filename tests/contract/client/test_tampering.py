"""What is not as it was published is believed by nobody, whether it comes from the registry or from the disk."""

import json
from pathlib import Path

import pytest

from beleg.contract.client import errors
from tests.contract.client.conftest import Hands, new_process
from tests.contract.client.released import Shop, contract, loaded, tool
from tests.contract.client.server import Web, status

WEEK_S = 7 * 86_400


def test_answer_with_a_lower_epoch_is_ignored_in_memory_and_after_a_restart(published: Shop, hands: Hands) -> None:
    old = (published.folder() / "head.json").read_bytes()
    published.publish("1.1.0", contract(change_note="second"))
    feature = loaded(hands)
    (published.folder() / "head.json").write_bytes(old)
    hands.on(seconds=61)
    assert (feature.version, feature.freshness.state, feature.freshness.epoch) == ("1.1.0", "stale", 2)
    assert "epoch 1, it was at 2 already" in str(feature.freshness.error)
    new_process()
    assert loaded(hands).version == "1.1.0"


def test_second_history_of_an_epoch_is_ignored(published: Shop, hands: Hands, tmp_path: Path) -> None:
    feature = loaded(hands)
    published.root.rename(tmp_path / "old")
    Shop(published.root).publish("1.0.0", contract(change_note="made anew"))
    hands.on(seconds=61)
    assert feature.contract.change_note == "first"
    assert "two histories of epoch 1" in str(feature.freshness.error)


def flip(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data.replace(b"You read receipts.", b"You pay invoices!!"))


def test_tampered_release_is_refused(published: Shop, hands: Hands) -> None:
    flip(published.release_path("1.0.0"))
    with pytest.raises(errors.Tampered, match="SHA-256"):
        loaded(hands)


def test_tampered_new_release_leaves_the_old_one_running(published: Shop, hands: Hands) -> None:
    feature = loaded(hands)
    published.publish("1.1.0", contract(change_note="second"))
    flip(published.release_path("1.1.0"))
    hands.on(seconds=61)
    assert (feature.version, feature.freshness.state) == ("1.0.0", "stale")
    assert "SHA-256" in str(feature.freshness.error)


def test_head_that_its_history_does_not_vouch_for_is_refused(published: Shop, hands: Hands) -> None:
    published.publish("1.1.0", contract(change_note="second"))
    path = published.folder() / "head.json"
    head = json.loads(path.read_bytes())
    head["active"] = json.loads((published.folder() / "history" / "00000001.json").read_bytes())["head"]["active"]
    head["majors"]["1"] = {**head["active"], "deadline": None}
    path.write_text(json.dumps(head))
    with pytest.raises(errors.Tampered, match="its history entry 2 says something else"):
        loaded(hands)


def test_tampered_copy_on_disk_is_not_believed(published: Shop, web: Web, hands: Hands, tmp_path: Path) -> None:
    loaded(hands, web.url)
    new_process()
    for path in (tmp_path / "cache").rglob("releases/*.json"):
        flip(path)
    assert loaded(hands, web.url).contract == contract(), "fetched again"
    new_process()
    for path in (tmp_path / "cache").rglob("head.json"):
        path.write_text(path.read_text().replace("1.0.0", "1.9.9"))
    web.fault = status(503)
    with pytest.raises(errors.Unreachable):
        loaded(hands, web.url)


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b"{", b"\xff", b'{"confirmed_at": 1}', b"[" * 100_000])
def test_broken_copy_on_disk_is_no_copy(published: Shop, hands: Hands, tmp_path: Path, content: bytes) -> None:
    loaded(hands)
    new_process()
    for path in (tmp_path / "cache").rglob("head.json"):
        path.write_bytes(content)
    assert loaded(hands).version == "1.0.0"


def test_binding_tool_is_refused_whatever_the_release_says(published: Shop, hands: Hands) -> None:
    published.publish("1.1.0", contract(tools=(tool(binding=True),)))
    with pytest.raises(errors.Tampered, match="'lookup_vendor' may bind"):
        loaded(hands)


def test_tool_that_is_not_as_it_was_pinned_is_refused(published: Shop, hands: Hands) -> None:
    from dataclasses import replace

    published.publish("1.1.0", contract(tools=(replace(tool(), description="Finds a vendor and pays it."),)))
    with pytest.raises(errors.Tampered, match="not as it was pinned"):
        _ = loaded(hands).contract


def test_release_of_another_feature_under_the_right_address_is_refused(shop: Shop, hands: Hands) -> None:
    shop.publish("1.0.0", contract(feature="another"))
    shop.folder("another").rename(shop.folder())
    with pytest.raises(errors.Tampered, match="that of another"):
        loaded(hands)
