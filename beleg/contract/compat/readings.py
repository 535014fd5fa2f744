"""How a schema is read: as what is valid, or as what its readers can read."""

from typing import NamedTuple

from beleg.contract.compat.entries import Entries
from beleg.contract.compat.scope import Scope


class Reading(NamedTuple):
    """How a subschema is read."""

    lenient: bool = False
    """True for what a reader can read, False for what is valid."""
    scope: Scope | None = None
    """The members that count at this place; None for all."""
    guarded: bool = False
    """Whether other schemas speak about the members of the same value."""
    entries: Entries | None = None
    """What is left of the entries of a list that is counted; None where all is."""

    @property
    def exactly(self) -> "Reading":
        """What is valid of what is left."""
        return Reading(scope=self.scope, entries=self.entries)


STRICT = Reading()
LENIENT = Reading(lenient=True)
