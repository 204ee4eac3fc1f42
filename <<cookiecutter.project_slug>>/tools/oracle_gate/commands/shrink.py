"""Delta debugging: a smaller input that still fails (article B, "What to log when a property fails")."""

from __future__ import annotations

import time
from collections.abc import Callable


def shrink(
    data: bytes,
    fails: Callable[[bytes], bool],
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
) -> bytes:
    """Leaves out ever smaller pieces of `data`, which fails, while the rest fails.

    Ends at the deadline, or when no single byte can be left out any more.
    """
    size = max(1, len(data) // 2)
    while data:
        before, end = len(data), len(data)
        while end > 0:
            if clock() >= deadline:
                return data
            start = max(0, end - size)
            rest = data[:start] + data[end:]
            if fails(rest):
                data = rest
            end = start
        if size == 1 and len(data) == before:
            break
        size = max(1, size // 2)
    return data
