"""The gate's own temporary folders: where they may lie, read-only trees, removal."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
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


def temporary_root(candidates: tuple[Path, ...]) -> Path:
    """The first candidate that can be written, can hold programs, and has no configuration in or above it."""
    for candidate in candidates:
        if not candidate.is_absolute() or not os.access(candidate, os.W_OK | os.X_OK):
            continue
        if os.statvfs(candidate).f_flag & os.ST_NOEXEC:
            continue
        resolved = candidate.resolve()
        above = (resolved, *resolved.parents)
        if not any((folder / name).exists() for folder in above for name in CONFIGURATION):
            return resolved
    names = ", ".join(map(str, candidates))
    raise GateError(
        f"no temporary folder without configuration (such as {CONFIGURATION[0]}) in or above it: {names}",
        todo="set TMPDIR to one",
    )


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder below TMPDIR or a system's temporary folder, removed at the end whatever it holds."""
    named = os.environ.get("TMPDIR")
    candidates = [*([named] if named else []), "/tmp", "/var/tmp", "/dev/shm"]  # noqa: S108
    path = Path(tempfile.mkdtemp(prefix="oracle-gate-", dir=temporary_root(tuple(map(Path, candidates)))))
    try:
        yield path
    finally:
        remove_folder(path)


def remove_folder(path: Path) -> None:
    """Removes a folder that programs have written: links are not followed, no depth is too deep."""
    parent = os.open(path.parent, OPEN_FOLDER)
    try:
        remove(path.name, parent)
    except FileNotFoundError:
        pass
    finally:
        os.close(parent)


def make_read_only(tree: Path) -> None:
    """Takes the write permission from everything; root writes all the same."""
    top = os.open(tree, OPEN_FOLDER)
    try:
        for entry in walk(top):
            mode = stat.S_IMODE(entry.info.st_mode)
            if entry.leaving or stat.S_ISREG(entry.info.st_mode):
                os.chmod(entry.name, mode & 0o555, dir_fd=entry.folder)
        os.fchmod(top, 0o555)
    finally:
        os.close(top)


def copy_code(destination: Path) -> None:
    """Copies the package `inside` to a new folder: its source alone, so that no planted .pyc is read."""
    target = destination / "inside"
    target.mkdir(parents=True)
    for module in sorted((Path(__file__).parent / "inside").glob("*.py")):
        shutil.copyfile(module, target / module.name)
