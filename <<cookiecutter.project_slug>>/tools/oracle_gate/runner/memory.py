"""The memory files that a worker writes and the gate reads: nothing of them is copied to be handed on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from ..core.observation import FileChange, FileKind, FileState
from .inside.case import CHANGE, KINDS, STATES

_PIECE = 1 << 20


@dataclass(frozen=True)
class MemorySlice:
    """`size` bytes from `start` of an open file: a ByteSource, valid until the worker's next row."""

    descriptor: int
    start: int
    size: int

    def chunks(self) -> Iterator[bytes]:
        position, end = self.start, self.start + self.size
        while position < end:
            piece = os.pread(self.descriptor, min(_PIECE, end - position), position)
            if not piece:
                return
            yield piece
            position += len(piece)


def whole(descriptor: int) -> MemorySlice:
    """Everything in an open file."""
    return MemorySlice(descriptor, 0, os.fstat(descriptor).st_size)


def read_changes(descriptor: int) -> tuple[FileChange, ...]:
    """The file changes in the format of inside/case.py, sorted by path. Raises ValueError for another."""
    found, position, end = [], 0, os.fstat(descriptor).st_size
    while position < end:
        head = os.pread(descriptor, CHANGE.size, position)
        if len(head) < CHANGE.size:
            raise ValueError("a change without its head")
        state, kind, path_size, size = CHANGE.unpack(head)
        start = position + CHANGE.size
        position = start + path_size + size
        if state >= len(STATES) or kind >= len(KINDS) or position > end:
            raise ValueError("a change that is none")
        path = os.pread(descriptor, path_size, start)
        content = MemorySlice(descriptor, start + path_size, size)
        found.append(FileChange(path, cast(FileState, STATES[state]), cast(FileKind, KINDS[kind]), content))
    return tuple(sorted(found, key=lambda change: change.path))
