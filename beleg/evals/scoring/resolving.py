"""The input of a case, from the owner's resolver, checked against its fingerprint before anything is called."""

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from beleg.evals.cases.case import Case
from beleg.evals.suite import Resolver
from beleg.trace.fingerprint import fingerprint
from beleg.trace.policy import exception_class


@dataclass(frozen=True)
class Unfit:
    """Why a case cannot be run."""

    status: Literal["stale", "failed"]
    reason: str
    """A word of ours, or the class of what the resolver raised; never its message, which may hold payload."""


Payload = dict[str, Any]


def resolve(resolver: Resolver, case: Case) -> Payload | Unfit:
    """The variables of a case as `feature.run` fingerprints them, or why they cannot be used; never raises.

    `stale`: the input is not the one that the case was made of. `failed`: there is none.
    """
    try:
        found = resolver(case.input_ref)
        payload = asyncio.run(_awaited(found)) if inspect.isawaitable(found) else found
        if not isinstance(payload, Mapping):
            return Unfit("failed", "no_mapping_of_variables")
        variables = dict(payload)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the owner's code does what it likes
        return Unfit("failed", exception_class(type(error)) or "Exception")
    return _checked(variables, case)


async def _awaited(found: Any) -> Any:
    return await found


def _checked(variables: Payload, case: Case) -> Payload | Unfit:
    try:
        digest = fingerprint(variables, key=case.hash_key_id)
    except KeyError:
        return Unfit("failed", "unknown_hash_key")
    except Exception:  # noqa: BLE001 - a hostile payload raises what it likes
        return Unfit("failed", "no_fingerprint")
    return variables if digest == case.input_hash else Unfit("stale", "input_changed")
