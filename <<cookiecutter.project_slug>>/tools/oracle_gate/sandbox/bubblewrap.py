"""bubblewrap: namespaces of their own for processes, network, files, IPC (design, section 13)."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..core.errors import GateError
from .layer import Confinement, Inside, Launch, Visible

#: What programs of a system need besides folders that are named.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_FLAGS = (
    "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
    "--cap-drop", "ALL", "--clearenv", "--hostname", "localhost",
)  # fmt: skip
_TMP = "/tmp"  # noqa: S108


@dataclass(frozen=True)
class Bubblewrap:
    """The layer on `program`; `scratch_bytes` bounds each of its temporary file systems.

    Programs find everything below `work`.
    """

    program: str
    scratch_bytes: int = 256 << 20
    work: str = "/case"
    name: Literal["bubblewrap"] = "bubblewrap"
    protects_tree: bool = True

    def launch(self, visible: Visible) -> Launch:
        inside = Inside(f"{self.work}/tree", f"{self.work}/scratch", f"{self.work}/code")
        tmpfs = ["--size", str(self.scratch_bytes), "--tmpfs"]
        arguments = [self.program, *_FLAGS, "--proc", "/proc", "--dev", "/dev", *tmpfs, "/dev/shm"]  # noqa: S108
        arguments += [*tmpfs, _TMP, *_system()]
        for path in (*_SYSTEM_FILES, *map(str, visible.read_only)):
            arguments += ["--ro-bind-try", path, path]
        arguments += [
            "--ro-bind",
            str(visible.tree),
            inside.tree,
            "--ro-bind",
            str(visible.code),
            inside.code,
        ]
        arguments += ["--perms", "0700", *tmpfs, inside.scratch]
        # Where something lies below /tmp it cannot be emptied between rows, so it cannot be written either.
        closed = any(path.is_relative_to(_TMP) for path in visible.read_only)
        for path in ("/dev", "/", *([_TMP] if closed else [])):
            arguments += ["--remount-ro", path]
        arguments += ["--setenv", "LC_ALL", "C.UTF-8", "--chdir", "/", "--"]
        emptied = ("/dev/shm", *([] if closed else [_TMP]))  # noqa: S108
        return Launch(inside, tuple(arguments), emptied=emptied, confinement=Confinement(separated=True))


def _system() -> list[str]:
    """The system's folders; on most systems some are links into /usr."""
    arguments = []
    for path in _SYSTEM:
        if Path(path).is_symlink():
            arguments += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).is_dir():
            arguments += ["--ro-bind", path, path]
    return arguments


def find_bubblewrap() -> Bubblewrap:
    """The installed bubblewrap; GateError when there is none."""
    program = shutil.which("bwrap")
    if program is None:
        raise GateError("bwrap is not on PATH", todo="install bubblewrap")
    return Bubblewrap(program)
