"""A registry in a local folder: the typed whole over its shelves. Writers go through `beleg.contract.promotion`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beleg.contract.encoding import encode
from beleg.contract.registry import catalogue
from beleg.contract.registry.fields import FORMAT, Fields, parse
from beleg.contract.registry.names import feature_name, workflow_name
from beleg.contract.registry.records import Entry, Head, PromptHead, PromptRelease, Published, Release
from beleg.contract.registry.shelf import Shelf, put, read
from beleg.core.errors import DamagedError, UsageError

PUBLISH = "publish"
"""The verb of the entries that brought a version into being."""
ADD = "add"
"""The same for prompts of workflows without a contract."""


class Registry:
    """Reads what was published. Raises DamagedError for content that is not as it was written."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def of(cls, home: Path) -> "Registry":
        """The registry of an installation: `BELEG_REGISTRY`, else `registry/` in its home.

        Raises UsageError where `BELEG_REGISTRY` is an address, which applications can only read.
        """
        place = os.environ.get("BELEG_REGISTRY") or str(home / "registry")
        if "://" in place:
            raise UsageError(
                f"BELEG_REGISTRY={place!r} can be read by applications only; point it at a folder here, and send that "
                "there with: beleg contract push"
            )
        return cls(Path(place).expanduser().resolve())

    def features(self) -> list[str]:
        """Names of the features that were published, by name."""
        return sorted(path.parent.name for path in (self.root / "features").glob("*/head.json"))

    def shelf(self, feature: str) -> Shelf:
        """The folder of a feature; raises UsageError for a name that can be none."""
        return Shelf(self.root / "features" / feature_name(feature))

    def head(self, feature: str) -> Head | None:
        """What holds for a feature now; None before it was first published."""
        values = self.shelf(feature).head()
        if values is None:
            return None
        head = Head.from_json(values, f"features/{feature}/head.json")
        if head.feature != feature:
            raise DamagedError(f"features/{feature}/head.json is damaged: it is of {head.feature}")
        return head

    def history(self, feature: str) -> list[Entry]:
        """Every step from the first publication."""
        return self.shelf(feature).history()

    def releases(self, feature: str) -> list[Release]:
        """Every published version, in the order of publication."""
        return [self.released(feature, version) for version in self.published(feature)]

    def published(self, feature: str) -> list[Published]:
        """Where every published version is, from the history alone: no release is read."""
        entries = (entry for entry in self.history(feature) if entry.verb == PUBLISH)
        return [Published.read(Fields(entry.head, feature).part("active")) for entry in entries]

    def released(self, feature: str, version: Published) -> Release:
        """A published version, which must be the one that head or history calls so."""
        release = Release.from_bytes(self.shelf(feature).release(version.release), version.release)
        if (release.feature, release.version, release.digest) != (feature, version.version, version.digest):
            found = f"{release.feature} {release.version}"
            raise DamagedError(f"features/{feature}/releases/{version.release}.json is damaged: it is {found}")
        return release

    def release(self, sha: str) -> Release:
        """The published version at an address; raises UsageError where no feature has it."""
        found = next((name for name in self.features() if self._holds(name, sha)), None)
        if found is None:
            raise UsageError(f"no published version has the address {sha[:70]!r}")
        return Release.from_bytes(self.shelf(found).release(sha), sha)

    def _holds(self, feature: str, sha: str) -> bool:
        return any(
            each.name == f"{sha}.json" for each in (self.root / "features" / feature / "releases").glob("*.json")
        )

    def active(self, feature: str) -> Release | None:
        """The active version; None before the first."""
        head = self.head(feature)
        return None if head is None else self.released(feature, head.active)

    def catalogue(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        """(name, version) → entry of every tool of the catalogue."""
        return catalogue.entries(self.root / "tools")

    def write_tool(
        self, *, name: str, version: str, description: str, input_schema: Mapping[str, Any], binding: bool
    ) -> Path:
        """Add a version of a tool to the catalogue; raises UsageError where it stands there with other content."""
        values = {"name": name, "version": version, "description": description, "input_schema": input_schema}
        return catalogue.write(self.root / "tools", {**values, "binding": binding})

    def workflows(self) -> list[str]:
        """Workflows with prompts of their own, by name."""
        return sorted(path.parent.name for path in (self.root / "prompts").glob("*/head.json"))

    def prompt_shelf(self, workflow: str) -> Shelf:
        """The folder of a workflow's prompts; raises UsageError for a name that can be none."""
        return Shelf(self.root / "prompts" / workflow_name(workflow))

    def prompt_head(self, workflow: str) -> PromptHead | None:
        """Which prompt of a workflow without a contract is active; None before the first was added."""
        values = self.prompt_shelf(workflow).head()
        if values is None:
            return None
        head = PromptHead.from_json(values, f"prompts/{workflow}/head.json")
        if head.workflow != workflow:
            raise DamagedError(f"prompts/{workflow}/head.json is damaged: it is of {head.workflow}")
        return head

    def prompt_releases(self, workflow: str) -> list[PromptRelease]:
        """Every prompt of a workflow that was added, in that order."""
        shelf = self.prompt_shelf(workflow)
        added = (Fields(entry.details, workflow).sha("release") for entry in shelf.history() if entry.verb == ADD)
        return [PromptRelease.from_bytes(shelf.release(sha), sha) for sha in added]

    def serving(self, workflow: str) -> list[str]:
        """Features whose active version serves a workflow: `beleg.prompt` takes the prompt from there."""
        active = ((name, self.active(name)) for name in self.features())
        return [name for name, release in active if release is not None and release.workflow == workflow]

    def index(self, workflow: str) -> list[str]:
        """Features named in `prompts/<workflow>/features.json`, where readers without a listing look first.

        It may name more than serve the workflow, never less; the active release of a feature decides.
        """
        path = self.root / "prompts" / workflow_name(workflow) / "features.json"
        name = f"prompts/{workflow}/features.json"
        data = read(path, name)
        if data is None:
            return []
        fields = Fields(parse(data, name), name)
        fields.one_of("format", (FORMAT,))
        fields.one_of("workflow", (workflow,))
        features = fields.values.get("features")
        if not isinstance(features, list) or not all(isinstance(each, str) for each in features):
            fields.wrong("features", "a list of names")
        return features

    def add_to_index(self, workflow: str, feature: str) -> None:
        """Name a feature in its workflow's index, before its head does."""
        from beleg.core.lock import folder_writer  # noqa: PLC0415 - readers on Windows have no such lock

        folder = self.root / "prompts" / workflow_name(workflow)
        with folder_writer(folder):
            known = self.index(workflow)
            if feature not in known:
                whole = {"format": FORMAT, "workflow": workflow, "features": sorted({*known, feature})}
                put(folder / "features.json", encode(whole) + b"\n")
