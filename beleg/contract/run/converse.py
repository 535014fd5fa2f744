"""The course of a run, as a generator of what is to be done: `drive` does it, waiting or not.

One logic for `run` and `arun`: ask, try again, fall back, use tools, repair. Every request is a step of the
run's trace.
"""

import random
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from beleg.contract.client.errors import (
    InvalidAnswer,
    NoProvider,
    Refused,
    SetupError,
    VariablesInvalid,
)
from beleg.contract.client.snapshot import Snapshot
from beleg.contract.model import FALLBACK_REASONS, Provider
from beleg.contract.run.attempt import Attempt, AttemptReason, Outcome
from beleg.contract.run.exchange import Ask, Malformed, Reply, Said, Turn
from beleg.contract.run.faults import TRANSIENT, NotSetUp, ProviderBroken, ProviderFault
from beleg.contract.run.result import Result
from beleg.contract.run.toolbox import Toolbox, Use
from beleg.contract.run.vendor import WIRES
from beleg.trace.api import traced_agent_run
from beleg.trace.call import Call
from beleg.trace.run import Run

MAX_PAUSE_S = 30.0
"""Longest wait before a retry; a provider that asks for more is left for the next one."""
FIRST_PAUSE_S = 0.5
MAX_ROUNDS = 10
"""Most rounds of tool calls in one run."""
_NOT_REPAIRED = frozenset({"truncated", "size", "tool_rounds"})


@dataclass(frozen=True)
class Pause:
    """Wait."""

    seconds: float


Effect = Ask | Pause | Use
Course = Generator[Effect, Any, Result]


@dataclass
class Conversation:
    """One run while it goes on."""

    snapshot: Snapshot
    variables: Mapping[str, Any]
    toolbox: Toolbox
    options: Mapping[str, Any]
    attempts: list[Attempt] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    current: int = 0
    """Index of the provider that is asked: a run stays with the fallback it came to."""
    system: str = ""
    unset: SetupError | None = None
    """Why a fallback could not be asked from here."""

    def course(self) -> Course:
        """The whole run; raises what `Feature.run` raises."""
        release = self.snapshot.release
        if not isinstance(self.variables, Mapping):
            raise VariablesInvalid(
                [f"variables are a {type(self.variables).__name__}, not a mapping of names to values"]
            )
        given: dict[str, Any] = {"workflow": release.workflow or release.feature, **self.options}
        with traced_agent_run(
            input_payload=dict(self.variables),
            feature=release.feature,
            contract_version=release.version,
            contract_digest=release.digest,
            prompt_version=release.version,
            prompt_source="registry",
            **given,
        ) as trace:
            self.toolbox.check()
            self.system, user = self.snapshot.prepared.render(self.variables)
            self.turns.append(Said(user))
            value, provider = yield from self._answer(trace)
            trace.set_output(value)
            return Result(
                value=value,
                version=release.version,
                provider=provider.provider,
                model=provider.model,
                mode=self.snapshot.prepared.plan(provider).form.mode,
                attempts=tuple(self.attempts),
                run_id=trace.run_id,
                superseded_major=self.snapshot.superseded,
            )

    def _answer(self, trace: Run) -> Generator[Effect, Any, tuple[Any, Provider]]:
        repairs = self.snapshot.contract.providers.repair_attempts
        rounds = 0
        reason: AttemptReason | None = None
        while True:
            reply, provider = yield from self._ask(trace, reason)
            if reply.calls and reply.stop == "end" and rounds < MAX_ROUNDS:
                rounds, reason = rounds + 1, None
                self.turns += [reply, (yield from self.toolbox.use(trace, reply.calls))]
                continue
            try:
                return self._accepted(reply, provider), provider
            except InvalidAnswer as error:
                self.attempts[-1] = replace(self.attempts[-1], outcome="invalid_answer")
                if repairs == 0 or error.rule in _NOT_REPAIRED:
                    raise InvalidAnswer(error.rule, error.place, error.hint, self.attempts) from None
                repairs, reason = repairs - 1, "repair"
                self.turns += [Reply(reply.text), Said(f"{error}. Answer again, with one valid JSON value only.")]

    def _accepted(self, reply: Reply, provider: Provider) -> Any:
        if reply.calls and reply.stop == "end":
            raise InvalidAnswer("tool_rounds", hint=f"more than {MAX_ROUNDS} rounds of tool calls")
        return self.snapshot.prepared.accept(reply, self.snapshot.prepared.plan(provider))

    # -- asking ---------------------------------------------------------------------------------------

    def _ask(self, trace: Run, reason: AttemptReason | None) -> Generator[Effect, Any, tuple[Reply, Provider]]:
        """The first reply that any provider gives; raises NoProvider and Refused."""
        plan = self.snapshot.contract.providers
        providers = (plan.primary, *plan.fallbacks)
        number = 1 if reason is None else 2
        while True:
            provider = providers[self.current]
            outcome: Outcome = "answered"
            for left in reversed(range(plan.attempts)):
                outcome, answer = yield from self._once(trace, provider, number, reason)
                if isinstance(answer, Reply) and outcome == "answered":
                    return answer, provider
                number, reason = number + 1, "retry"
                pause_s = _pause_s(answer, plan.attempts - left)
                if left == 0 or outcome not in TRANSIENT or pause_s > MAX_PAUSE_S:
                    break
                yield Pause(pause_s)
            if outcome not in self._falls_back_on() or self.current + 1 == len(providers):
                raise self._gave_up(provider) from self.unset
            self.current, reason = self.current + 1, "fallback"

    def _falls_back_on(self) -> set[str]:
        """From tier 2 on a refusal or a bad request lets no fallback step in, whatever the contract says."""
        named = set(self.snapshot.contract.providers.fallback_on)
        safe = named if self.snapshot.contract.risk_tier == 1 else named & set(FALLBACK_REASONS)
        return safe | {"not_set_up"}

    def _gave_up(self, provider: Provider) -> Exception:
        last = self.attempts[-1].outcome
        if last == "refusal":
            return Refused(provider.provider, provider.model, self.attempts)
        if last == "invalid_answer":
            return InvalidAnswer("size", hint="the provider's answer is too large", attempts=self.attempts)
        return NoProvider(self.attempts)

    def _once(
        self, trace: Run, provider: Provider, number: int, reason: AttemptReason | None
    ) -> Generator[Effect, Any, tuple[Outcome, Reply | ProviderFault]]:
        """One request, traced; how it ended."""
        answer: Reply | ProviderFault
        try:
            answer = yield from self._request(trace, provider, number, reason)
            outcome: Outcome = "refusal" if answer.stop == "refusal" else "answered"
            told: tuple[int | None, str | None] = (None, None)
        except SetupError as error:
            if not self.attempts:  # the primary: nothing is to be learned from going on
                raise
            self.unset, answer, outcome, told = error, NotSetUp(), "not_set_up", (None, None)
        except ProviderFault as fault:
            answer, outcome, told = fault, fault.outcome, (fault.status, fault.code)
        self.attempts.append(Attempt(provider.provider, provider.model, number, reason, outcome, *told))
        return outcome, answer

    def _request(
        self, trace: Run, provider: Provider, number: int, reason: AttemptReason | None
    ) -> Generator[Effect, Any, Reply]:
        known: dict[str, Any] = {"attempt": number, "attempt_reason": reason, "region": provider.region}
        named = {name: value for name, value in known.items() if value is not None}
        form = self.snapshot.prepared.plan(provider).form
        with trace.step("answer", **named) as step:
            try:
                answer = yield Ask(provider, self.system, tuple(self.turns), self.toolbox.offered, form)
            except ProviderFault:
                step.record_call(Call(provider=provider.provider, api=provider.api, model=provider.model))
                raise
            # The model that answered is what is paid for; an alias may stand in the contract.
            model = None if isinstance(answer.get("model"), str) else provider.model
            step.record(answer, provider=provider.provider, model=model, api=provider.api)
            try:
                return WIRES[provider.api].reply(answer)
            except Malformed as error:
                raise ProviderBroken from error


def _pause_s(answer: Reply | ProviderFault, tries: int) -> float:
    """As long as the provider asks for; else longer each time, and not the same for all clients."""
    if isinstance(answer, ProviderFault) and answer.retry_after_s is not None:
        return answer.retry_after_s
    return min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (tries - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
