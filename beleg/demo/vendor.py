"""The demo's stand-in for the copilot's provider: counts tokens by a vocabulary of its own, and keeps prefixes by the
provider's rules. What is found again follows from the prompts and from nothing else."""

import re
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate

from beleg.agent.layout import Layout, Rules

_PIECE = re.compile(r"[^\W\d_]{1,5}|\d{1,3}|[^\w\s]{1,2}|_|\n+|\s{2,}")
"""Letters by the syllable, digits by threes, signs by twos: about as fine as a vocabulary of a hundred thousand."""
_LIFETIME = 1
"""The second of the provider's lifetimes: an hour."""
_SECOND_US = 1_000_000


@lru_cache(maxsize=1 << 16)
def tokens(text: str) -> int:
    """Tokens of a text."""
    return sum(1 for _ in _PIECE.finditer(text))


class PrefixCache:
    """What one provider keeps of prompts, as a clock moves that now and then moves back."""

    def __init__(self, rules: Rules, model: str) -> None:
        minimum = rules.minimum(model)
        self._shortest = minimum.tokens if minimum else 0
        self._reach = rules.lookback_blocks or 0
        self._lifetime_us = rules.lifetimes[_LIFETIME].seconds * _SECOND_US
        self._used_us: defaultdict[bytes, list[int]] = defaultdict(list)

    def take(self, layout: Layout, at_us: int) -> Mapping[str, int]:
        """The input tokens of a request by bucket: what was found, what is kept from now on, and the rest."""
        sizes = list(accumulate(tokens(piece.text) for piece in layout.pieces))
        prefixes = list(_prefixes(layout))
        found = next((at for at in self._candidates(layout) if self._is_kept(prefixes[at], at_us)), None)
        kept = [at for at in layout.breakpoints if sizes[at] >= self._shortest]
        for at in {*kept, *([] if found is None else [found])}:
            insort(self._used_us[prefixes[at]], at_us)
        read = 0 if found is None else sizes[found]
        written = max(sizes[kept[-1]] - read, 0) if kept else 0
        return {"input_uncached": sizes[-1] - read - written, "cache_read": read, "cache_write_1h": written}

    def _candidates(self, layout: Layout) -> Iterator[int]:
        """Pieces behind which the provider looks for an entry: back from each breakpoint, the last one first."""
        for end in reversed(layout.breakpoints):
            blocks = 0
            for at in range(end, -1, -1):
                if blocks > self._reach:
                    break
                yield at
                blocks += layout.pieces[at].blocks

    def _is_kept(self, prefix: bytes, at_us: int) -> bool:
        """Whether its last use before now was within its lifetime."""
        used = self._used_us.get(prefix, ())
        before = bisect_right(used, at_us)
        return before > 0 and at_us < used[before - 1] + self._lifetime_us


def _prefixes(layout: Layout) -> Iterator[bytes]:
    """A digest of everything up to and with each piece."""
    whole = sha256()
    for piece in layout.pieces:
        whole.update(f"{piece.part}\0{piece.text}\0".encode())
        yield whole.digest()
