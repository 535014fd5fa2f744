"""What a toolset costs and what each omission saves, in tokens with their error and in money."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from beleg.agent.toolsets.offer import Cohort, tool_tokens
from beleg.agent.toolsets.tool import AgentTool
from beleg.agent.toolsets.toolset import MOST_TOOLS
from beleg.contract.tokens import Counter, Estimate, estimate
from beleg.core.errors import UsageError


@dataclass(frozen=True)
class Omission:
    """A group that is not offered."""

    group: str
    reason: str
    tools: tuple[str, ...]
    saves: Estimate
    """Tokens of every request that do not go along."""


@dataclass(frozen=True)
class Month:
    """Tokens and money of a month. Money is micro-USD; None where no price was given.

    `uncached` is the price of tool definitions sent anew every time, `cached` of reading them from the prefix
    cache every time: what is paid lies between the two.
    """

    requests: int
    tokens: Estimate
    uncached_micro_usd: int | None
    cached_micro_usd: int | None


@dataclass(frozen=True)
class Account:
    """One cohort's tools in tokens of one family of models."""

    cohort: str
    family: str
    tools: tuple[tuple[str, Estimate], ...]
    omissions: tuple[Omission, ...]
    core_tokens: Estimate
    """What all users share as a prefix."""
    warnings: tuple[str, ...]

    @property
    def offered_tokens(self) -> Estimate:
        """Tokens of the tool definitions that go with every request."""
        return total((tokens for _, tokens in self.tools), self.family)

    @property
    def saved_tokens(self) -> Estimate:
        """Tokens of every request that the omissions save."""
        return total((each.saves for each in self.omissions), self.family)


def account(cohort: Cohort, family: str, *, by: Counter = estimate) -> Account:
    """The account of a cohort in a family of models (`beleg.contract.tokens.FAMILIES`).

    `by` is `beleg.contract.tokens.count` for exact figures, or a calibration's `by`.
    """
    tools = tuple((tool.name, tool_tokens(tool, family, by)) for tool in cohort.tools)
    omissions = tuple(
        Omission(
            group.name,
            f"{group.when.name} does not hold" if group.when else "",
            tuple(tool.name for tool in group.tools),
            tools_tokens(group.tools, family, by),
        )
        for group in cohort.left_out
    )
    core = total((tokens for _, tokens in tools[: cohort.core]), family)
    return Account(cohort.name, family, tools, omissions, core, tuple(_warnings(cohort)))


def month(tokens: Estimate, requests: int, *, price: int | None = None, cached_price: int | None = None) -> Month:
    """So many tokens in each of so many requests; prices in micro-USD per million tokens."""
    if requests < 0:
        raise UsageError(f"{requests} requests a month: it must be 0 or more")
    each = Estimate(tokens.tokens * requests, tokens.low * requests, tokens.high * requests, tokens.tokenizer)
    return Month(requests, each, _micro_usd(each.tokens, price), _micro_usd(each.tokens, cached_price))


def total(estimates: Iterable[Estimate], family: str) -> Estimate:
    """All together; nothing costs nothing."""
    return sum(estimates, Estimate(0, 0, 0, f"estimate:{family}"))


def tools_tokens(tools: tuple[AgentTool, ...], family: str, by: Counter = estimate) -> Estimate:
    """Tokens of several definitions."""
    return total((tool_tokens(tool, family, by) for tool in tools), family)


def _micro_usd(tokens: int, price: int | None) -> int | None:
    """Tokens times price is pico-USD; half even, once, at the end."""
    return None if price is None else round(Fraction(tokens * price, 1_000_000))


def _warnings(cohort: Cohort) -> Iterator[str]:
    count = len(cohort.by_name)
    if count > MOST_TOOLS:
        yield f"{count} tools are past {MOST_TOOLS}: models get worse at choosing; split the audience, or defer a group"
