"""The rules of a table, read from its contract; each is a SQL condition under which a row breaks it."""

from dataclasses import dataclass
from typing import Literal

from beleg.core.contracts import TableContract
from beleg.lake.engine import identifier

Severity = Literal["error", "warn"]
COLUMNS = "columns"
"""The rule that columns and types are those of the contract."""
KEY = "unique_key"
"""The rule that the primary key is unique."""


@dataclass(frozen=True)
class Rule:
    """One thing that every row must meet."""

    name: str
    """Unique in its table: `columns`, `unique_key`, `required_<column>` or the name in the contract."""
    meaning: str
    severity: Severity = "error"
    broken_by: str | None = None
    """SQL condition of a row that breaks the rule; None for a rule about the table as a whole."""


def rules(contract: TableContract) -> tuple[Rule, ...]:
    """All rules of a table, in the order in which they are shown."""
    key = ", ".join(contract.primary_key)
    whole = (
        Rule(COLUMNS, "columns and their types are those of the contract"),
        Rule(KEY, f"no two rows have the same {key}"),
    )
    required = tuple(
        Rule(f"required_{c.name}", f"{c.name} is never null", broken_by=f"{identifier(c.name)} IS NULL")
        for c in contract.columns
        if c.required
    )
    own = tuple(
        Rule(name, sql, "warn" if name in contract.notices else "error", f"NOT ({sql})")
        for name, sql in contract.checks
    )
    return (*whole, *required, *own)
