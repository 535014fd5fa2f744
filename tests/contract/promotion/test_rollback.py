"""Rolling back: one step, at any time, shown but never blocked."""

import json
from datetime import timedelta

import pytest

from beleg.contract import lifecycle, promotion
from beleg.contract.registry.shelf import Moved, release_path
from beleg.core.errors import DamagedError, UsageError
from tests.contract.promotion.support import NAME, NOW, Project, day, migration, with_field, with_prompt


@pytest.fixture
def published(project: Project) -> Project:
    """1.0.0, 1.1.0 and, breaking, 2.0.0."""
    first = project.contract()
    project.publish(first)
    second = with_field(first, "vendor")
    project.publish(second)
    project.publish(with_field(second, "currency", required=True, migration=migration()), confirm_breaking=True)
    return project


def back(project: Project, version: str, **given: object) -> promotion.RolledBack:
    return promotion.rollback(
        project.registry,
        NAME,
        version,
        by="Bob",
        why="Wrong totals.",
        now=NOW,
        **given,  # type: ignore[arg-type]
    )


def test_an_earlier_version_is_active_again_and_the_epoch_rises(published: Project) -> None:
    done = back(published, "1.0.0")
    assert (done.previous, done.head.active.version, done.head.epoch) == ("2.0.0", "1.0.0", 4)
    entry = published.registry.history(NAME)[-1]
    assert (entry.verb, entry.by, entry.why, entry.at) == ("rollback", "Bob", "Wrong totals.", "2030-05-01T12:00:00Z")
    assert published.versions() == ["1.0.0", "1.1.0", "2.0.0"]
    assert published.verify().proved


def test_what_it_means_for_readers_is_shown_and_blocks_nothing(published: Project) -> None:
    done = back(published, "1.1.0")
    assert done.comparison is not None
    assert done.comparison.bump == "major"
    json.dumps(done.to_dict())


def test_readers_of_the_major_that_was_left_keep_it_until_a_deadline(published: Project) -> None:
    head = back(published, "1.1.0").head
    assert {major: (each.version, each.deadline) for major, each in head.majors.items()} == {
        1: ("1.1.0", None), 2: ("2.0.0", day(30))
    }  # fmt: skip
    head = back(published, "2.0.0", deadline=day(60)).head
    assert {major: (each.version, each.deadline) for major, each in head.majors.items()} == {
        1: ("1.1.0", day(60)), 2: ("2.0.0", None)
    }  # fmt: skip
    with pytest.raises(UsageError, match="less than 30 days"):
        back(published, "1.1.0", deadline=day(29))


def test_a_version_that_was_rolled_back_does_not_return_to_readers_of_its_major(published: Project) -> None:
    back(published, "1.0.0")
    head = back(published, "2.0.0").head
    assert head.majors[1].version == "1.0.0"


def test_the_next_version_is_above_every_published_one(published: Project) -> None:
    back(published, "1.0.0")
    changed = with_prompt(published.contract(), "Read the total in cents.")
    readiness = published.check(changed)
    assert readiness.version == "1.2.0"  # without the vendor of 1.1.0: a member was removed
    assert published.publish(changed).version == "1.2.0"
    breaking = with_field(changed, "country", required=True, migration=migration())
    assert published.publish(breaking, confirm_breaking=True).version == "3.0.0"
    assert published.verify().proved


def test_only_published_versions_that_are_not_active_can_be_gone_back_to(published: Project) -> None:
    for version in ("2.0.0", "9.9.9", "1.0", "../1.0.0", "", "1.0.0\x00"):
        with pytest.raises(UsageError, match=r"active already|was not published; there are: 1.0.0, 1.1.0, 2.0.0"):
            back(published, version)
    with pytest.raises(UsageError, match="there are: none"):
        promotion.rollback(published.registry, "other", "1.0.0", by="Bob", why="Why not.", now=NOW)
    with pytest.raises(UsageError, match="empty"):
        promotion.rollback(published.registry, NAME, "1.0.0", by="Bob", why=" ", now=NOW)
    assert published.active() == "2.0.0"


def test_it_is_refused_where_something_else_became_active_meanwhile(published: Project) -> None:
    back(published, "1.1.0")
    with pytest.raises(Moved, match="epoch 3 to 4"):
        back(published, "1.0.0", epoch=3)
    assert published.active() == "1.1.0"


def test_a_damaged_active_version_keeps_nobody_from_leaving_it(published: Project) -> None:
    head = published.registry.head(NAME)
    assert head is not None
    path = release_path(published.registry.shelf(NAME).folder, head.active.release)
    path.write_bytes(path.read_bytes().replace(b"cents", b"euros"))
    done = back(published, "1.1.0")
    assert done.comparison is None
    assert "damaged" in str(done.doubt)
    assert published.active() == "1.1.0"


def test_a_damaged_version_never_becomes_active(published: Project) -> None:
    first = published.registry.releases(NAME)[0].published.release
    path = release_path(published.registry.shelf(NAME).folder, first)
    path.write_bytes(path.read_bytes().replace(b"cents", b"euros"))
    with pytest.raises(DamagedError):
        back(published, "1.0.0")
    assert published.active() == "2.0.0"


def test_a_feature_on_its_way_out_is_not_rolled_back(published: Project) -> None:
    lifecycle.sunset(published.registry, NAME, by="Bob", why="Replaced.", on=day(40), now=NOW)
    with pytest.raises(lifecycle.FeatureFrozen):
        back(published, "1.0.0")
    with pytest.raises(lifecycle.FeatureFrozen):
        promotion.rollback(
            published.registry, NAME, "1.0.0", by="Bob", why="Clock set back.", now=NOW - timedelta(days=1000)
        )
