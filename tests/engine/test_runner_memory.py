"""Reading the files that a worker shares with the gate."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from oracle_gate.runner.inside.case import CHANGE
from oracle_gate.runner.memory import MemorySlice, read_changes


@pytest.fixture
def file() -> Iterator[int]:
    descriptor = os.memfd_create("test")
    yield descriptor
    os.close(descriptor)


def test_a_slice_can_be_read_again_in_pieces_of_a_mebibyte(file: int) -> None:
    data = os.urandom(1 << 20) * 3
    os.write(file, data)
    part = MemorySlice(file, 10, len(data) - 20)
    for _ in range(2):
        pieces = list(part.chunks())
        assert b"".join(pieces) == data[10:-10]
        assert max(map(len, pieces)) <= 1 << 20


@pytest.mark.parametrize(
    "data",
    [
        b"x",
        CHANGE.pack(3, 0, 1, 0) + b"p",
        CHANGE.pack(0, 5, 1, 0) + b"p",
        CHANGE.pack(0, 0, 2, 0) + b"p",
        CHANGE.pack(0, 0, 1, 1 << 60) + b"p",
        CHANGE.pack(0, 0, 1, 0) + b"p" + CHANGE.pack(0, 0, 1, 1) + b"p",
    ],
)
def test_changes_that_are_none_are_an_error(file: int, data: bytes) -> None:
    os.write(file, data)
    with pytest.raises(ValueError, match="a change"):
        read_changes(file)
