"""What the client needs of a registry, wherever that is."""

from typing import Protocol


class Source(Protocol):
    """A registry that can be read."""

    @property
    def identity(self) -> str:
        """What tells this registry from every other; caches are kept by it."""

    def read(self, path: str, *, timeout_s: float) -> bytes:
        """The bytes of a file; raises FileNotFoundError, Forbidden, Unreachable, Tampered."""
