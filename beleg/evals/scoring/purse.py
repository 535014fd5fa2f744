"""The budget of an evaluation: answers are only begun while it surely lasts."""

import threading
from typing import Literal

Refusal = Literal["budget", "unpriced"]


class Purse:
    """What was spent, and whether one more answer may be begun.

    An answer is reckoned to cost as much as the dearest one so far. Until one has a price, one is begun at a time.
    """

    def __init__(self, limit_pico_usd: int | None) -> None:
        self._limit = limit_pico_usd
        self._changed = threading.Condition()
        self._dearest: int | None = None
        self._begun = 0
        self.spent_pico_usd = 0
        """Known cost of this run."""
        self.unpriced = 0
        """Answers whose cost is unknown."""

    def begin(self) -> Refusal | None:
        """Reckon with one more answer; why not, where it may not be begun: `budget` or `unpriced`."""
        with self._changed:
            while self._limit is not None and self._dearest is None and self._begun and not self.unpriced:
                self._changed.wait()
            if refusal := self._refusal():
                return refusal
            self._begun += 1
            return None

    def end(self, cost_pico_usd: int | None) -> None:
        """An answer is there; None is a cost that nobody knows."""
        with self._changed:
            self._begun -= 1
            if cost_pico_usd is None:
                self.unpriced += 1
            else:
                self.spent_pico_usd += cost_pico_usd
                self._dearest = max(self._dearest or 0, cost_pico_usd)
            self._changed.notify_all()

    def give_back(self) -> None:
        """One that was begun could not be asked: what an answer costs is as unknown as before."""
        with self._changed:
            self._begun -= 1
            self._changed.notify_all()

    def _refusal(self) -> Refusal | None:
        if self._limit is None:
            return None
        if self.unpriced:
            return "unpriced"
        reckoned = self.spent_pico_usd + (self._begun + 1) * (self._dearest or 0)
        return "budget" if reckoned > self._limit or self._limit == 0 else None
