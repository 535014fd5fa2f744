"""Decompresses gzip and zstd in bounded chunks, every member and frame of a file, with a guard."""

import zlib
from collections.abc import Iterator
from typing import BinaryIO

import zstandard

from beleg.ingest.reasons import Refusal, refuse

_GZIP = zlib.MAX_WBITS | 16
_CHUNK_BYTES = 128 * 1024
_ZSTD_FEED_BYTES = 512
_WINDOW_BYTES = 128 * 1024 * 1024
"""Largest zstd window accepted: the one that `zstd --ultra -22` uses; a frame may ask for gigabytes."""


class Inflater:
    """A `read(n)` over compressed bytes, at most about 16 MB at a time.

    It ends early, with `fault` set, at damage or past the limit.
    """

    def __init__(self, file: BinaryIO, container: str, limit_bytes: int) -> None:
        self.fault: Refusal | None = None
        self._pieces = _gzip(file) if container == "gzip" else _zstd(file)
        self._limit_bytes = limit_bytes
        self._given_bytes = 0

    def read(self, size: int) -> bytes:
        """The next bytes, at least one until the end; more than asked for where the data expands a lot."""
        pieces: list[bytes] = []
        gathered = 0
        while gathered < size and self.fault is None:
            piece = self._next()
            if piece is None:
                break
            gathered += len(piece)
            pieces.append(piece)
        return b"".join(pieces)

    def _next(self) -> bytes | None:
        try:
            piece = next(self._pieces, None)
        except (zlib.error, zstandard.ZstdError, EOFError) as error:
            self.fault = refuse("damaged_archive", f"damaged or cut short ({type(error).__name__})")
            return None
        left = self._limit_bytes - self._given_bytes
        if piece is not None and len(piece) > left:
            self.fault = refuse("decompression_bomb", f"grows past {self._limit_bytes} bytes; not read further")
            piece = piece[:left]
        self._given_bytes += len(piece or b"")
        return piece


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    inflater, complete = zlib.decompressobj(_GZIP), True
    while data := file.read(_CHUNK_BYTES):
        while data := data.lstrip(b"\0") if complete else data:  # zeros between members are padding
            yield inflater.decompress(data, 2 * _CHUNK_BYTES)
            complete, data = inflater.eof, inflater.unconsumed_tail or inflater.unused_data
            if complete:
                inflater = zlib.decompressobj(_GZIP)
    while not complete and (rest := inflater.decompress(inflater.unconsumed_tail, 2 * _CHUNK_BYTES)):
        yield rest
    if not (complete or inflater.eof):
        raise EOFError


def _zstd(file: BinaryIO) -> Iterator[bytes]:
    # Four bytes of zstd can stand for 128 KiB, so memory is bounded by feeding little at a time. The
    # package's stream reader would bound it too, but takes a file cut short for a complete one.
    decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES)
    inflater, complete = decompressor.decompressobj(), True
    while data := file.read(_ZSTD_FEED_BYTES):
        while data:
            yield inflater.decompress(data)
            complete, data = inflater.eof, inflater.unused_data
            if complete:
                inflater = decompressor.decompressobj()
    if not complete:
        raise EOFError
