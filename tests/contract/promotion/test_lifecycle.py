"""A feature's life: dates with a grace period, and what is refused from when on."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from beleg.contract import draft, lifecycle, promotion
from beleg.contract.lifecycle import FeatureFrozen, deprecate, new_draft, state, sunset
from beleg.core.errors import UsageError
from beleg.core.paths import shipped
from tests.contract.promotion.support import NAME, NOW, Project, day, dump, migration, whats, with_field, with_prompt


@pytest.fixture
def published(project: Project) -> Project:
    project.publish(project.contract())
    return project


def end(project: Project, days: int, now: datetime = NOW) -> None:
    sunset(project.registry, NAME, by="Olga", why="Replaced.", on=day(days), now=now)


def test_draft_active_deprecated_sunset(project: Project) -> None:
    registry = project.registry
    assert state(registry.head(NAME), day(0)) == "draft"
    project.publish(project.contract())
    assert state(registry.head(NAME), day(0)) == "active"
    deprecate(registry, NAME, by="Olga", why="Replaced.", now=NOW)
    assert state(registry.head(NAME), day(9999)) == "deprecated"
    end(project, 30)
    assert [state(registry.head(NAME), day(days)) for days in (0, 29, 30, 31)] == [
        "deprecated", "deprecated", "sunset", "sunset"
    ]  # fmt: skip
    assert [entry.verb for entry in registry.history(NAME)] == ["publish", "deprecate", "sunset"]
    assert project.verify().proved


@pytest.mark.parametrize("days", [-1000, -1, 0, 1, 29])
def test_a_date_leaves_at_least_the_grace_period(published: Project, days: int) -> None:
    with pytest.raises(UsageError, match=r"grace period of 30 days; the earliest day is 2030-05-31"):
        end(published, days)
    with pytest.raises(UsageError, match="grace period"):
        deprecate(published.registry, NAME, by="Olga", why="Replaced.", sunset_on=day(days), now=NOW)
    assert state(published.registry.head(NAME), day(0)) == "active"


def test_a_longer_grace_period_is_the_policys(published: Project) -> None:
    published.policies.mkdir()
    text = shipped("contracts", "policies", "tiers.yaml").read_text()
    (published.policies / "tiers.yaml").write_text(text.replace("grace_days: 30", "grace_days: 77"))
    given: dict[str, Any] = {"by": "Olga", "why": "Replaced.", "now": NOW, "policies": published.policies}
    with pytest.raises(UsageError, match="77 days"):
        sunset(published.registry, NAME, on=day(76), **given)
    assert sunset(published.registry, NAME, on=day(77), **given).sunset_on == day(77)


@pytest.mark.parametrize("now", [NOW, NOW + timedelta(days=4000), NOW - timedelta(days=4000)])
@pytest.mark.parametrize("way", ["sunset", "deprecate"])
def test_with_a_date_nothing_can_be_changed_whatever_the_clock_says(
    published: Project, way: str, now: datetime
) -> None:
    if way == "sunset":
        end(published, 40)
    else:
        deprecate(published.registry, NAME, by="Olga", why="Replaced.", sunset_on=day(40), now=NOW)
    changed = with_prompt(published.contract(), "Read the total in cents.")
    assert "lifecycle" in whats(published.check(changed, now=now))
    with pytest.raises(promotion.NotReady):
        published.publish(changed, now=now)
    with pytest.raises(FeatureFrozen, match="cannot be edited"):
        lifecycle.check_changeable(published.registry.head(NAME))
    with pytest.raises(FeatureFrozen):
        new_draft(published.registry, published.feature)
    with pytest.raises(FeatureFrozen):
        deprecate(published.registry, NAME, by="Olga", why="Again.", now=now)


def test_a_date_can_be_moved_until_it_has_come(published: Project) -> None:
    end(published, 40)
    end(published, 60)
    head = published.registry.head(NAME)
    assert head is not None
    assert head.sunset_on == day(60)
    with pytest.raises(FeatureFrozen, match="ended on"):
        end(published, 400, now=NOW + timedelta(days=60))
    assert published.verify().proved


def test_a_deprecated_feature_without_a_date_can_still_be_mended(published: Project) -> None:
    deprecate(published.registry, NAME, by="Olga", why="Replaced.", now=NOW)
    published.publish(with_prompt(published.contract(), "Read the total in cents."))
    promotion.rollback(published.registry, NAME, "1.0.0", by="Bob", why="Worse.", now=NOW)
    assert state(published.registry.head(NAME), day(0)) == "deprecated"
    with pytest.raises(UsageError, match="deprecated already"):
        deprecate(published.registry, NAME, by="Olga", why="Again.", now=NOW)
    assert published.verify().proved


def test_what_was_never_published_has_no_end(project: Project) -> None:
    for change in (
        lambda: deprecate(project.registry, NAME, by="Olga", why="Replaced.", now=NOW),
        lambda: end(project, 40),
        lambda: new_draft(project.registry, project.feature),
    ):
        with pytest.raises(UsageError, match="never published"):
            change()
    assert not project.registry.root.exists()


# New drafts


def test_a_new_draft_inherits_the_active_version_without_its_notes(project: Project) -> None:
    first = project.save(with_field(project.contract(), "vendor"))
    project.publish(first)
    project.publish(with_field(first, "country", required=True, migration=migration()), confirm_breaking=True)
    found = new_draft(project.registry, project.feature, author="Ben")
    assert draft.read(project.feature) == found
    assert (found.author, found.change_note, found.migration) == ("Ben", "", None)
    assert found.output_schema == project.registry.releases(NAME)[-1].contract.output_schema
    assert "note" in whats(project.check(draft.read(project.feature)))
    new_draft(project.registry, project.feature, author="Ben")  # as it was inherited, it may be inherited again


def test_an_edited_draft_is_not_overwritten(published: Project) -> None:
    for edit in (
        lambda: published.save(with_prompt(published.contract(), "My own words.")),
        lambda: published.save(published.contract(change_note="Only the note so far.")),
        lambda: (published.feature.draft / "prompt.md").write_text("half a thought"),
        lambda: dump(published.feature.draft / "evals.yaml", {"dataset": "other", "criteria": []}),
        (published.feature.draft / "output.schema.json").unlink,
    ):
        published.write()
        new_draft(published.registry, published.feature)
        edit()
        before = {path.name: path.read_bytes() for path in published.feature.draft.iterdir()}
        with pytest.raises(UsageError, match="edited"):
            new_draft(published.registry, published.feature)
        assert {path.name: path.read_bytes() for path in published.feature.draft.iterdir()} == before
