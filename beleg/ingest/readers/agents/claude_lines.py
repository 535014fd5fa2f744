"""What single lines of Claude Code's logs tell."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from beleg.ingest.readers.agents.session import known_key, project
from beleg.ingest.readers.events import key, word
from beleg.ingest.readers.parsing import member
from beleg.ingest.readers.traces import source_cost
from beleg.trace.call import Call

_REAL_ID_CHARS = 16
_SELLERS = {"msg_bdrk_": "aws", "msg_vrtx_": "google"}
"""Beginnings of the ids that Bedrock and Vertex give; the model's name is the same everywhere."""


def identity_of(line: Mapping[str, Any], message: Mapping[str, Any], run_id: str) -> str:
    """What all lines about one call share.

    Ids of Anthropic's own are unique, whatever session or request repeats them; those of gateways only
    together with the id of the request, or else within their session at one time.
    """
    found = key(message.get("id"))
    if found is None:
        return known_key(line.get("uuid")) or digest(run_id, line.get("timestamp"))
    if found.startswith("msg_") and len(found) >= _REAL_ID_CHARS:
        return found
    request = key(line.get("requestId"))
    more = (run_id, line["timestamp"]) if request is None else (request,)
    return known_key(found, *more) or found


def priced(call: Call, line: Mapping[str, Any], message: Mapping[str, Any]) -> Call:
    """The call with what stands beside its usage: what Claude Code took it to cost, and its dearer fast mode."""
    fast = member(message, "usage", "speed") == "fast"
    return replace(
        call,
        provider=_SELLERS.get((call.response_id or "")[:9], call.provider),
        service_tier="fast" if fast and call.service_tier is None else call.service_tier,
        raw_usage={**call.raw_usage, **source_cost(line.get("costUSD"), call.raw_usage)},
    )


def blocks(message: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    """The blocks of a kind in a message."""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind:
            yield block


def facts(line: Mapping[str, Any]) -> dict[str, Any]:
    """What a line tells of its session for the naming rules."""
    return {
        "project": word(project(line.get("cwd"))),
        "release": line.get("version"),
        "metadata__gitBranch": line.get("gitBranch"),
        "metadata__entrypoint": line.get("entrypoint"),
    }


def digest(*parts: Any) -> str:
    """An id for what has none."""
    text = "\n".join(str(part) for part in parts)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]
