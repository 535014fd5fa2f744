"""`beleg.load`: one handle per question and process."""

import os

from beleg.contract.client.clock import SYSTEM, Clock
from beleg.contract.client.feature import MAX_STALE_S, TIMEOUT_S, TTL_S, Feature
from beleg.contract.client.sources import address_of, source_of
from beleg.contract.registry.names import feature_name
from beleg.core.errors import UsageError

_held: dict[tuple[object, ...], Feature] = {}


def load(
    feature: str,
    *,
    major: int,
    registry: str | os.PathLike[str] | None = None,
    ttl_s: float = TTL_S,
    max_stale_s: float = MAX_STALE_S,
    timeout_s: float = TIMEOUT_S,
    clock: Clock = SYSTEM,
) -> Feature:
    """The released feature, pinned to a major version; the same object for the same question.

    `registry` is a folder, an `http(s)` address or an fsspec URL (default `BELEG_REGISTRY`). Asks the registry
    the first time and after `ttl_s`; while it cannot be reached the last version goes on for `max_stale_s`.

    Raises UsageError for a name or major that can be none, and what `Feature.snapshot` raises.
    """
    address = address_of(registry)
    cache = os.environ.get("BELEG_CACHE")
    key = (feature, major, address, cache, ttl_s, max_stale_s, timeout_s, clock)
    found = _held.get(key)
    if found is not None:
        found.snapshot()
        return found
    if type(major) is not int or major < 0:
        raise UsageError(f"major={major!r} is no major version; write for example major=2")
    made = Feature(
        feature_name(feature),
        major,
        source_of(address),
        ttl_s=ttl_s,
        max_stale_s=max_stale_s,
        timeout_s=timeout_s,
        clock=clock,
    )
    made = _held.setdefault(key, made)  # of several first callers all wait for the same answer
    try:
        made.snapshot()
    except BaseException:
        if _held.get(key) is made:
            del _held[key]
        raise
    return made
