"""One released version as a reader holds it: immutable, checked, swapped as a whole."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from beleg.contract.client.errors import MajorUnknown, Tampered
from beleg.contract.registry.heads import Head, MajorHead
from beleg.contract.registry.names import Version
from beleg.contract.registry.releases import Release
from beleg.core.errors import DamagedError

if TYPE_CHECKING:
    from beleg.contract.model import Contract
    from beleg.contract.run.prepared import Prepared


@dataclass(frozen=True)
class Snapshot:
    """What a head says about a major, and the release it names."""

    head: Head
    pinned: MajorHead
    release: Release

    @property
    def superseded(self) -> bool:
        """Whether another major is the active one."""
        return Version.parse(self.head.active.version).major != Version.parse(self.pinned.version).major

    @cached_property
    def contract(self) -> "Contract":
        """The contract; raises Tampered for one that is none, or whose tools are not as pinned."""
        try:
            contract = self.release.contract
        except DamagedError as error:
            raise Tampered(str(error)) from error
        for tool in contract.tools:
            if tool.binding:
                raise Tampered(
                    f"{self._name} is refused: its tool {tool.name!r} binds, which no tool of a contract may"
                )
            if tool.digest != tool.pin():
                raise Tampered(f"{self._name} is refused: its tool {tool.name!r} is not as it was pinned")
        return contract

    @cached_property
    def prepared(self) -> "Prepared":
        """Templates and validators, compiled once."""
        from beleg.contract.run.prepared import Prepared  # noqa: PLC0415 - loading needs neither

        return Prepared(self.contract)

    @property
    def _name(self) -> str:
        return f"{self.release.feature} {self.release.version}"


def major_of(head: Head, major: int) -> MajorHead:
    """What a head says about a major; raises MajorUnknown."""
    found = head.majors.get(major)
    if found is None:
        known = ", ".join(map(str, sorted(head.majors)))
        raise MajorUnknown(f"{head.feature} was never released as {major}.x; its majors: {known}")
    return found


def check_release(release: Release, pinned: MajorHead, feature: str) -> None:
    """Raise Tampered for a release that is not the one its head means, or that holds a binding tool."""
    meant = (feature, pinned.version, pinned.digest)
    if (release.feature, release.version, release.digest) != meant:
        raise Tampered(
            f"{feature}: the release {pinned.release[:12]} is {release.feature} {release.version}, not {pinned.version}"
        )
    for tool in release.document.get("tools") or ():
        if tool.get("binding") is not False:
            raise Tampered(f"{feature} {release.version} is refused: {tool.get('name')!r} may bind, as no tool may")
