"""Whatever is done in whatever order: one active version, a whole history, nothing published ever changes."""

import shutil
import tempfile
from datetime import date, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from beleg.contract import lifecycle, promotion
from beleg.contract.lifecycle import FeatureFrozen
from beleg.contract.model import Contract
from beleg.contract.promotion import NotReady
from beleg.contract.registry.names import Version
from beleg.core.errors import UsageError
from tests.contract.promotion.support import NAME, NOW, Project, migration, with_field, with_prompt

GRACE_DAYS = 30
"""Of tier 1."""
FIELDS = ("vendor", "country", "currency")


class Feature(RuleBasedStateMachine):
    """A feature, its model, and clocks that jump as they like."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.project = Project(self.folder / "project").write()
        self.published: dict[str, bytes] = {}
        self.active: str | None = None
        self.sunset_on: date | None = None
        self.deprecated = False
        self.epoch = 0
        self.now = NOW

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize()
    def first(self) -> None:
        self._publish(self.project.contract())

    @rule(days=st.integers(-400, 100))
    def clock_jumps(self, days: int) -> None:
        self.now = max(datetime(2020, 1, 1, tzinfo=NOW.tzinfo), min(NOW, self.now + timedelta(days=days)))

    @rule(words=st.integers(0, 5), fields=st.sets(st.sampled_from(FIELDS)), required=st.booleans())
    def publish(self, words: int, fields: set[str], required: bool) -> None:
        contract = with_prompt(self.project.contract(), f"Read the total, {words}.")
        for name in sorted(fields):
            contract = with_field(contract, name, required=required, migration=migration())
        self._publish(contract)

    def _publish(self, contract: Contract) -> None:
        try:
            release = self.project.publish(contract, now=self.now, confirm_breaking=True)
        except NotReady as error:
            whats = {each.what for each in error.readiness.blockers}
            same = self.active is not None and self.project.registry.active(NAME)
            assert ("lifecycle" in whats) is (self.sunset_on is not None)
            assert self.sunset_on is not None or "identical" in whats or "breaking" in whats
            assert "identical" not in whats or (same and same.digest == contract.digest)
            return
        assert self.sunset_on is None
        assert release.version not in self.published
        same_major = [
            Version.parse(each)
            for each in self.published
            if each.partition(".")[0] == release.version.partition(".")[0]
        ]
        assert all(each < Version.parse(release.version) for each in same_major)
        self.published[release.version] = release.to_bytes()
        self._moved(release.version)

    @rule(data=st.data())
    def rollback(self, data: st.DataObject) -> None:
        version = data.draw(st.sampled_from([*self.published, "7.7.7"]))
        try:
            promotion.rollback(self.project.registry, NAME, version, by="Bob", why="Because.", now=self.now)
        except FeatureFrozen:
            assert self.sunset_on is not None
        except UsageError:
            assert version in {self.active, "7.7.7"}
        else:
            assert self.sunset_on is None
            self._moved(version)

    @rule(days=st.none() | st.integers(-5, 60))
    def deprecate(self, days: int | None) -> None:
        on = None if days is None else self.now.date() + timedelta(days=days)
        try:
            lifecycle.deprecate(self.project.registry, NAME, by="Olga", why="Because.", sunset_on=on, now=self.now)
        except FeatureFrozen:
            assert self.sunset_on is not None
        except UsageError:
            assert self.deprecated or (days is not None and days < GRACE_DAYS)
        else:
            assert not self.deprecated
            self.deprecated, self.sunset_on = True, on
            self._moved(self.active)

    @rule(days=st.integers(-5, 60))
    def sunset(self, days: int) -> None:
        on = self.now.date() + timedelta(days=days)
        try:
            lifecycle.sunset(self.project.registry, NAME, by="Olga", why="Because.", on=on, now=self.now)
        except FeatureFrozen:
            assert self.sunset_on is not None
            assert self.now.date() >= self.sunset_on
        except UsageError:
            assert days < GRACE_DAYS
        else:
            self.deprecated, self.sunset_on = True, on
            self._moved(self.active)

    def _moved(self, active: str | None) -> None:
        self.active = active
        self.epoch += 1

    @invariant()
    def whole(self) -> None:
        registry = self.project.registry
        head = registry.head(NAME)
        if head is None:
            return
        assert (head.epoch, head.active.version, head.sunset_on) == (self.epoch, self.active, self.sunset_on)
        assert {release.version: release.to_bytes() for release in registry.releases(NAME)} == self.published
        majors = {Version.parse(each).major for each in self.published}
        assert set(head.majors) == majors
        own = Version.parse(head.active.version).major
        assert {major for major, each in head.majors.items() if each.deadline is None} == {own}
        assert head.majors[own].version == self.active
        found = self.project.verify()
        assert (found.problems, found.notes) == ([], [])


TestFeature = Feature.TestCase
TestFeature.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
