"""Finds what a killed process leaves behind: its orphans become children of this process."""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Iterator
from pathlib import Path

_SET_CHILD_SUBREAPER = 36


def _adopt(wanted: bool) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, ctypes.c_ulong(wanted), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _parents() -> dict[int, int]:
    """Process -> parent, for all that are not dead."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:2]
            if state not in (b"Z", b"X"):
                found[int(folder.name)] = int(parent)
    return found


def _below(process: int) -> set[int]:
    """The living descendants of a process."""
    parents = _parents()
    found, level = set[int](), {process}
    while level:
        level = {child for child, parent in parents.items() if parent in level}
        found |= level
    return found


@contextlib.contextmanager
def adopted() -> Iterator[Orphans]:
    """Adopts orphans inside the block."""
    _adopt(True)
    try:
        yield Orphans(_below(os.getpid()))
    finally:
        _adopt(False)


class Orphans:
    """What lives below this process and did not before."""

    def __init__(self, before: set[int]) -> None:
        self._before = before

    def left(self, seconds: float) -> list[str]:
        """The command lines of those that are still there after `seconds`; none as soon as all are gone."""
        end = time.monotonic() + seconds
        while living := _below(os.getpid()) - self._before:
            for process in living:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process, os.WNOHANG)
            if time.monotonic() > end:
                return [self._line(process) for process in living]
            time.sleep(0.02)
        self._reap()
        return []

    @staticmethod
    def _line(process: int) -> str:
        with contextlib.suppress(OSError):
            return f"{process} {Path(f'/proc/{process}/cmdline').read_bytes()!r}"
        return str(process)

    def _reap(self) -> None:
        """Takes the dead among our own children, but for those of others."""
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):
                state, parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:2]
                if state == b"Z" and int(parent) == os.getpid() and int(folder.name) not in self._before:
                    os.waitpid(int(folder.name), os.WNOHANG)
