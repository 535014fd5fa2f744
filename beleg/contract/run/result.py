"""What a run gives back."""

from dataclasses import dataclass
from typing import Any

from beleg.contract.run.attempt import Attempt
from beleg.contract.run.exchange import Mode


@dataclass(frozen=True)
class Result:
    """An answer that meets the contract, and where it came from."""

    value: Any
    """The answer: valid under the output schema of `version`."""
    version: str
    provider: str
    model: str
    mode: Mode
    """How the provider was told the schema: `native` (it enforces it), `tool` or `prompted`."""
    attempts: tuple[Attempt, ...]
    """Every request that was made, in order."""
    run_id: str | None
    """Id of the traced run; None while tracing is off."""
    superseded_major: bool
    """Whether another major is the active one by now."""
