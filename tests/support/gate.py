"""An armed repository and the gate's command line, as its users have them."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.baking import bake
from support.gitenv import commit_all, git, git_env, make_repository

REVIEWER = "A Reviewer <reviewer@example.org>"


@dataclass(frozen=True)
class Gate:
    """One repository with the scaffold in it."""

    root: Path

    def run(
        self,
        *words: str,
        check: int | None = None,
        env: dict[str, str] | None = None,
        stdin: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs `python3 tools/gate.py WORDS`; with `check`, fails unless the exit code is that."""
        return run_gate(self.root / "tools/gate.py", *words, check=check, env=env, stdin=stdin)

    def judge(self, *words: str, check: int | None = None) -> dict[str, Any]:
        """Judges, and returns the packet."""
        self.run("judge", *words, check=check)
        return self.packet()

    def judge_patch(self, patch: bytes, *words: str, check: int | None = None) -> dict[str, Any]:
        """Judges these bytes as a patch, and returns the packet."""
        file = self.root.parent / "change.patch"
        file.write_bytes(patch)
        return self.judge("--patch", str(file), *words, check=check)

    def packet(self) -> dict[str, Any]:
        """The packet of the last judgement."""
        document: dict[str, Any] = json.loads((self.root / ".gate/merge_packet.json").read_bytes())
        return document

    def edit(self, path: str, old: str, new: str) -> None:
        """Replaces a text that must be there."""
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} does not hold {old!r}"
        file.write_text(text.replace(old, new), encoding="utf-8", newline="")

    def write(self, path: str, text: str) -> None:
        """Writes a file, making its folders."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")

    def cut_patch(self) -> bytes:
        """The work tree's difference to HEAD, new files included, as a patch; the tree is reset to HEAD."""
        git(self.root, "add", "--all", "--force", ".", ":!.gate")
        patch = git(self.root, "diff", "--cached", "--binary", "--full-index", "HEAD")
        git(self.root, "reset", "--quiet", "--hard", "HEAD")
        return patch

    def arm(self) -> None:
        """env, seal, record, commit."""
        self.run("env", check=0)
        self.run("seal", check=0)
        digest = self.run("record", "--print-digest", check=0).stdout.strip()
        self.run("record", "--reviewed-by", REVIEWER, "--corpus-sha256", digest, check=0)
        commit_all(self.root, "Arm the oracle")


def run_gate(
    script: Path,
    *words: str,
    check: int | None = None,
    env: dict[str, str] | None = None,
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs one of the scaffold's tools without the caller's environment."""
    environment = {**git_env(), **(env or {})}
    for name in (
        "PIP_CONFIG_FILE",
        "PIP_INDEX_URL",
        "PIP_FIND_LINKS",
    ):  # where packages come from is the machine's
        if name in os.environ:
            environment[name] = os.environ[name]
    done = subprocess.run(
        [sys.executable, str(script), *words], env=environment, input=stdin or "", text=True, check=False,
        capture_output=True, timeout=300,
    )  # fmt: skip
    assert "Traceback (most recent call last)" not in done.stderr, done.stderr
    assert check is None or done.returncode == check, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def armed_repository(shared: Path) -> Path:
    """The sample project, armed, made once below `shared`; to be copied, not changed."""
    shared.mkdir(parents=True, exist_ok=True)
    ready = shared / "ready"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            project = bake(shared / "bakes")
            make_repository(project)
            # Most tests are not about the sandbox, which costs each judgement a second of probes.
            Gate(project).edit("oracle/gate.toml", 'require = "isolated"', 'require = "plain"')
            commit_all(project, "Scaffold")
            Gate(project).arm()
            ready.write_text(str(project))
    return Path(ready.read_text())


def copy_repository(source: Path, destination: Path) -> Gate:
    """A private copy, with the environment shared by hard links."""
    shutil.copytree(source, destination, symlinks=True, ignore=shutil.ignore_patterns(".gate"))
    if (source / ".gate").exists():
        shutil.copytree(source / ".gate", destination / ".gate", symlinks=True, copy_function=os.link)
    return Gate(destination)
