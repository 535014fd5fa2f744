"""Puts a question to a version, through the contract SDK, as an application would."""

from collections.abc import Iterable

from beleg.contract.client.errors import NoProvider, SetupError
from beleg.contract.run import drive
from beleg.contract.run.keys import key_of
from beleg.core.errors import UsageError
from beleg.evals.scoring.contenders import Contender
from beleg.evals.scoring.judging import Answer, Question
from beleg.evals.scoring.receipt import hearing, receipt
from beleg.evals.scoring.resolving import Payload
from beleg.evals.scoring.tariff import Tariff
from beleg.evals.suite import Tools
from beleg.trace.policy import exception_class

_REFUSED_KEY = frozenset({401, 403})
"""HTTP statuses that say something about the key, nothing about the version."""


class Unaskable(UsageError):
    """A version cannot be asked from here. That says nothing about it: whoever runs the evaluation has to mend it."""


class Desk:
    """Where questions are put."""

    def __init__(self, sides: Iterable[Contender], tools: Tools, tariff: Tariff) -> None:
        self._sides = {each.digest: each for each in sides}
        self._tools, self._tariff = tools, tariff

    def ask(self, question: Question, payload: Payload) -> Answer:
        """Run the version; raises Unaskable.

        Its run is traced with the purpose `eval`. It gets those of the suite's tools that its contract knows.
        """
        side = self._sides[question.digest]
        tools = {each.name: self._tools[each.name] for each in side.contract.tools if each.name in self._tools}
        traced = {"purpose": "eval", "input_ref": question.case.input_ref}
        with hearing() as lines:
            try:
                value = drive.run(side.snapshot, payload, tools, traced).value
            except (Exception, SystemExit) as error:  # noqa: BLE001 - also what tools raise is an outcome
                _stop_at(error)
                return Answer(receipt(lines, self._tariff), None, exception_class(type(error)) or "Exception")
        return Answer(receipt(lines, self._tariff), value)


def _stop_at(error: BaseException) -> None:
    """Raise Unaskable for what says nothing about the version."""
    if isinstance(error, SetupError):
        raise Unaskable(str(error)) from error
    if isinstance(error, NoProvider) and {each.status for each in error.attempts} <= _REFUSED_KEY:
        raise Unaskable(f"the provider refuses the key: {error}") from error


def hindrance(side: Contender) -> str | None:
    """What is known to be in the way of asking a version, before anything is called: no key, no address."""
    try:
        key_of(side.contract.providers.primary)
    except SetupError as error:
        return str(error)
    return None
