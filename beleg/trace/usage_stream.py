"""Usage of a streamed answer, put together from its chunks; the texts of the chunks are not kept.

Later figures replace earlier ones, they are never added: Anthropic's and Gemini's are cumulative, OpenAI's
come once, in the last chunk.
"""

from collections.abc import Mapping
from typing import Any

from beleg.trace.usage_view import get, plain, word

_HEAD = ("id", "model", "model_version", "modelVersion", "response_id", "responseId", "provider", "service_tier")
_USAGE = ("usage", "usage_metadata", "usageMetadata")


class StreamUsage:
    """Collects what the chunks of one answer tell about its usage."""

    def __init__(self) -> None:
        self._head: dict[str, str] = {}
        self._usage: dict[str, Any] = {}
        self._member = "usage"

    def add(self, chunk: Any) -> None:
        """Take the next chunk: an SDK's object or a dict."""
        for part in (
            get(chunk, "response"),
            get(chunk, "message"),
            get(chunk, "x_groq"),
            get(chunk, "metadata"),
            chunk,
        ):
            if part is not None and not isinstance(part, str):
                self._take(part)

    def _take(self, part: Any) -> None:
        for name in _HEAD:
            value = word(part, name)
            if value is not None:
                # The first id is the answer's; events of a stream may have ids of their own.
                self._head.setdefault(name, value) if name == "id" else self._head.update({name: value})
        for member in _USAGE:
            found = plain(get(part, member))
            if isinstance(found, Mapping) and found:
                self._member = member
                self._usage.update(found)

    def response(self) -> dict[str, Any] | None:
        """The answer as `read_call` wants it; None where no chunk told anything."""
        if not self._head and not self._usage:
            return None
        return {**self._head, **({self._member: self._usage} if self._usage else {})}
