"""Days that end a feature or a major version: until then it runs and warns, from then on it raises.

They stand in the head that is held, so they hold offline and from the cache as well.
"""

import warnings
from datetime import date

from beleg.contract.client.errors import FeatureSunset, MajorExpired
from beleg.contract.client.say import warn
from beleg.contract.client.snapshot import Snapshot
from beleg.contract.registry.heads import Head


class FeatureWarning(FutureWarning):
    """A feature or major version in use has an end; shown by default, once."""


_warned: set[str] = set()


def is_sunset(head: Head, today: date) -> bool:
    """Whether the feature has ended."""
    return head.sunset_on is not None and today >= head.sunset_on


def check(held: Snapshot, major: int, today: date) -> None:
    """Raise FeatureSunset or MajorExpired where the day has come; warn once where it will."""
    head, deadline = held.head, held.pinned.deadline
    if head.sunset_on is not None and today >= head.sunset_on:
        raise FeatureSunset(head.feature, head.sunset_on)
    if held.superseded:
        if deadline is not None and today >= deadline:
            raise MajorExpired(head.feature, major, deadline, head.active.version)
        until = "" if deadline is None else f"; it runs until {deadline}"
        _warn(f"{head.feature} {major}.x is superseded, {head.active.version} is active{until}")
    if head.state != "active":
        end = "is to be left" if head.sunset_on is None else f"will be switched off on {head.sunset_on}"
        _warn(f"{head.feature} is deprecated and {end}")


def _warn(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warn("%s", text)
        warnings.warn(text, FeatureWarning, stacklevel=5)
