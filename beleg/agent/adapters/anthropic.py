"""Tools for Anthropic's Messages API, with cache breakpoints, and the answers to its calls. Plain data."""

from collections.abc import Mapping
from typing import Any

from beleg.agent.adapters.answer import answer
from beleg.agent.toolsets.offer import Offer

SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
BREAKPOINT = {"type": "ephemeral"}


def tools(offer: Offer[Any]) -> list[dict[str, Any]]:
    """`tools`, with a breakpoint after the core and one after the last: two of the four that a request may have.

    The first is what all users read from one cache, the second what a cohort does.
    """
    given = [tool.definition for tool in offer.tools]
    for last in {offer.cohort.core, len(given)} - {0}:
        given[last - 1]["cache_control"] = dict(BREAKPOINT)
    return given


def deferred(offer: Offer[Any]) -> list[dict[str, Any]]:
    """`tools` with everything behind the core deferred, and the search that finds it.

    Deferred definitions are outside of the cache key: all users share the core and the search. A model reaches
    less often for what it has to look for, so this is for what few need, and the core holds what must not be missed.
    """
    core = [tool.definition for tool in offer.tools[: offer.cohort.core]]
    rest = [{**tool.definition, "defer_loading": True} for tool in offer.tools[offer.cohort.core :]]
    if core:
        core[-1]["cache_control"] = dict(BREAKPOINT)
    return [*core, dict(SEARCH), *rest] if rest else core


def tool_result(offer: Offer[Any], call: Mapping[str, Any]) -> dict[str, Any]:
    """The block that answers one `tool_use` block, given as a dict."""
    said = answer(offer, call["name"], call["input"])
    return {"type": "tool_result", "tool_use_id": call["id"], "content": said.text, "is_error": said.is_error}
