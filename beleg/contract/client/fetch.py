"""From a registry, or its copy on disk, to a snapshot of one major of a feature."""

from beleg.contract.client.clock import Clock
from beleg.contract.client.errors import FeatureGone, MajorUnknown, Tampered, Unreachable
from beleg.contract.client.reader import FolderReader, Raw, vouched
from beleg.contract.client.say import warn
from beleg.contract.client.snapshot import Snapshot, check_release, major_of
from beleg.contract.client.sources import Unproven
from beleg.contract.registry.fields import parse
from beleg.contract.registry.heads import Head
from beleg.contract.registry.releases import Release
from beleg.core.errors import DamagedError


class Fetcher:
    """Fetches one major of one feature, and remembers how far the registry had come."""

    def __init__(self, name: str, major: int, reader: FolderReader, clock: Clock) -> None:
        self._name, self._major, self._reader, self._clock = name, major, reader, clock
        self.known: Head | None = None
        """The newest head that was seen: nothing older is believed."""
        self._raw: Raw | None = None

    def fetch(self, held: Snapshot | None) -> Snapshot:
        """What the registry says now, which may be what is held.

        Raises FeatureGone, Forbidden, MajorUnknown, Unreachable, Outdated, Tampered.
        """
        self._reader.begin()
        try:
            raw, head = self._reader.raw_head(Head, self.known)
        except FileNotFoundError as error:
            if isinstance(error, Unproven) and self.known is not None:
                self._check_registry(held, error)
            self._reader.forget()
            self.known = self._raw = None
            raise FeatureGone(f"the registry has no feature {self._name!r}; check the name and the registry") from error
        snapshot = held if raw is None and held is not None else self._assembled(head)
        if self.known is None or head.epoch >= self.known.epoch:  # one that was given up may come late
            self.known, self._raw = head, raw or self._raw
            if self._raw is not None:
                self._reader.keep(self._raw, self._clock.now())
        return snapshot

    def _check_registry(self, held: Snapshot | None, error: Unproven) -> None:
        """Raise Unreachable unless another file shows that the registry is there: a 404 ends a feature only then."""
        workflow = None if held is None else held.release.workflow
        paths = [f"features/{self._name}/history/00000001.json"]
        paths += [] if workflow is None else [f"prompts/{workflow}/features.json"]
        for path in paths:
            try:
                parse(self._reader.read(path), path)
            except (FileNotFoundError, Tampered, DamagedError):
                continue
            return
        raise Unreachable(f"the registry says 404 to all that is known of {self._name!r}; is it there?") from error

    def from_disk(self) -> tuple[Snapshot, float] | None:
        """What an earlier process left, as far as it can be proved, and its age in seconds."""
        kept = self._reader.kept()
        if kept is None:
            return None
        try:
            raw = Raw(kept.head, kept.entry)
            head = vouched(Head, raw, self._name)
            self.known, self._raw = head, raw
            pinned = major_of(head, self._major)
            release = self._reader.kept_release(pinned.release)
            if release is None:
                return None
            check_release(release, pinned, self._name)
        except (Tampered, MajorUnknown) as error:
            warn("the copy of %s on disk is refused: %s", self._name, error)
            return None
        age_s = (self._clock.now() - kept.confirmed_at).total_seconds()
        return Snapshot(head, pinned, release), max(0.0, age_s)

    def _assembled(self, head: Head) -> Snapshot:
        if head.feature != self._name:
            raise Tampered(f"the head of {self._name} is that of {head.feature}")
        pinned = major_of(head, self._major)
        release = self._reader.release(Release, pinned.release)
        check_release(release, pinned, self._name)
        return Snapshot(head, pinned, release)
