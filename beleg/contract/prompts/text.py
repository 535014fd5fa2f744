"""A prompt's text and where it came from."""

from hashlib import sha256
from typing import Literal

Source = Literal["registry", "override", "baked"]
Reason = Literal["missing", "empty", "unreachable", "forbidden", "broken", "outdated", "name", "override_broken"]
"""Why the baked-in text is used though there might be another."""


class Prompt(str):
    """The text itself, for use wherever a string goes; `traced_agent_run(prompt=…)` reads version and source."""

    version: str
    """Version in the registry; for other sources the source and a digest of the text."""
    source: Source
    reason: Reason | None
    """Why it is the baked-in text; None for every other source."""

    def __new__(cls, text: str, version: str = "", source: Source = "baked", reason: Reason | None = None) -> "Prompt":
        """A text with its origin."""
        made = super().__new__(cls, text)
        made.version = version or f"{source}-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:12]}"
        made.source, made.reason = source, reason
        return made

    @property
    def text(self) -> str:
        """The text as a plain string."""
        return str.__str__(self)
