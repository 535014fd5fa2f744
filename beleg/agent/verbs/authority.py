"""What the agent's process cannot do whatever it calls: the only ground that survives a wrong declaration."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Authority:
    """A credential and the binding scope that it lacks.

    `probe` tries the act with the agent's own credential, where trying is harmless, and says whether it was
    refused. Without a probe the authority is stated, not proved.
    """

    credential: str
    """For example `database role agent_rw`, or `OAuth client agent`."""
    lacks: str
    """For example `UPDATE on registrations.status`, or `scope elster:submit`."""
    probe: Callable[[], bool] | None = None

    def standing(self) -> Literal["proved", "stated", "broken"]:
        """`proved` if the probe was refused now, `broken` if it was not or could not be tried."""
        if self.probe is None:
            return "stated"
        try:
            return "proved" if self.probe() is True else "broken"
        except Exception:  # noqa: BLE001 - a probe that fails proves nothing, whatever it raises
            return "broken"
