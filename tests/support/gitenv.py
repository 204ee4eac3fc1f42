"""Repositories made without the user's git configuration, identity, clock or HOME."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

_IDENTITY = ("Test Author", "author@example.org", "2026-01-01T00:00:00Z")


def git_env() -> dict[str, str]:
    """A whole environment for git: only PATH and TMPDIR are the caller's; commit ids are reproducible."""
    name, mail, date = _IDENTITY
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": mail, f"GIT_{role}_DATE": date}
    if "TMPDIR" in os.environ:
        env["TMPDIR"] = os.environ["TMPDIR"]
    return env


def git(repository: Path, *arguments: str, data: bytes | None = None) -> bytes:
    """Run git in `repository` and return its stdout; a failure raises with git's stderr in the message."""
    done = subprocess.run(
        ["git", *arguments], cwd=repository, env=git_env(), input=data, capture_output=True, check=False
    )
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"git {' '.join(arguments)} (exit {done.returncode}): {message}")
    return done.stdout


def make_repository(path: Path) -> Path:
    """`git init` with the branch main in `path`, made if it is missing. Returns `path`."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "--quiet", "--initial-branch=main", "--template=")
    return path


def commit_all(path: Path, message: str) -> str:
    """Commit everything that .gitignore allows, also when nothing changed. Returns the full commit id."""
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(path, "rev-parse", "HEAD").decode().strip()


def only_git(folder: Path) -> Path:
    """A new folder to be PATH, which has git and nothing else."""
    folder.mkdir()
    (folder / "git").symlink_to(str(shutil.which("git")))
    return folder
