"""What Node prints above an uncaught error: the place in the source, which moves with every edit above it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .canonical_text import NODE_FRAME, Piece, is_error
from .canonical_tokens import FRAMES

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_PLACE = re.compile(rb"^(?:/|file://|node:).*:[0-9]+\r?$", re.MULTILINE)
_CARET = re.compile(rb"[ \t]*\^+")
#: Place, source, caret, an empty line, the error, a frame. All six, because a linter too prints a place with
#: its source and a caret, and there they are the result.
_REPORT = (
    _PLACE.fullmatch,
    lambda _: True,
    _CARET.fullmatch,
    lambda line: not line,
    is_error,
    NODE_FRAME.fullmatch,
)
_COLLAPSED = 3


def collapse_places(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """One `$FRAMES` line for place, source and caret above a Node error; all other lines as they were."""
    held: list[bytes] = []
    for piece in pieces:
        if piece.kind == "lines" and (held or _PLACE.search(piece.data)):
            for line in _LINE.findall(piece.data):
                yield from _take(held, line)
        else:
            yield from _lines(held)
            held.clear()
            yield piece
    yield from _lines(held)


def _take(held: list[bytes], line: bytes) -> Iterator[Piece]:
    """Holds a line that can go on with the report in `held`; gives out what turns out to be none."""
    if not _REPORT[len(held)](line.rstrip(b"\r\n")):
        again = [*held, line]
        held.clear()
        yield Piece(again[0], "lines")
        for later in again[1:]:
            yield from _take(held, later)
        return
    held.append(line)
    if len(held) == len(_REPORT):
        last = held[_COLLAPSED - 1]
        yield Piece(FRAMES + last[len(last.rstrip(b"\r\n")) :], "frames")
        yield from _lines(held[_COLLAPSED:])
        held.clear()


def _lines(lines: list[bytes]) -> Iterator[Piece]:
    if lines:
        yield Piece(b"".join(lines), "lines")
