"""What a check of the agent's surroundings says about one place."""

from dataclasses import asdict, dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """One rule that does not hold at one place."""

    rule: str
    """Name of the rule, for example `trigger-missing`."""
    severity: Severity
    """An error fails the check, a warning is shown, an info is advice."""
    place: str
    """Where: a file with its line, a segment, a tool, a cohort."""
    sentence: str
    fix: str

    def to_dict(self) -> dict[str, str]:
        """JSON-ready values."""
        return asdict(self)
