"""Rules about what a model must hold in its head: instructions, tools, the index of playbooks and one open body."""

from collections.abc import Iterator, Mapping

from beleg.contract.lint.finding import Severity
from beleg.contract.lint.subject import Hit, Subject, text
from beleg.contract.model import Budget
from beleg.contract.surroundings import Surroundings
from beleg.contract.tokens import Estimate, estimate, family_of
from beleg.contract.tools import Tool
from beleg.trace.canon import canonical

WHOLE = "The contract as a whole"
_COUNT = "count it: beleg agent held MODULE:ROLES --file contracts/features/<feature>/surroundings.json --write"


def held(subject: Subject) -> Iterator[Hit]:
    """L50: what grows by a tool here and a sentence there is stopped where it was agreed to stop.

    Cohorts are those of the feature's surroundings; where nobody counted these, the contract as a whole is one.
    """
    budget = subject.contract.budget
    if budget is None:
        return
    counted, family = subject.facts.surroundings, family_of(subject.contract.providers.primary.model)
    if faults := list(_uncounted(subject, budget, counted, family)):
        yield from faults
        return
    for cohort, tokens in _by_cohort(subject, counted, family).items():
        for place, most in _limits(budget, cohort):
            if hit := _past(place, cohort, tokens, most):
                yield hit


def _uncounted(subject: Subject, budget: Budget, counted: Surroundings | None, family: str) -> Iterator[Hit]:
    """Why the budget cannot be held against anything; a budget that cannot be judged is not kept."""
    if counted is None:
        if budget.cohorts:
            yield Hit("budget.cohorts", "Nobody has counted what a cohort is offered.", fix=_COUNT)
        return
    for cohort in sorted(budget.cohorts.keys() - counted.cohorts.keys()):
        there = ", ".join(map(text, sorted(counted.cohorts)))
        yield Hit("budget.cohorts", f"There is no cohort “{text(cohort)}”; there are {there}.", fix="correct its name")
    if counted.family != family:
        sentence = f"The surroundings are counted in {text(counted.family)}, the primary model is of {family}."
        yield Hit("budget", sentence, fix=f"{_COUNT} --family {family}")
    pinned = {tool.digest for tool in subject.contract.tools}
    strange = {pin for each in counted.cohorts.values() for pin in each.tools} - pinned
    if strange:
        sentence = f"{len(strange)} tools were counted that the contract does not pin, the first {min(strange)[:12]}."
        yield Hit("budget", sentence, fix=f"pin the tools that are offered, or {_COUNT}")


def _by_cohort(subject: Subject, counted: Surroundings | None, family: str) -> Mapping[str, Estimate]:
    instructions = estimate(subject.contract.prompt.system, family)
    tools = {tool.digest: _tokens(tool, family) for tool in subject.contract.tools}
    if counted is None:
        return {WHOLE: sum(tools.values(), instructions)}
    return {
        cohort: sum((tools[pin] for pin in each.tools), instructions + each.index + each.body)
        for cohort, each in counted.cohorts.items()
    }


def _tokens(tool: Tool, family: str) -> Estimate:
    """Tokens of a definition, counted as a toolset's account counts them."""
    seen = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    return estimate(canonical(seen).data.decode(), family)


def _limits(budget: Budget, cohort: str) -> Iterator[tuple[str, int]]:
    if budget.held_tokens is not None:
        yield "budget.held_tokens", budget.held_tokens
    if cohort in budget.cohorts:
        yield f"budget.cohorts.{text(cohort)}", budget.cohorts[cohort]


def _past(place: str, cohort: str, tokens: Estimate, most: int) -> Hit | None:
    """An error past the budget; a warning where only the estimate's error lies beyond it."""
    if tokens.high <= most:
        return None
    severity: Severity | None = None if tokens.tokens > most else "warning"
    verb = "holds" if severity is None else "may hold"
    who = cohort if cohort == WHOLE else f"Cohort “{text(cohort)}”"
    counted = f"{tokens.tokens} tokens ({tokens.low} to {tokens.high}, {tokens.tokenizer})"
    return Hit(place, f"{who} {verb} {counted}, allowed are {most}.", severity)


CHECKS = {"L50": held}
