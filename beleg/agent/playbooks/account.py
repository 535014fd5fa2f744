"""What playbooks cost in context, and what writing them all into the prompt would have cost."""

from dataclasses import dataclass

from beleg.agent.playbooks.index import Playbooks
from beleg.contract.tokens import Estimate, estimate


@dataclass(frozen=True)
class Account:
    """Tokens of one family of models."""

    family: str
    index: Estimate
    """In every request."""
    bodies: tuple[tuple[str, Estimate], ...]
    """By playbook; at most one of them in a request."""
    inlined: Estimate
    """All bodies in every request."""

    @property
    def largest(self) -> Estimate:
        """The largest body."""
        return max((tokens for _, tokens in self.bodies), key=lambda each: each.tokens, default=self._nothing)

    @property
    def index_factor(self) -> float | None:
        """How many times as much inlining takes as the index, while no playbook is open; None without an index."""
        return self.inlined.tokens / self.index.tokens if self.index.tokens else None

    @property
    def open_factor(self) -> float | None:
        """The same while the largest playbook is open: never more than the number of playbooks."""
        held = self.index.tokens + self.largest.tokens
        return self.inlined.tokens / held if held else None

    @property
    def _nothing(self) -> Estimate:
        return Estimate(0, 0, 0, f"estimate:{self.family}")


def account(playbooks: Playbooks, family: str) -> Account:
    """The account of playbooks in a family of models; raises UsageError for an unknown one."""
    index = estimate("".join(f"{each.entry}\n" for each in playbooks.all), family)
    bodies = tuple((each.name, estimate(each.opened, family)) for each in playbooks.all)
    nothing = Estimate(0, 0, 0, f"estimate:{family}")
    inlined = sum((estimate(each.body, family) for each in playbooks.all), nothing)
    return Account(family, index, bodies, inlined)
