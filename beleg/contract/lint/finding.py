"""What lint says about one place of a contract."""

from dataclasses import asdict, dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Worst first: an error blocks publishing, a warning is shown, an info is advice."""


@dataclass(frozen=True)
class Finding:
    """One rule that does not hold at one place."""

    rule: str
    """`L01` to `L50`; docs/contract/lint.md lists them."""
    severity: Severity
    """As the contract's risk tier has it."""
    place: str
    """Part and place within it: `prompt.system`, `output_schema#/properties/total`, `tools.lookup_account`."""
    sentence: str
    fix: str
    guide: str
    """Page and anchor below docs/contract/<language>/: `prompt.md#variables`."""

    def to_dict(self) -> dict[str, str]:
        """JSON-ready values."""
        return asdict(self)
