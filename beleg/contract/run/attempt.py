"""What a run records about each request it makes."""

from dataclasses import dataclass
from typing import Literal

AttemptReason = Literal["retry", "fallback", "repair"]
Outcome = Literal[
    "answered",
    "timeout",
    "connection",
    "rate_limit",
    "server_error",
    "bad_request",
    "refusal",
    "invalid_answer",
    "not_set_up",
]


@dataclass(frozen=True)
class Attempt:
    """One request to a provider and how it ended."""

    provider: str
    model: str
    number: int
    """Counts from 1 within one question; a new round after tool calls begins anew."""
    reason: AttemptReason | None
    """Why it was made; None for the first."""
    outcome: Outcome
    status: int | None = None
    """HTTP status where the provider answered with an error."""
    code: str | None = None
    """The provider's own word for that, for example `model_not_found`."""

    def __str__(self) -> str:
        more = [str(each) for each in (self.status, self.code) if each is not None]
        return " ".join([f"{self.provider}/{self.model}: {self.outcome}", *more])
