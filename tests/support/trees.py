"""Folders as values, to compare them."""

from __future__ import annotations

import stat
from pathlib import Path


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file, by path relative to `folder`."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def executables(folder: Path) -> set[str]:
    """The relative paths of files with a run bit for their owner."""
    return {name for name in contents(folder) if (folder / name).stat().st_mode & stat.S_IXUSR}
