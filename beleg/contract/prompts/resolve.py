"""Which text the registry has for a workflow: that of the feature that serves it, else of the workflow's own."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from beleg.contract.client.clock import Clock
from beleg.contract.client.errors import Tampered
from beleg.contract.client.reader import FolderReader
from beleg.contract.client.source import Source
from beleg.contract.registry.fields import Fields, parse
from beleg.contract.registry.heads import Head, PromptHead
from beleg.contract.registry.names import feature_name, workflow_name
from beleg.contract.registry.releases import PromptRelease, Release
from beleg.core.errors import BelegError, DamagedError


@dataclass(frozen=True)
class Found:
    """The active text of a workflow; `text` is None where none is active."""

    text: str | None
    version: str = ""


NOTHING = Found(None)


class Resolver:
    """Asks one registry for one workflow; remembers heads and releases, since most answers are the last one's."""

    def __init__(self, source: Source, workflow: str, *, timeout_s: float, clock: Clock) -> None:
        self._source, self._workflow = source, workflow_name(workflow)
        self._timeout_s, self._clock = timeout_s, clock
        self._known: dict[str, tuple[Any, Found | None]] = {}
        """Folder → its newest head and what that meant."""

    def forget(self) -> None:
        """Believe the next answer, also one with a lower epoch: the name may have been made anew."""
        self._known = {}

    def resolve(self) -> Found:
        """What holds now; raises Unreachable, Forbidden, Outdated, Tampered."""
        serving = [found for found in map(self._of_feature, self._features()) if found is not None]
        if len(serving) > 1:
            raise Tampered(f"{len(serving)} features serve the workflow {self._workflow}; none of them decides")
        return serving[0] if serving else self._of_workflow()

    def _features(self) -> list[str]:
        """Features that may serve the workflow, from the index that publishing keeps."""
        path = f"prompts/{self._workflow}/features.json"
        try:
            data = self._reader(f"prompts/{self._workflow}").read(path)
        except FileNotFoundError:
            return []
        try:
            names = Fields(parse(data, path), path).values.get("features")
            return [feature_name(name) for name in names or ()]
        except (BelegError, TypeError) as error:
            raise Tampered(f"{path} is refused: {error}") from error

    def _of_feature(self, feature: str) -> Found | None:
        """The prompt of a feature's active version; None where it does not serve this workflow."""
        folder = f"features/{feature}"
        reader = self._reader(folder)
        known = self._known.get(folder)
        try:
            raw, head = reader.raw_head(Head, known[0] if known else None)
        except FileNotFoundError:
            self._known.pop(folder, None)
            return None
        if raw is not None or known is None:
            release = reader.release(Release, head.active.release)
            if (release.feature, release.version, release.digest) != (feature, head.active.version, head.active.digest):
                raise Tampered(f"{folder}: the release {head.active.release[:12]} is another one's")
            found = _of_contract(release) if release.workflow == self._workflow else None
            self._known[folder] = known = (head, found)
        if _ended(head, self._clock.today()):
            return None  # another feature, or a prompt of the workflow's own, may have taken its place
        return known[1]

    def _of_workflow(self) -> Found:
        folder = f"prompts/{self._workflow}"
        reader = self._reader(folder)
        known = self._known.get(folder)
        try:
            raw, head = reader.raw_head(PromptHead, known[0] if known else None)
        except FileNotFoundError:
            self._known.pop(folder, None)
            return NOTHING
        if raw is None and known is not None and known[1] is not None:
            return known[1]
        found = NOTHING if head.active is None else self._released(reader, head)
        self._known[folder] = (head, found)
        return found

    def _released(self, reader: FolderReader, head: PromptHead) -> Found:
        active = head.active
        assert active is not None  # noqa: S101
        release = reader.release(PromptRelease, active.release)
        stated = (release.workflow, release.version, release.digest)
        if head.workflow != self._workflow or stated != (self._workflow, active.version, active.digest):
            raise Tampered(f"prompts/{self._workflow}: the release {active.release[:12]} is another one's")
        return Found(release.text, release.version)

    def _reader(self, folder: str) -> FolderReader:
        return FolderReader(self._source, folder, None, timeout_s=self._timeout_s)


def _of_contract(release: Release) -> Found:
    """System and user part, one after the other."""
    prompt = release.document.get("prompt")
    if not isinstance(prompt, dict):
        raise DamagedError(f"{release.feature} {release.version} has no prompt")
    parts = (str(prompt.get(part) or "").strip() for part in ("system", "user"))
    return Found("\n\n".join(part for part in parts if part), release.version)


def _ended(head: Head, today: date) -> bool:
    return head.sunset_on is not None and today >= head.sunset_on
