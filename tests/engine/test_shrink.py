"""Delta debugging: how small, how many tries, and never past the deadline."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_gate.commands.shrink import shrink

LATE = float("inf")


def counting(fails: Callable[[bytes], bool]) -> tuple[Callable[[bytes], bool], list[int]]:
    """The predicate, and the list of sizes it was asked about."""
    sizes: list[int] = []

    def asked(data: bytes) -> bool:
        sizes.append(len(data))
        return fails(data)

    return asked, sizes


def scattered(positions: list[int]) -> bytes:
    """64 KiB with one byte 1 at each position."""
    data = bytearray(64 << 10)
    for position in positions:
        data[position] = 1
    return bytes(data)


@pytest.mark.parametrize("at", [0, 1, 4096, 40_000, (64 << 10) - 5])
def test_a_cause_of_five_bytes_comes_out_of_64_kib(at: int) -> None:
    noise = random.Random(at).randbytes(64 << 10)
    data = noise[:at] + b"CAUSE" + noise[at + 5 :]
    fails, sizes = counting(lambda part: b"CAUSE" in part)
    assert shrink(data, fails, LATE) == b"CAUSE"
    assert len(sizes) < 200


def test_a_scattered_cause_comes_out_too() -> None:
    fails, sizes = counting(lambda part: part.count(1) >= 5)
    assert shrink(scattered([3, 9_999, 30_000, 50_001, 65_000]), fails, LATE) == b"\1" * 5
    assert len(sizes) < 500


@given(st.binary(max_size=40), st.binary(min_size=1, max_size=3))
def test_the_rest_fails_and_no_byte_can_be_left_out(data: bytes, cause: bytes) -> None:
    def fails(part: bytes) -> bool:
        return all(byte in part for byte in cause)

    whole = data + cause
    small = shrink(whole, fails, LATE)
    assert fails(small)
    assert not any(fails(small[:at] + small[at + 1 :]) for at in range(len(small)))
    remaining = iter(whole)
    assert all(byte in remaining for byte in small)  # a subsequence: nothing was made up


def test_what_fails_always_shrinks_to_nothing_and_what_needs_all_stays() -> None:
    assert shrink(b"anything", lambda _: True, LATE) == b""
    assert shrink(b"anything", lambda part: part == b"anything", LATE) == b"anything"
    assert shrink(b"", lambda _: True, LATE) == b""


def test_what_can_be_left_out_only_later_is_left_out_as_well() -> None:
    assert shrink(b"YXC", lambda part: b"C" in part and (b"Y" not in part or b"X" in part), LATE) == b"C"


def test_it_ends_at_the_deadline_with_the_best_so_far() -> None:
    ticks = itertools.count()
    fails, sizes = counting(lambda part: b"CAUSE" in part)
    small = shrink(bytes(1000) + b"CAUSE" + bytes(1000), fails, 6.0, clock=lambda: float(next(ticks)))
    assert len(sizes) == 6
    assert b"CAUSE" in small
    assert 5 < len(small) < 2005
