"""How a long act says how far it is."""

from typing import Protocol


class OnProgress(Protocol):
    """Called now and then with what is being done, how much of it is done, and a word on it."""

    def __call__(self, what: str, done: int, total: int, detail: str = "") -> None:
        """Take note."""


def silent(what: str, done: int, total: int, detail: str = "") -> None:
    """Nobody watches."""
