"""Folders that a program has written: walked and removed, however deep or closed they are.

Links are never followed. The callers see to it that no process is alive that could move folders about.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class Entry(NamedTuple):
    """One path of a walk. A folder comes twice, the second time (`leaving`) after what is in it."""

    folder: int
    name: str
    info: os.stat_result
    above: list[str]
    leaving: bool = False

    @property
    def path(self) -> bytes:
        """Relative to the top; only valid before the walk goes on."""
        return os.fsencode("/".join([*self.above, self.name]))


def open_folder(name: str, info: os.stat_result, folder: int) -> int:
    """A descriptor of a folder that its maker may have closed to everyone."""
    if info.st_mode & 0o700 != 0o700:
        os.chmod(name, 0o700, dir_fd=folder)
    return os.open(name, OPEN_FOLDER, dir_fd=folder)


def walk(top: int) -> Iterator[Entry]:
    """Everything below the open folder `top`, however deep, with one descriptor open at a time."""
    folder = os.open(".", OPEN_FOLDER, dir_fd=top)
    above: list[str] = []
    levels: list[tuple[list[str], os.stat_result]] = []
    names = os.listdir(folder)  # noqa: PTH208
    try:
        while names or levels:
            previous = folder
            if names:
                name = names.pop()
                info = os.stat(name, dir_fd=folder, follow_symlinks=False)
                yield Entry(folder, name, info, above)
                if not stat.S_ISDIR(info.st_mode):
                    continue
                folder = open_folder(name, info, folder)
                levels.append((names, info))
                above.append(name)
                names = os.listdir(folder)  # noqa: PTH208
            else:
                folder = os.open("..", OPEN_FOLDER, dir_fd=folder)
                names, info = levels.pop()
                yield Entry(folder, above.pop(), info, above, leaving=True)
            os.close(previous)
    finally:
        os.close(folder)


def remove(name: str, folder: int) -> None:
    """Remove `name` from the open folder, with everything below it."""
    info = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISDIR(info.st_mode):
        os.unlink(name, dir_fd=folder)
        return
    top = open_folder(name, info, folder)
    try:
        for entry in walk(top):
            if entry.leaving:
                os.rmdir(entry.name, dir_fd=entry.folder)
            elif not stat.S_ISDIR(entry.info.st_mode):
                os.unlink(entry.name, dir_fd=entry.folder)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=folder)


def empty(folder: int) -> None:
    """Remove everything from the open folder."""
    os.chmod(folder, 0o700)
    for name in os.listdir(folder):
        try:
            os.rmdir(name, dir_fd=folder)
        except OSError:
            remove(name, folder)
