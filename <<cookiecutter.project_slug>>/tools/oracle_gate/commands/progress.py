"""Long work says how far it is: one line on stderr that the next replaces, on a terminal alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Progress = Callable[[str], None]


def progress(text: str) -> None:
    """Shows the text in place of the last one; empty text clears the line."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def no_progress(text: str) -> None:
    """Shows nothing."""


def counted(items: Iterable[Item], what: str, total: int, say: Progress = progress) -> Iterator[Item]:
    """The items; says after each how many of `total` there have been."""
    for number, item in enumerate(items, 1):
        say(f"{what}: {number} of {total}")
        yield item
