"""Commands on a disk that is full, or in folders that cannot be written: by real mounts where they are allowed.

A mount lives in a namespace of the command's own; nothing of it is seen or left outside.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_UNSHARE = ("unshare", "--mount", "--map-root-user", "--")
_NOBODY = 65534


@dataclass(frozen=True)
class Place:
    """How to start a command there: words before it, options of subprocess.run."""

    prefix: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def run(self, command: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Runs a command there, without input."""
        return subprocess.run(
            [*self.prefix, *command], env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=300, **self.options,
        )  # fmt: skip


@functools.cache
def can_mount() -> bool:
    """Whether this user may mount in a namespace of its own."""
    try:
        done = subprocess.run(
            [*_UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
        )
    except FileNotFoundError:
        return False
    return done.returncode == 0


def small_disk(folder: Path, kibibytes: int) -> Place:
    """An empty disk of this size mounted on `folder`."""
    script = f'mount -t tmpfs -o size={kibibytes}k none "$1" && shift && exec "$@"'
    return Place((*_UNSHARE, "sh", "-c", script, "sh", str(folder)))


def small_files(kibibytes: int) -> Place:
    """Where no file may grow beyond this size: a quota's error, allowed to everybody."""
    return Place(("sh", "-c", f'ulimit -f {kibibytes * 2} && exec "$@"', "sh"))


@contextlib.contextmanager
def read_only(folder: Path, writable: Path) -> Iterator[Place]:
    """A place where nothing at or below `folder` can be written; `writable` can, by anybody."""
    if can_mount():
        script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
        yield Place((*_UNSHARE, "sh", "-c", script, "sh", str(folder)))
        return
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink())]
    writable.chmod(0o777)
    for path in folders:
        path.chmod(0o555)
    try:
        yield Place(options={"user": _NOBODY, "group": _NOBODY} if os.geteuid() == 0 else {})
    finally:
        for path in folders:
            path.chmod(0o755)
