"""Repositories whose commits pass through oracle_guard.py, as a git hook of their own."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .baking import TEMPLATE
from .gitenv import commit_all, git, git_env, make_repository

GUARD = TEMPLATE / "<<cookiecutter.project_slug>>" / "tools" / "oracle_guard.py"
FILES = {
    "oracle/denylist.txt": "# human-owned\noracle/\ncorpus/\nsealed/\ntools/\ndocs/human.md\n",
    "oracle/digests.json": '{"row": "' + "0" * 64 + '"}\n',
    "oracle/gate.toml": '[subject]\npath = ["src", "lib"]\n',
    "oracle/quarantine.json": "{}\n",
    "corpus/inputs.jsonl": "{}\n",
    "src/app.py": "print(1)\n",
    "docs/human.md": "by humans\n",
    "docs/other.md": "by anyone\n",
    "noxfile.py": "# sessions\n",
    ".pre-commit-config.yaml": "repos: []\n",
    "caf\u00e9/human.txt": "x\n",
}


@dataclass(frozen=True)
class Guarded:
    """A repository with the guard as its pre-commit and pre-merge-commit hook."""

    root: Path

    def git(self, *arguments: str, data: bytes | None = None) -> bytes:
        """git, which must succeed."""
        return git(self.root, *arguments, data=data)

    def write(self, path: str, text: str) -> Path:
        """Writes a file of the work tree."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def attempt(
        self, *arguments: str, extra: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """A git command that the guard may refuse."""
        command = ["git", *arguments]
        environment = git_env() | dict(extra or {})
        return subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )

    def guard(
        self, extra: Mapping[str, str] | None = None, **options: Path
    ) -> subprocess.CompletedProcess[str]:
        """Runs the guard itself."""
        command = [sys.executable, "-I", str(GUARD)]
        environment = git_env() | dict(extra or {})
        cwd = options.get("cwd", self.root)
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, errors="replace", check=False
        )

    def clone_remote(self) -> Path:
        """Makes a bare remote named origin of what is committed; returns where it is."""
        remote = self.root.parent / "remote.git"
        git(self.root, "clone", "--quiet", "--bare", "--template=", str(self.root), str(remote))
        self.git("remote", "add", "origin", str(remote))
        self.git("fetch", "--quiet", "origin")
        return remote


def install_hooks(root: Path) -> None:
    """pre-commit and pre-merge-commit hooks that run the guard."""
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "pre-merge-commit"):
        hook = hooks / name
        hook.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, '-I', str(GUARD)])}\n")
        hook.chmod(0o755)


def install_push_hook(root: Path) -> None:
    """A pre-push hook of git's own, which is told every ref."""
    hook = root / ".git/hooks/pre-push"
    hook.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-I", str(GUARD)])} "$@"\n')
    hook.chmod(0o755)


def show_row(command: Sequence[str], situation: str, answer: subprocess.CompletedProcess[str]) -> None:
    """Prints a row of the guard's behaviour: `pytest -s tests/engine/test_guard*.py | grep '^|'` is the table."""
    said = [line for line in answer.stderr.splitlines() if re.match("[ADMT] ", line)]
    outcome = f"refused: {', '.join(said)}" if answer.returncode else "passed"
    print(f"\n| git {' '.join(command)} | {situation} | {outcome} |")


def guarded(path: Path, files: Mapping[str, str] | None = None) -> Guarded:
    """A repository with one commit of `files`, by default an armed oracle and a program."""
    root = make_repository(path)
    for name, text in (FILES if files is None else files).items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    commit_all(root, "first")
    install_hooks(root)
    return Guarded(root)
