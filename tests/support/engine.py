"""The engine called in this process: no bootstrap, no interpreter to start, for tests with many judgements."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from oracle_gate.commands.main import main

from support.gate import REVIEWER
from support.gitenv import git


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it printed."""

    code: int
    stdout: str
    stderr: str


class Screen(io.StringIO):
    """A stream that says of itself that it is a terminal."""

    def isatty(self) -> bool:
        return True


def run_engine(
    root: Path, *words: str, base: str = "HEAD", trust: str = "local", screen: bool = False
) -> Outcome:
    """Runs a command on `base` as the bootstrap would start it; the variable CI is not set.

    `screen`: its stderr says that it is a terminal.
    """
    commit = git(root, "rev-parse", "--verify", base + "^{commit}").decode().strip()
    launch = {"repository": str(root), "base": commit, "base_from": "test", "trust": trust}
    launch["fresh"] = tempfile.mkdtemp(prefix="gate-fresh-")
    out, err = io.StringIO(), Screen() if screen else io.StringIO()
    with (
        mock.patch.dict(os.environ),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        os.environ.pop("CI", None)
        code = main(json.dumps(launch), list(words))
    return Outcome(code, out.getvalue(), err.getvalue())


def record(root: Path, *words: str, screen: bool = False) -> Outcome:
    """`record` on the corpus as it is, without a question."""
    digest = run_engine(root, "record", "--print-digest").stdout.strip()
    return run_engine(
        root, "record", "--reviewed-by", REVIEWER, "--corpus-sha256", digest, *words, screen=screen
    )


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of change of every file below a folder: what must not move."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
