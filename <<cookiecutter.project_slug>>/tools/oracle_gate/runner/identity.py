"""Who isolated programs run as: never root, where that can be helped (design, section 13)."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .environment import Subject

#: The user and group `nobody`, who owns no file and no process that matters.
NOBODY = 65534


@dataclass(frozen=True)
class Identity:
    """`user` is what the worker changes to, None for the caller's own; `note` is for the packet."""

    user: int | None
    note: str


def identity(subject: Subject) -> Identity:
    """Root changes to nobody, unless nobody cannot reach the interpreters or folders that rows need."""
    if os.geteuid() != 0:
        return Identity(None, "ordinary user")
    needed = (Path(sys.executable), subject.python, *subject.tools, *subject.read_only)
    closed = next((path for path in needed if not _reachable(path)), None)
    if closed is not None:
        return Identity(None, "still root: others cannot reach the interpreter or a folder of the subject")
    return Identity(NOBODY, f"user {NOBODY}")


def _reachable(path: Path) -> bool:
    """Whether somebody without rights can get at the path, links followed."""
    try:
        resolved = path.resolve(strict=True)
    except OSError:
        return True  # what is not there closes nothing
    return _open_to_all([resolved], stat.S_IROTH | stat.S_IXOTH) and _open_to_all(
        resolved.parents, stat.S_IXOTH
    )


def _open_to_all(paths: Iterable[Path], bits: int) -> bool:
    return all(path.stat().st_mode & bits == bits for path in paths)


def running_tasks(user: int) -> int:
    """How many processes and threads a user has: what the kernel counts against RLIMIT_NPROC."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if process.stat().st_uid == user:
                count += sum(1 for _ in (process / "task").iterdir())
    return count
