"""A registry that is away, gone or closed: what goes on, for how long, and what ends."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from beleg.contract.client import errors
from tests.contract.client.conftest import Hands, new_process
from tests.contract.client.released import FEATURE, Shop, contract, loaded
from tests.contract.client.server import Web, cut, drips, floods, hangs, says, status

WEEK_S = 7 * 86_400

AWAY = [status(500), status(503), status(429), status(408), cut, hangs, drips, floods, says(b"<html>portal</html>")]


@pytest.mark.parametrize("fault", AWAY)
def test_registry_that_is_away_leaves_the_last_version_running_and_visible(
    published: Shop, web: Web, hands: Hands, fault: Any
) -> None:
    feature = loaded(hands, web.url)
    web.fault = fault
    hands.on(seconds=61)
    assert feature.version == "1.0.0"
    freshness = feature.freshness
    assert freshness.state in {"offline", "stale"}
    assert (freshness.failures, freshness.age_s) == (1, 61)
    assert freshness.error is not None
    web.fault = None
    hands.on(seconds=6)
    assert feature.version == "1.0.0"
    assert (feature.freshness.state, feature.freshness.error, feature.freshness.failures) == ("fresh", None, 1)


@pytest.mark.parametrize("fault", AWAY)
def test_new_process_starts_from_disk_while_the_registry_is_away(
    published: Shop, web: Web, hands: Hands, fault: Any
) -> None:
    loaded(hands, web.url)
    new_process()
    web.fault = fault
    hands.on(seconds=100)
    feature = loaded(hands, web.url)
    assert (feature.version, feature.freshness.age_s) == ("1.0.0", 100)
    assert feature.freshness.state in {"offline", "stale"}


def test_without_a_copy_a_registry_that_is_away_is_an_error_and_the_next_load_tries_again(
    published: Shop, web: Web, hands: Hands
) -> None:
    web.fault = status(503)
    with pytest.raises(errors.Unreachable, match="HTTP 503"):
        loaded(hands, web.url)
    web.fault = None
    assert loaded(hands, web.url).version == "1.0.0"


def test_staleness_is_bounded(published: Shop, web: Web, hands: Hands) -> None:
    feature = loaded(hands, web.url)
    web.stop()
    hands.on(seconds=WEEK_S - 1)
    assert feature.version == "1.0.0"
    hands.on(seconds=10)
    with pytest.raises(errors.TooStale, match=r"confirmed it 7 days, 0:00:09 ago; max_stale_s allows 7 days"):
        _ = feature.version
    new_process()
    with pytest.raises(errors.TooStale):
        loaded(hands, web.url)


@pytest.mark.parametrize("way", ["head", "folder", "410"])
def test_feature_that_is_gone_stops_and_does_not_come_back_from_disk(
    published: Shop, web: Web, hands: Hands, way: str
) -> None:
    published.publish("1.0.1", contract(change_note="served"), workflow="receipts")
    feature = loaded(hands, web.url)
    if way == "410":
        web.fault = status(410)
    elif way == "head":
        (published.folder() / "head.json").unlink()
    else:
        shutil.rmtree(published.folder())
    hands.on(seconds=61)
    with pytest.raises(errors.FeatureGone):
        _ = feature.version
    assert feature.freshness.state == "gone"
    new_process()
    web.fault = status(503)
    with pytest.raises(errors.Unreachable):
        loaded(hands, web.url)


def test_server_that_says_404_to_everything_has_lost_its_registry_and_ends_no_feature(
    published: Shop, web: Web, hands: Hands
) -> None:
    feature = loaded(hands, web.url)
    web.fault = status(404)
    hands.on(seconds=61)
    assert (feature.version, feature.freshness.state) == ("1.0.0", "offline")
    new_process()
    assert loaded(hands, web.url).version == "1.0.0"
    hands.on(days=7)
    with pytest.raises(errors.TooStale, match="404 to all that is known"):
        _ = feature.version
    web.fault = None
    hands.on(seconds=6)
    assert (feature.version, feature.freshness.state) == ("1.0.0", "fresh")


def test_page_in_place_of_every_other_file_is_no_registry(published: Shop, web: Web, hands: Hands) -> None:
    feature = loaded(hands, web.url)
    page = says(b"<html>not here</html>")
    web.fault = lambda handler: (status(404) if handler.path.endswith("head.json") else page)(handler)
    hands.on(seconds=61)
    assert (feature.version, feature.freshness.state) == ("1.0.0", "offline")


def test_feature_that_was_never_seen_and_404_is_unknown(published: Shop, web: Web, hands: Hands) -> None:
    web.fault = status(404)
    with pytest.raises(errors.FeatureGone, match="check the name"):
        loaded(hands, web.url)


@pytest.mark.parametrize("code", [401, 403])
def test_refused_reader_stops_and_goes_on_when_let_in_again(published: Shop, web: Web, hands: Hands, code: int) -> None:
    feature = loaded(hands, web.url)
    web.fault = status(code)
    hands.on(seconds=61)
    with pytest.raises(errors.Forbidden, match=f"HTTP {code}"):
        _ = feature.version
    assert feature.freshness.state == "forbidden"
    web.fault = None
    hands.on(seconds=6)
    assert feature.version == "1.0.0"


def test_unknown_feature_is_gone_and_an_unmounted_registry_is_away(shop: Shop, hands: Hands, tmp_path: Path) -> None:
    shop.publish("1.0.0", contract(feature="another"))
    with pytest.raises(errors.FeatureGone, match=FEATURE):
        loaded(hands)
    (tmp_path / "mount").mkdir()
    for address in (tmp_path / "mount", tmp_path / "nothing", "memory://nothing"):
        with pytest.raises(errors.Unreachable, match="there is no registry at"):
            loaded(hands, address)


def test_server_that_cannot_be_found_is_away(hands: Hands) -> None:
    for address in ("http://127.0.0.1:1/registry", "http://host.invalid/", "nonsense://x", "http://[broken"):
        with pytest.raises(errors.Unreachable):
            loaded(hands, address)


def test_address_with_a_password_shows_it_nowhere(hands: Hands) -> None:
    with pytest.raises(errors.Unreachable) as caught:
        loaded(hands, "http://ada:s3cret@127.0.0.1:1/registry?token=s3cret")
    assert "s3cret" not in str(caught.value)
