"""What a comparison of two schemas says: the bump it asks for, every change, and values that prove them."""

from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

from beleg.core.errors import UsageError

Bump = Literal["none", "patch", "minor", "major"]
WitnessKind = Literal["reader", "rollback"]
Schema = dict[str, Any] | bool

BUMPS: Final[tuple[Bump, ...]] = ("none", "patch", "minor", "major")


class SchemaError(UsageError):
    """What was handed in is no JSON Schema; the message names the place and what is allowed there."""


class Unprovable(Exception):
    """The comparison cannot be decided. Internal: `compare` turns it into a verdict."""

    def __init__(self, reason: str, rule: str = "R62") -> None:
        super().__init__(reason)
        self.reason = reason
        self.rule = rule


class _NoWitness:
    """The only value that is no JSON value: there is no witness."""

    def __repr__(self) -> str:
        return "NO_WITNESS"

    def __bool__(self) -> bool:
        return False


NO_WITNESS: Final = _NoWitness()


@dataclass(frozen=True)
class Change:
    """One change between two schemas."""

    rule: str
    """Rule of docs/schema-changes.md, such as `R03`."""
    bump: Bump
    pointer: str
    """JSON pointer into the new schema, or into the old one where the thing was removed."""
    sentence: str
    witness: Any = NO_WITNESS
    """A whole result that proves the change; NO_WITNESS where there is none (None is a JSON value)."""
    witness_kind: WitnessKind | None = None
    """`reader`: valid now and unreadable before. `rollback`: valid before and unreadable now."""
    against: int | None = None
    """Index of the published version compared with, where there were several."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `witness` is left out where there is none."""
        record: dict[str, Any] = {
            "rule": self.rule,
            "bump": self.bump,
            "pointer": self.pointer,
            "sentence": self.sentence,
            "witness_kind": self.witness_kind,
            "against": self.against,
        }
        return record if self.witness is NO_WITNESS else record | {"witness": self.witness}


class Told(Protocol):
    """What changed, as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""


T = TypeVar("T", bound=Told)


@dataclass(frozen=True)
class Verdict(Generic[T]):
    """What some changes come to for readers."""

    bump: Bump
    changes: tuple[T, ...] = ()
    """Worst first."""
    reader_safe: bool = True
    """Readers built on the old schema can read every value of the new one; False where that is not proved."""
    rollback_safe: bool = True
    """Readers built on the new schema can read every value of the old one; False where that is not proved."""
    unprovable: bool = False
    """Called major because nothing could be proved, not because something is known to break."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "bump": self.bump,
            "reader_safe": self.reader_safe,
            "rollback_safe": self.rollback_safe,
            "unprovable": self.unprovable,
            "changes": [change.to_dict() for change in self.changes],
        }


@dataclass(frozen=True)
class Comparison(Verdict[Change]):
    """The verdict over two schemas."""


def worst(bumps: list[Bump]) -> Bump:
    """The worst of some bumps; `none` for no bumps."""
    return max(bumps, key=BUMPS.index, default="none")


def _order(change: Change) -> tuple[int, bool, bool, bool, str, str, int]:
    reader = change.witness_kind == "reader"
    return (
        -BUMPS.index(change.bump),
        not reader,
        change.witness is NO_WITNESS,
        change.rule == "R01",  # what is new is the least surprise
        change.rule,
        change.pointer,
        change.against or 0,
    )


def in_order(changes: list[Change]) -> tuple[Change, ...]:
    """Worst first; among equals those that break a reader, then those with a witness, by rule and place."""
    return tuple(sorted(changes, key=_order))
