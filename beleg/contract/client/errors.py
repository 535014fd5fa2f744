"""What can go wrong between an application and its feature, named by its consequence.

BelegError
└── ClientError
    ├── Unreachable        the registry gives no answer now; what is cached serves meanwhile
    ├── Forbidden          the registry refuses; nothing is served
    ├── TooStale           what is cached was confirmed too long ago
    ├── Outdated           the registry answers with less than it said before; ignored
    ├── Tampered           content is not as it was published; refused
    ├── FeatureGone        the registry has no such feature (any more)
    ├── FeatureSunset      the feature has ended
    ├── MajorUnknown       the feature has no such major version
    ├── MajorExpired       the time to leave this major is over
    └── RunError
        ├── VariablesInvalid   what the caller handed over does not fit
        ├── ToolsInvalid       a tool is none of the contract's, or gave back what cannot be sent
        ├── PromptInvalid      the prompt's template cannot be rendered
        ├── SetupError         a provider cannot be asked from here: no key, no address, no package
        ├── NoProvider         nobody could be reached; lists all attempts
        ├── Refused            the model declined
        └── InvalidAnswer      the answer breaks the contract; names rule and place, never the payload
"""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from beleg.core.errors import BelegError, DamagedError, UsageError

if TYPE_CHECKING:
    from beleg.contract.run.attempt import Attempt


class ClientError(BelegError):
    """Base of what `beleg.load` and a feature raise."""


class Unreachable(ClientError):
    """The registry gives no answer (network, timeout, server error)."""


class Forbidden(ClientError):
    """The registry answers that this reader may not see it."""


class TooStale(ClientError):
    """The registry was out of reach for longer than `max_stale_s`."""


class Outdated(ClientError):
    """The registry answers with a lower epoch than it had: a replica that lags behind, or one set back."""


class Tampered(ClientError, DamagedError):
    """Bytes do not have the digest under which they were published."""


class FeatureGone(ClientError, UsageError):
    """The registry answers that there is no such feature."""


class FeatureSunset(ClientError):
    """The feature ended on `sunset_on`."""

    def __init__(self, feature: str, sunset_on: date) -> None:
        self.feature, self.sunset_on = feature, sunset_on
        super().__init__(f"{feature} was switched off on {sunset_on}; its owner says what replaces it")


class MajorUnknown(ClientError, UsageError):
    """The feature was never released in this major version."""


class MajorExpired(ClientError):
    """A newer major superseded this one and its migration deadline is over."""

    def __init__(self, feature: str, major: int, deadline: date, active: str) -> None:
        self.feature, self.major, self.deadline, self.active = feature, major, deadline, active
        super().__init__(f"{feature} {major}.x ended on {deadline}; adapt to {active}, which is active, and load that")


class RunError(ClientError):
    """Base of what running a feature raises."""


class VariablesInvalid(RunError, UsageError):
    """`problems` names every variable and the rule it breaks, never its value."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problems))


class ToolsInvalid(RunError, UsageError):
    """What was handed over as tools does not fit the contract."""


class PromptInvalid(RunError):
    """The template of the prompt cannot be rendered with these variables."""


class SetupError(RunError, UsageError):
    """A provider of the contract cannot be asked from here."""


class NoProvider(RunError):
    """Nobody could be asked; `attempts` lists who was tried and what came back."""

    def __init__(self, attempts: "Sequence[Attempt]") -> None:
        self.attempts = tuple(attempts)
        super().__init__(f"no provider answered after {len(attempts)} attempts: {', '.join(map(str, attempts))}")


class Refused(RunError):
    """The model declined to answer; a fallback is no way around that."""

    def __init__(self, provider: str, model: str, attempts: "Sequence[Attempt]" = ()) -> None:
        self.provider, self.model, self.attempts = provider, model, tuple(attempts)
        super().__init__(f"{provider}/{model} declined to answer")


class InvalidAnswer(RunError):
    """The answer breaks the contract: `rule` at `place` (a JSON pointer into the answer)."""

    def __init__(self, rule: str, place: str = "", hint: str = "", attempts: "Sequence[Attempt]" = ()) -> None:
        self.rule, self.place, self.hint, self.attempts = rule, place, hint, tuple(attempts)
        super().__init__(f"the answer breaks {rule!r} at {place or 'its root'}" + (f": {hint}" if hint else ""))
