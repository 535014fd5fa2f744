"""What sessions of coding agents cost, by project, and how much of their input came from the cache."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from beleg.ask.desk import Record, desk
from beleg.core.settings import Settings
from beleg.cost.money import divide_half_even, exact_usd_text, usd_text

_PICO_PER_MICRO = 10**6
_SUMS = ("sessions", "calls", "unpriced_steps", "input_tokens", "cache_read_tokens", "output_tokens", "cost_pico_usd")


@dataclass(frozen=True)
class Spent:
    """Sessions of one agent in one project, or a sum of such; every count is a sum."""

    agent: str | None
    project: str | None
    """Last part of the folder the agent worked in; None where it is not known, and in a sum."""
    sessions: int
    calls: int
    unpriced_steps: int
    """Calls without a known price, whose cost is missing."""
    input_tokens: int
    cache_read_tokens: int
    """Of the input tokens, those read from the cache."""
    output_tokens: int
    cost_pico_usd: int

    @property
    def per_session_pico_usd(self) -> int | None:
        """Cost of a session, to the micro-USD; None without sessions or where no call has a price."""
        if self.sessions == 0 or (self.calls and self.unpriced_steps >= self.calls):
            return None
        return divide_half_even(self.cost_pico_usd, self.sessions * _PICO_PER_MICRO) * _PICO_PER_MICRO

    @property
    def cache_share(self) -> float | None:
        """Share of the input tokens that came from the cache; None without input."""
        return None if self.input_tokens == 0 else self.cache_read_tokens / self.input_tokens

    def record(self) -> dict[str, Any]:
        """For machines: money as decimal text, unknown as None."""
        each, share = self.per_session_pico_usd, self.cache_share
        return {
            "agent": self.agent,
            "project": self.project,
            "sessions": self.sessions,
            "calls": self.calls,
            "unpriced_steps": self.unpriced_steps,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_share": None if share is None else round(share, 6),
            "cost_usd": usd_text(self.cost_pico_usd),
            "cost_exact_usd": exact_usd_text(self.cost_pico_usd),
            "cost_per_session_usd": None if each is None else usd_text(each),
        }


@dataclass(frozen=True)
class Sessions:
    """All published sessions of some agents."""

    projects: Sequence[Spent]
    """By agent and project, the dearest first."""
    unpriced: Sequence[Record]
    """agent, model, reason, calls: what is missing in the cost."""

    @property
    def total(self) -> Spent:
        """The sum of all projects."""
        return Spent(None, None, *(sum(getattr(one, name) for one in self.projects) for name in _SUMS))

    def record(self) -> dict[str, Any]:
        """For machines."""
        return {
            "projects": [one.record() for one in self.projects],
            "total": self.total.record(),
            "unpriced": list(self.unpriced),
        }


def sessions(settings: Settings, agents: Collection[str]) -> Sessions:
    """The sessions of these agents, named as their formats are. Raises UsageError where nothing is published."""
    with desk(settings) as at:
        at.lay({"run_costs": None, "step_costs": None})
        rows = at.ask("sessions", agents=sorted(agents))
        unpriced = at.ask("sessions_unpriced", agents=sorted(agents))
    return Sessions(
        [Spent(row["agent"], row["project"], *(int(row[name]) for name in _SUMS)) for row in rows], unpriced
    )
