"""The folder that programs may write: HOME, TMPDIR and the case folder, gone after each row."""

from __future__ import annotations

import contextlib
import os
import stat

from .folders import OPEN_FOLDER, empty, open_folder

#: HOME and TMPDIR, sorted.
_NAMES = ["home", "tmp"]
_PRIVATE = stat.S_IFDIR | 0o700


class Scratch:
    """The empty folder at `path`, and further folders to be `emptied` with it.

    It is opened once, as a program may later make the path lead elsewhere. Methods raise OSError when a
    program moved the folder away, or put something there that cannot be removed.
    """

    def __init__(self, path: str, emptied: list[str]) -> None:
        self._path = path
        self._folder = os.open(path, OPEN_FOLDER)
        self._emptied = [os.open(other, OPEN_FOLDER) for other in emptied]
        self.clear()

    def make_case(self) -> int:
        """A new, empty case folder, open."""
        os.mkdir("case", 0o700, dir_fd=self._folder)
        return os.open("case", OPEN_FOLDER, dir_fd=self._folder)

    def find_case(self) -> int:
        """The case folder after the program: an empty one if it is gone, or a link or file is there."""
        with contextlib.suppress(FileNotFoundError):
            info = os.stat("case", dir_fd=self._folder, follow_symlinks=False)
            if stat.S_ISDIR(info.st_mode):
                return open_folder("case", info, self._folder)
            os.unlink("case", dir_fd=self._folder)
        return self.make_case()

    def clear(self) -> None:
        """Leaves an empty HOME and TMPDIR.

        Clean folders stay, as most rows write nothing and a disk's journal makes new ones dear.
        """
        for folder in self._emptied:
            empty(folder)
        if not self._is_clean():
            empty(self._folder)
            for name in _NAMES:
                os.mkdir(name, 0o700, dir_fd=self._folder)

    def _is_clean(self) -> bool:
        found, held = os.lstat(self._path), os.fstat(self._folder)
        if (found.st_dev, found.st_ino) != (held.st_dev, held.st_ino):
            raise FileNotFoundError("the scratch was moved")
        if found.st_mode != _PRIVATE or sorted(os.listdir(self._path)) != _NAMES:  # noqa: PTH208
            return False
        paths = [f"{self._path}/{name}" for name in _NAMES]
        return all(os.lstat(path).st_mode == _PRIVATE and not os.listdir(path) for path in paths)  # noqa: PTH208
