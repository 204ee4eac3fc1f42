"""The gate's own temporary folders: where they may lie, read-only trees, removal."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..core.errors import GateError
from .inside.folders import OPEN_FOLDER, remove, walk

#: Files that tools look for in the folders above the one they work in; a row would obey a stranger's.
CONFIGURATION = (
    ".git", ".hg", ".editorconfig", ".gitignore", "package.json", "node_modules", "pyproject.toml",
    "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "mypy.ini", ".flake8", ".pylintrc", "ruff.toml",
    ".ruff.toml", ".pre-commit-config.yaml", ".prettierrc", ".clang-format", "rustfmt.toml", "Cargo.toml", "go.mod",
    ".yamllint", ".python-version", ".tool-versions", ".node-version", ".env",
)  # fmt: skip


def temporary_root(candidates: Sequence[Path]) -> Path:
    """The first candidate that can be written, can hold programs, and has no configuration in or above it."""
    faults = []
    for candidate in candidates:
        fault = _fault(candidate)
        if not fault:
            return candidate.resolve()
        faults.append(f"{candidate} {fault}")
    raise GateError(f"no temporary folder fits: {', '.join(faults)}", todo="set TMPDIR to another one")


def _fault(candidate: Path) -> str:
    """Why a folder cannot hold the gate's; empty when it can."""
    if not (candidate.is_absolute() and os.access(candidate, os.W_OK | os.X_OK)):
        return "cannot be written"
    if os.statvfs(candidate).f_flag & os.ST_NOEXEC:
        return "is mounted noexec"
    resolved = candidate.resolve()
    for folder in (resolved, *resolved.parents):
        for name in CONFIGURATION:
            if (folder / name).exists():
                return f"is in reach of {folder / name}"
    return ""


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder below TMPDIR or a system's temporary folder, removed at the end whatever it holds."""
    named = [os.environ["TMPDIR"]] if "TMPDIR" in os.environ else []
    candidates = [Path(name) for name in (*named, "/tmp", "/var/tmp", "/dev/shm")]  # noqa: S108
    path = Path(tempfile.mkdtemp(prefix="oracle-gate-", dir=temporary_root(candidates)))
    try:
        yield path
    finally:
        remove_folder(path)


def remove_folder(path: Path) -> None:
    """Removes a folder that programs have written: links are not followed, no depth is too deep.

    Raises GateError when something in it cannot be removed.
    """
    parent = os.open(path.parent, OPEN_FOLDER)
    try:
        remove(path.name, parent)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise GateError(f"cannot be removed: {error.strerror}", where=str(path), todo="remove it") from None
    finally:
        os.close(parent)


def make_read_only(tree: Path) -> None:
    """Lets everybody read and nobody write, whatever the umask was; root writes all the same."""
    top = os.open(tree, OPEN_FOLDER)
    try:
        for entry in walk(top):
            runs = entry.leaving or entry.info.st_mode & stat.S_IXUSR
            if entry.leaving or stat.S_ISREG(entry.info.st_mode):
                os.chmod(entry.name, 0o555 if runs else 0o444, dir_fd=entry.folder)
        os.fchmod(top, 0o555)
    finally:
        os.close(top)


def copy_code(destination: Path) -> None:
    """Copies the package `inside` to a new folder: its source alone, so that no planted .pyc is read."""
    target = destination / "inside"
    target.mkdir(parents=True)
    for module in sorted((Path(__file__).parent / "inside").glob("*.py")):
        shutil.copyfile(module, target / module.name)
    make_read_only(destination)
