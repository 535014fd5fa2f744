"""Reading whole lines in bounded blocks, whatever the chunks and however long a line."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.ingest import lines
from beleg.ingest.lines import Block, LongLine, Tail, blocks

pieces = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"x" * 9, b"y" * 30, b"\r\n", b"\n\n"]), max_size=30)


@given(pieces, st.integers(1, 7), st.integers(0, 12))
def test_lines_come_whole_in_order_and_without_a_gap(parts: list[bytes], chunk: int, limit: int) -> None:
    data = b"".join(parts)
    rest = memoryview(data)

    def read(size: int) -> bytes:
        nonlocal rest
        piece, rest = bytes(rest[: min(size, chunk)]), rest[min(size, chunk) :]
        return piece

    offset = 100
    for part in blocks(read, limit, 100):
        assert part.offset == offset
        begin = offset - 100
        if isinstance(part, LongLine):
            line = data[begin : begin + part.length]
            assert part.sha256 == hashlib.sha256(line).hexdigest()
            assert part.length > limit
            assert b"\n" not in line
            assert data[begin + part.length : begin + part.length + 1] == (b"\n" if part.ended else b"")
            offset += part.length + part.ended
        else:
            assert data[begin : begin + len(part.data)] == part.data
            assert part.data.endswith(b"\n") if isinstance(part, Block) else b"\n" not in part.data
            offset += len(part.data)
    assert offset - 100 == len(data)


def test_a_tail_is_what_follows_the_last_line_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 4)
    chunks = iter([b"ab\nc", b"d", b""])
    assert list(blocks(lambda _size: next(chunks), 100)) == [Block(0, b"ab\n"), Tail(3, b"cd")]
