"""What an application can see of how current its feature is."""

from dataclasses import dataclass
from typing import Literal

State = Literal["fresh", "stale", "offline", "gone", "forbidden", "sunset"]


@dataclass(frozen=True)
class Freshness:
    """How current a feature is, and what went wrong since."""

    state: State
    age_s: float | None
    """Seconds since the registry last confirmed the version; None if it never did."""
    epoch: int | None
    """Counts the changes of the feature; never goes back."""
    failures: int
    """Failed questions to the registry since the process started."""
    error: str | None
    """Why the last question failed; None after one that was answered."""
    unwritten_copies: int
    """Copies that could not be written to disk: the next cold start may need the registry."""
