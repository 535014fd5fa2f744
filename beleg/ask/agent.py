"""What surrounded the agents over some days: tools offered and used, tokens held, playbooks, the prompt cache."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from beleg.ask.desk import Desk, Record, desk
from beleg.core.errors import CheckFailed
from beleg.core.settings import Settings
from beleg.cost.figures import Period
from beleg.cost.money import divide_half_even

MONTH_DAYS = 30
"""What a month is taken for, where a figure of some days is carried over to one."""
_TABLES = ("workflow_traffic", "tool_usage", "held_tokens", "playbook_hits", "cache_misses")


@dataclass(frozen=True)
class Tool:
    """A tool of a workflow; `sums` are those of `tool_usage` over the days."""

    sums: Record
    days: int
    """Business days from the first on which it was offered to the last of the period."""

    @property
    def is_idle(self) -> bool:
        """Offered, and never called."""
        return bool(self.sums["offering_requests"]) and not self.sums["calls"]

    @property
    def tokens_per_call(self) -> int | None:
        """Definition tokens that were sent for each call; None without a call or a known toolset."""
        calls, offered = self.sums["calls"], self.sums["offering_requests"]
        return int(self.sums["sent_tokens"]) // calls if calls and offered else None

    @property
    def month_pico_usd(self) -> int | None:
        """What its definition costs in a month at that rate, and what dropping it saves; None where nothing tells."""
        offered, tax = self.sums["offering_requests"], int(self.sums["tax_pico_usd"])
        if not offered or self.sums["untaxed_requests"] == offered:
            return None
        return divide_half_even(tax * MONTH_DAYS, self.days)


class Stats(NamedTuple):
    """Answers over a period; each a list of sums, from which shares and means are taken where they are shown."""

    period: Period
    surface: list[Record]
    tools: list[Tool]
    held: list[Record]
    playbooks: list[Record]
    misses: list[Record]
    layouts: list[Record]


def stats(settings: Settings, *, days: int, workflow: str | None = None) -> Stats:
    """Production runs of the last `days` business days up to the last with any; raises CheckFailed without runs."""
    with desk(settings) as at:
        at.lay(dict.fromkeys(_TABLES))
        last = at.ask("agent_range")[0]["last_day"]
        period = _period(last, days)
        at.lay(dict.fromkeys(_TABLES, _months(period)))
        asked = {**period.parameters, "workflow": workflow}
        found = Stats(
            period,
            _rows(at, "agent_surface", asked),
            [_tool(row, period) for row in _rows(at, "agent_tools", asked)],
            *(_rows(at, f"agent_{name}", asked) for name in ("held", "playbooks", "misses", "layouts")),
        )
    if not found.surface:
        of = f" of workflow {workflow!r}" if workflow else ""
        raise CheckFailed(f"no production runs{of} in these {days} days: `beleg costs` lists workflows, --days more")
    return found


def mean(total: int | None, of: int | None) -> int | None:
    """A sum over a count, whole, rounded half to even; None where nothing was counted."""
    return divide_half_even(int(total or 0), of) if of else None


def _rows(at: Desk, name: str, asked: dict[str, Any]) -> list[Record]:
    return at.ask(name, **asked)


def _tool(row: Record, period: Period) -> Tool:
    since = row["first_offered"] or period.first
    return Tool(row, (period.last - since).days + 1)


def _period(last: date | None, days: int) -> Period:
    """The days up to the last one; as many as there can be, where a number asks for more than the calendar has."""
    end = last or date.min
    return Period(end - timedelta(days=min(days, end.toordinal()) - 1), end)


def _months(period: Period) -> Iterable[str]:
    months = period.first.year * 12 + period.first.month - 1, period.last.year * 12 + period.last.month
    return [f"{month // 12:04d}-{month % 12 + 1:02d}" for month in range(*months)]
