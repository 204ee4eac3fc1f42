"""Errors that reach a user: one line that says what is wrong, where, and what to do (design, section 4)."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every command (design, section 4); 3 is nox's own."""

    OK = 0
    BLOCK = 1
    USAGE = 2
    HOLD = 4
    INSPECT = 5


class GateError(Exception):
    """A refusal with a known cause; `str()` is the one line shown after `gate: `.

    `where` is a file or `FILE:LINE`; `todo` is the next step for the human.
    """

    def __init__(self, what: str, *, where: str = "", todo: str = "", exit_code: Exit = Exit.USAGE) -> None:
        line = f"{where}: {what}" if where else what
        super().__init__(" ".join((f"{line}; {todo}" if todo else line).split()))
        self.what = what
        self.where = where
        self.todo = todo
        self.exit_code = exit_code
