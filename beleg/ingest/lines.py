"""Reads a stream as whole lines in blocks of bounded memory, however long a line is."""

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

BLOCK_BYTES = 256 * 1024
"""Bytes read at a time: small enough for the cache of a core."""

Read = Callable[[int], bytes]


class Block(NamedTuple):
    """Consecutive lines, each ended by a line feed, that begin at `offset`."""

    offset: int
    data: bytes


class LongLine(NamedTuple):
    """A line above the limit: known by its digest only."""

    offset: int
    length: int
    sha256: str
    ended: bool
    """False where the stream ended before a line feed."""


class Tail(NamedTuple):
    """What follows the last line feed of the stream."""

    offset: int
    data: bytes


def blocks(read: Read, limit: int, offset: int = 0) -> Iterator[Block | LongLine | Tail]:
    """Everything that `read` gives, in order and without a gap.

    `read(n)` returns at most n bytes and b"" at the end. `limit` is the longest line in bytes that is
    kept as a whole; `offset` is where the stream begins in its file.
    """
    data = read(BLOCK_BYTES)
    while data:
        if cut := data.rfind(b"\n") + 1:
            yield Block(offset, data[:cut])
            offset, data = offset + cut, data[cut:]
        elif len(data) > limit:
            long, data = _long_line(read, data, offset)
            yield long
            offset += long.length + long.ended
            data = data or read(BLOCK_BYTES)
            continue
        chunk = read(BLOCK_BYTES)
        if not chunk:
            break
        data += chunk
    if data:
        yield Tail(offset, data)


def _long_line(read: Read, begun: bytes, offset: int) -> tuple[LongLine, bytes]:
    """Hash a line to its end; returns it and the bytes read beyond its line feed."""
    digest, length = hashlib.sha256(), 0
    data = begun
    while data:
        end = data.find(b"\n")
        if end >= 0:
            digest.update(data[:end])
            return LongLine(offset, length + end, digest.hexdigest(), ended=True), data[end + 1 :]
        digest.update(data)
        length += len(data)
        data = read(BLOCK_BYTES)
    return LongLine(offset, length, digest.hexdigest(), ended=False), b""
