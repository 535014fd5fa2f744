"""How a request to a provider can fail, as retries, fallbacks and traces see it."""

from beleg.contract.run.attempt import Outcome


class ProviderFault(Exception):
    """Base; the class stands in the trace, the message holds nothing of the payload."""

    outcome: Outcome

    def __init__(self, status: int | None = None, code: str | None = None, retry_after_s: float | None = None) -> None:
        self.status, self.code, self.retry_after_s = status, code, retry_after_s
        super().__init__(self.outcome)


class ProviderTimeout(ProviderFault):
    """No whole answer in time."""

    outcome: Outcome = "timeout"


class ProviderUnreachable(ProviderFault):
    """No connection, or it broke before the answer was whole."""

    outcome: Outcome = "connection"


class ProviderBusy(ProviderFault):
    """HTTP 429."""

    outcome: Outcome = "rate_limit"


class ProviderBroken(ProviderFault):
    """HTTP 5xx, or an answer that is not of the provider's own wire format."""

    outcome: Outcome = "server_error"


class RequestRejected(ProviderFault):
    """Any other HTTP status: the request, the key or the model is wrong."""

    outcome: Outcome = "bad_request"


class RequestDeclined(ProviderFault):
    """The provider's policy declines the request (an HTTP 400 that is a refusal)."""

    outcome: Outcome = "refusal"


class AnswerTooLarge(ProviderFault):
    """The answer is larger than any answer may be."""

    outcome: Outcome = "invalid_answer"


class NotSetUp(ProviderFault):
    """A fallback that cannot be asked from here: no key, no address, no package."""

    outcome: Outcome = "not_set_up"


TRANSIENT: frozenset[Outcome] = frozenset({"timeout", "connection", "rate_limit", "server_error"})
"""What may be gone the next time."""


def of_status(status: int, code: str | None = None, retry_after_s: float | None = None) -> ProviderFault:
    """The fault that an HTTP status stands for."""
    if status == 408:
        return ProviderTimeout(status, code, retry_after_s)
    if status == 429:
        return ProviderBusy(status, code, retry_after_s)
    return ProviderBroken(status, code, retry_after_s) if status >= 500 else RequestRejected(status, code)
