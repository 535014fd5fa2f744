import os
import threading
import time
import uuid
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beleg.trace.ids import IdGenerator, new_id, unix_ms


def test_id_is_a_uuid7_that_carries_its_time() -> None:
    made = uuid.UUID(new_id())
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    fixed = IdGenerator(lambda: 1_893_456_000_123_456_789)()
    assert unix_ms(fixed) == 1_893_456_000_123


@given(st.lists(st.integers(-(2**62), 2**70), min_size=2))
def test_ids_ascend_whatever_the_clock_does(times_ns: list[int]) -> None:
    clock = iter(times_ns)
    generate = IdGenerator(lambda: next(clock))
    made = [generate() for _ in times_ns]
    assert made == sorted(set(made))
    assert {uuid.UUID(text).version for text in made} == {7}


def test_more_ids_within_a_millisecond_than_the_counter_holds_still_ascend() -> None:
    generate = IdGenerator(lambda: 10**18)
    made = [generate() for _ in range(10_000)]
    assert made == sorted(set(made))


def test_ids_of_one_millisecond_differ_in_their_last_digits() -> None:
    generate = IdGenerator(lambda: 10**18)
    assert len({generate()[-8:] for _ in range(1_000)}) == 1_000


def test_threads_never_get_the_same_id() -> None:
    generate = IdGenerator(time.time_ns)
    made: list[list[str]] = [[] for _ in range(8)]
    threads = [
        threading.Thread(target=lambda mine=mine: mine.extend(generate() for _ in range(2_000))) for mine in made
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set().union(*made)) == 16_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child_draws_other_ids_even_if_a_thread_held_the_lock(
    forked: Callable[[Callable[[], None]], int],
) -> None:
    reads, writes = os.pipe()
    with new_id._lock:
        code = forked(lambda: (os.write(writes, new_id().encode()), None)[1])
    assert code == 0
    assert os.read(reads, 36).decode() != new_id()


def test_text_that_is_no_uuid7_has_no_time() -> None:
    with pytest.raises(ValueError, match="no UUIDv7"):
        unix_ms(str(uuid.uuid4()))
