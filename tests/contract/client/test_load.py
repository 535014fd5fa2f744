"""What `beleg.load` serves, from which copy, and when it refuses."""

import contextlib
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from beleg.contract.client import errors
from beleg.contract.client.dates import FeatureWarning
from beleg.contract.client.feature import Feature
from beleg.contract.client.load import load
from beleg.core.errors import UsageError
from tests.contract.client.conftest import Hands, new_process
from tests.contract.client.released import FEATURE, Shop, contract, loaded
from tests.contract.client.server import Web, hangs, says

WEEK_S = 7 * 86_400


# -- fresh ----------------------------------------------------------------------------------------


def test_released_version_is_loaded(published: Shop, hands: Hands) -> None:
    feature = loaded(hands)
    assert (feature.version, feature.superseded_major, feature.sunset_on, feature.deadline) == (
        "1.0.0",
        False,
        None,
        None,
    )
    assert feature.contract == contract()
    assert feature.freshness.state == "fresh"
    assert feature.freshness.epoch == 1
    assert repr(feature) == f"<Feature {FEATURE} 1.0.0 fresh>"


@pytest.mark.parametrize("kind", ["folder", "file", "fsspec", "http"])
def test_every_kind_of_registry_serves_the_same(published: Shop, web: Web, hands: Hands, kind: str) -> None:
    addresses = {"folder": published.root, "file": f"file://{published.root}", "http": f"{web.url}/"}
    if kind == "fsspec":
        import fsspec

        fs = fsspec.filesystem("memory")
        fs.put(str(published.root), "/shop", recursive=True)
        addresses["fsspec"] = "memory://shop"
    assert loaded(hands, addresses[kind]).contract == contract()


def test_same_question_gives_the_same_feature_without_asking_again(published: Shop, web: Web, hands: Hands) -> None:
    first = loaded(hands, web.url)
    asked = len(web.asked)
    hands.on(seconds=59)
    assert loaded(hands, web.url) is first
    assert len(web.asked) == asked


def test_new_version_of_the_major_is_used_after_the_ttl(published: Shop, hands: Hands) -> None:
    feature = loaded(hands)
    published.publish("1.1.0", contract(change_note="second"))
    assert feature.version == "1.0.0"
    hands.on(seconds=61)
    assert feature.version == "1.1.0"
    assert feature.contract.change_note == "second"


def test_unchanged_head_is_asked_for_alone(published: Shop, web: Web, hands: Hands) -> None:
    feature = loaded(hands, web.url)
    web.asked.clear()
    hands.on(seconds=61)
    assert feature.version == "1.0.0"
    assert web.asked == [f"/features/{FEATURE}/head.json"]


def test_rollback_is_followed(published: Shop, hands: Hands) -> None:
    published.publish("1.1.0", contract(change_note="second"))
    feature = loaded(hands)
    published.rollback("1.0.0")
    hands.on(seconds=61)
    assert feature.version == "1.0.0"
    assert feature.freshness.epoch == 3


# -- majors ---------------------------------------------------------------------------------------


def test_pinned_reader_stays_on_its_major_until_the_deadline(published: Shop, hands: Hands) -> None:
    published.publish("1.2.0", contract(change_note="last of its major"))
    published.publish("2.0.0", contract(change_note="breaks"), deadline=date(2026, 12, 10))
    with pytest.warns(FeatureWarning, match=r"1\.x is superseded, 2\.0\.0 is active; it runs until 2026-12-10"):
        feature = loaded(hands)
    assert (feature.version, feature.superseded_major, feature.deadline) == ("1.2.0", True, date(2026, 12, 10))
    hands.on(days=8)
    assert feature.version == "1.2.0"
    hands.on(days=1)
    with pytest.raises(errors.MajorExpired, match=r"ended on 2026-12-10; adapt to 2\.0\.0"):
        _ = feature.version


def test_rollback_across_majors_moves_nobody_to_another_major(published: Shop, hands: Hands) -> None:
    published.publish("2.0.0", contract(change_note="breaks"), deadline=date(2027, 3, 1))
    newer = load(FEATURE, major=2, clock=hands.clock)
    published.rollback("1.0.0", deadline=date(2027, 1, 1))
    hands.on(seconds=61)
    with pytest.warns(FeatureWarning, match=r"2\.x is superseded, 1\.0\.0 is active"):
        assert (newer.version, newer.superseded_major, newer.deadline) == ("2.0.0", True, date(2027, 1, 1))
    assert (loaded(hands).version, loaded(hands).superseded_major) == ("1.0.0", False)


def test_major_that_was_never_released_is_refused_with_those_there_are(published: Shop, hands: Hands) -> None:
    with pytest.raises(errors.MajorUnknown, match=r"never released as 3\.x; its majors: 1"):
        load(FEATURE, major=3, clock=hands.clock)


@pytest.mark.parametrize("major", [-1, True, "1", 1.0, None])
def test_major_that_is_none_is_refused(published: Shop, major: Any) -> None:
    with pytest.raises(UsageError, match="is no major version"):
        load(FEATURE, major=major)


@pytest.mark.parametrize("name", ["../secret", "", "Receipt", "a\x00b", "x" * 101, "a/b"])
def test_hostile_names_reach_no_source(shop: Shop, web: Web, name: str) -> None:
    with pytest.raises(UsageError, match="is no name of a feature"):
        load(name, major=1, registry=web.url)
    assert web.asked == []


# -- sunset ---------------------------------------------------------------------------------------


def test_sunset_warns_once_with_the_date_and_raises_from_then_on_offline_too(
    published: Shop, web: Web, hands: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    published.sunset(date(2026, 12, 5))
    with pytest.warns(FeatureWarning, match="switched off on 2026-12-05"):
        feature = loaded(hands, web.url)
    assert caplog.text.count("2026-12-05") == 1
    assert feature.sunset_on == date(2026, 12, 5)
    web.stop()
    hands.on(days=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert feature.version == "1.0.0"
    assert repr(feature).endswith("1.0.0 offline>")
    hands.on(days=1)
    with pytest.raises(errors.FeatureSunset, match="switched off on 2026-12-05"):
        _ = feature.version
    assert feature.freshness.state == "sunset"
    new_process()
    with pytest.raises(errors.FeatureSunset):
        loaded(hands, web.url)


def test_deprecated_feature_warns(published: Shop, hands: Hands) -> None:
    published.deprecate()
    with pytest.warns(FeatureWarning, match="deprecated and is to be left"):
        loaded(hands)


# -- caches and many callers ----------------------------------------------------------------------


def test_registries_share_no_copy(published: Shop, web: Web, hands: Hands, tmp_path: Path) -> None:
    other = Shop(tmp_path / "other")
    other.publish("1.0.0", contract(change_note="of the other registry"))
    loaded(hands, web.url)
    assert loaded(hands, other.root).contract.change_note == "of the other registry"
    assert loaded(hands, web.url).contract.change_note == "first"


def test_disk_that_cannot_be_written_costs_the_copy_alone(
    published: Shop, hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BELEG_CACHE", str(tmp_path / "file"))
    feature = loaded(hands)
    assert feature.version == "1.0.0"
    assert feature.freshness.unwritten_copies == 2


def test_full_disk_costs_the_copy_alone(
    published: Shop, hands: Hands, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (small_disk / "filler").write_bytes(b"x" * (11 << 20))
    with contextlib.suppress(OSError), (small_disk / "more").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    monkeypatch.setenv("BELEG_CACHE", str(small_disk / "cache"))
    feature = loaded(hands)
    assert feature.version == "1.0.0"
    assert feature.freshness.unwritten_copies > 0


def test_many_first_callers_share_one_question(published: Shop, web: Web, hands: Hands) -> None:
    barrier = threading.Barrier(16)

    def one(_: int) -> Feature:
        barrier.wait()
        return loaded(hands, web.url)

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(one, range(16)))
    assert all(each is found[0] for each in found)
    assert web.asked.count(f"/features/{FEATURE}/head.json") == 1


def test_one_caller_asks_while_the_others_go_on(published: Shop, web: Web, hands: Hands) -> None:
    feature = loaded(hands, web.url)
    web.asked.clear()
    web.fault = hangs
    hands.on(seconds=61)
    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(lambda _: feature.version, range(64))) == {"1.0.0"}
    assert len(web.asked) == 1
    assert feature.freshness.failures == 1


def test_relative_registry_belongs_to_its_working_folder(
    shop: Shop, hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        Shop(tmp_path / name / "shop").publish("1.0.0", contract(change_note=name))
        monkeypatch.chdir(tmp_path / name)
        assert loaded(hands, "shop").contract.change_note == name


def test_version_that_is_too_old_is_used_by_nobody_while_one_caller_asks(
    published: Shop, web: Web, hands: Hands
) -> None:
    feature = loaded(hands, web.url, timeout_s=20)
    published.publish("1.1.0", contract(change_note="second"))
    hands.on(seconds=WEEK_S + 1)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: feature.version, range(16))) == {"1.1.0"}


def test_address_may_hold_a_login(published: Shop, web: Web, hands: Hands) -> None:
    web.login = "Basic YWRhOnMzY3I6ZXQ="
    with pytest.raises(errors.Forbidden, match="HTTP 401"):
        loaded(hands, web.url)
    assert loaded(hands, web.url.replace("//", "//ada:s3cr%3Aet@")).version == "1.0.0"


def test_slow_answer_from_before_does_not_undo_a_newer_one(published: Shop, web: Web, hands: Hands) -> None:
    feature = loaded(hands, web.url)
    old = (published.folder() / "head.json").read_bytes()
    held = threading.Event()

    def late(handler: Any) -> None:
        held.wait(20)
        says(old)(handler)

    web.fault = late
    hands.on(seconds=61)
    assert feature.freshness.failures == 0
    assert feature.version == "1.0.0"
    published.publish("1.1.0", contract(change_note="second"))
    web.fault = None
    hands.on(seconds=6)
    assert feature.version == "1.1.0"
    held.set()
    for thread in threading.enumerate():
        if thread.name == "beleg-refresh":
            thread.join(20)
    assert (feature.version, feature.freshness.epoch) == ("1.1.0", 2)
    (published.folder() / "head.json").write_bytes(old)
    hands.on(seconds=61)
    assert feature.version == "1.1.0"
