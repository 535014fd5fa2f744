"""How often somebody has tried to pass with these cases: an append-only ledger, and what it means for the next try.

`ledger/gate_attempts.jsonl` below BELEG_HOME. A line is one run of the gate that came to a verdict. Which attempt a
candidate is depends on the candidates before it, never on how often it was looked at; so the same inputs keep
their number. Source of the rules: docs/statistics.md (re-use of one frozen set, repeated looks).
"""

import json
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from beleg.core.errors import DamagedError
from beleg.core.lock import hold
from beleg.core.settings import Settings
from beleg.evals.gate.plan import Plan, Verdict
from beleg.evals.gate.policy import Rules
from beleg.evals.stats import attempt_alpha, look_alpha

FILE = "gate_attempts.jsonl"
_SHARED = 0.5
"""An attempt counts against the present cases if at least this share of them was in it."""


@dataclass(frozen=True)
class Attempt:
    """One run of the gate that came to a verdict."""

    feature: str
    candidate_digest: str
    baseline_digest: str | None
    policy_digest: str
    dataset_digest: str
    repetitions: int
    answers: int
    """How often the candidate was asked afresh: 1 for the first time."""
    case_ids: tuple[str, ...]
    verdict: Verdict
    void: bool
    """Whether so much was missing, or so unlike, that the verdict says nothing: no look then."""
    at: str
    """When it was written down, RFC 3339; no part of what makes two attempts the same."""

    @property
    def candidate(self) -> tuple[str, str]:
        """What tries to pass: a candidate under a policy, for rules that change are a new attempt."""
        return self.candidate_digest, self.policy_digest

    @property
    def look(self) -> tuple[str, int, int]:
        """At what the candidate was looked at."""
        return self.dataset_digest, self.repetitions, self.answers

    def shares(self, case_ids: frozenset[str]) -> bool:
        """Whether at least half of these cases were in it."""
        return len(case_ids.intersection(self.case_ids)) >= _SHARED * len(case_ids)


@dataclass(frozen=True)
class Standing:
    """What earlier attempts mean for this one."""

    attempt: int = 1
    """1 for the first candidate that is tried on these cases."""
    look: int = 1
    """1 for the first set of cases that this candidate is tried on."""
    looked_in_vain: bool = False
    """Whether an earlier look at other cases, or at other answers to the same ones, did not pass."""

    def alpha(self, rules: Rules) -> float:
        """The level of each test now: spent over attempts where the tier says so, and over declared looks."""
        alpha = rules.tier.alpha
        if rules.tier.attempts == "spend":
            alpha = attempt_alpha(self.attempt, alpha)
        return look_alpha(rules.looks, alpha) if isinstance(rules.looks, int) else alpha

    def spent(self, rules: Rules) -> float:
        """The level of a test that has no e-value: over looks that nobody counted it is spent, as over attempts."""
        alpha = self.alpha(rules)
        return attempt_alpha(self.look, alpha) if rules.looks == "sequential" else alpha


def standing(earlier: Iterable[Attempt], plan: Plan, rules: Rules, answers: int = 1) -> Standing:
    """Where a plan stands after earlier attempts, in the order of the ledger; itself may be among them.

    `answers` says how often the candidate was asked afresh.
    """
    case_ids = frozenset(plan.by_id)
    counted = [each for each in earlier if each.feature == plan.feature and each.shares(case_ids)]
    me = (plan.candidate.digest, rules.digest)
    candidates = list(dict.fromkeys(each.candidate for each in counted))
    attempt = candidates.index(me) + 1 if me in candidates else len(candidates) + 1
    baseline = None if plan.baseline is None else plan.baseline.digest
    mine = [each for each in counted if each.candidate == me and each.baseline_digest == baseline and not each.void]
    here = (plan.dataset_digest, plan.repetitions, answers)
    looks = list(dict.fromkeys(each.look for each in mine))
    look = looks.index(here) if here in looks else len(looks)
    before = {each.look for each in mine if each.look in looks[:look] and each.verdict != "pass"}
    asked = _asked_before(counted, me, answers)
    unseen = asked - {each.answers for each in mine}
    return Standing(attempt, max(look, len(asked)) + 1, bool(before or unseen))


def _asked_before(counted: Iterable[Attempt], me: tuple[str, str], answers: int) -> set[int]:
    """Earlier rounds of answers to the same cases: scores can be read without a gate, so each of them was a look.

    One of which the gate found that it said nothing, for example for an outage, was none.
    """
    void = {each.answers for each in counted if each.candidate == me and each.void}
    return set(range(1, answers)) - void


class Ledger:
    """The attempts of an installation while nobody else writes any: to be numbered, judged and written as one step."""

    def __init__(self, path: Path) -> None:
        self._path = path
        data = path.read_bytes() if path.exists() else b""
        self._complete = data.rfind(b"\n") + 1
        lines = data[: self._complete].splitlines()
        self.attempts = [_attempt(line, number) for number, line in enumerate(lines, 1)]

    def record(self, attempt: Attempt) -> None:
        """Write an attempt down for good, unless just that is written already; what a killed writer left goes."""
        if any(replace(each, at=attempt.at) == attempt for each in self.attempts):
            return
        line = json.dumps(asdict(attempt), separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        with self._path.open("ab") as file:
            file.truncate(self._complete)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._complete += len(line)
        self.attempts.append(attempt)


@contextmanager
def ledger(settings: Settings) -> Generator[Ledger]:
    """Hold the ledger; raises DamagedError for a line that is none, Busy where another gate runs for long."""
    with hold(settings.ledger / f".{FILE}.lock", wait_s=600):
        yield Ledger(settings.ledger / FILE)


def _attempt(line: bytes, number: int) -> Attempt:
    try:
        values: dict[str, Any] = json.loads(line)
        return Attempt(**{**values, "case_ids": tuple(values["case_ids"])})
    except (ValueError, TypeError, KeyError) as error:
        raise DamagedError(f"ledger/{FILE} is damaged in line {number}: {error}") from error
