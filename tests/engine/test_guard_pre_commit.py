"""The guard under pre-commit itself, with the scaffold's configuration, an empty cache and no network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.baking import SCAFFOLD
from support.gitenv import git_env
from support.guarding import FILES, GUARD, Guarded, guarded

PINS = "oracle/digests.json"


@pytest.fixture
def repository(tmp_path: Path) -> Guarded:
    configuration = (SCAFFOLD / ".pre-commit-config.yaml").read_text()
    files = {**FILES, ".pre-commit-config.yaml": configuration, "tools/oracle_guard.py": GUARD.read_text()}
    found = guarded(tmp_path / "repository", files)
    shutil.rmtree(found.root / ".git/hooks")
    (found.root / ".git/hooks").mkdir()
    installed = subprocess.run(
        [sys.executable, "-m", "pre_commit", "install"], cwd=found.root,
        env=git_env() | environment(tmp_path),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert installed.returncode == 0, installed.stderr
    return found


def environment(tmp_path: Path) -> dict[str, str]:
    """An empty cache, no way to the network, and this Python as python3."""
    programs = tmp_path / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "python3").unlink(missing_ok=True)
    (programs / "python3").symlink_to(sys.executable)
    return {
        "PATH": f"{programs}:{os.environ.get('PATH', os.defpath)}",
        "PRE_COMMIT_HOME": str(tmp_path / "cache"),
        "PRE_COMMIT_COLOR": "never", "https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9",
    }  # fmt: skip


def test_all_files_and_all_refs(repository: Guarded, tmp_path: Path) -> None:
    """A clean head is green; pre-commit names one ref of a push, the hook of the README sees the others."""
    known = environment(tmp_path)
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
    for stage in ("pre-commit", "pre-merge-commit", "pre-push"):
        answer = subprocess.run(
            [*command, "--hook-stage", stage], cwd=repository.root, env=git_env() | known,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert answer.returncode == 0, answer.stdout + answer.stderr

    repository.clone_remote()
    repository.git("branch", "good")
    repository.git("checkout", "-q", "-b", "bad")
    repository.write("corpus/new", "x\n")
    repository.git("add", "--all")
    repository.git("commit", "-q", "--no-verify", "-m", "past the guard")
    repository.git("checkout", "-q", "good")
    repository.write("src/app.py", "work\n")
    repository.git("commit", "-q", "--no-verify", "-a", "-m", "work")
    refs = ("push", "--dry-run", "origin", "good:a", "bad:b")
    assert repository.attempt(*refs, extra=known).returncode == 0, "when pre-commit names all refs, simplify"
    (block,) = re.findall(r"```sh\n(\s+printf .*?)```", (SCAFFOLD / "README.md").read_text(), re.DOTALL)
    subprocess.run(["sh", "-ec", block], cwd=repository.root, env=git_env(), check=True)
    answer = repository.attempt(*refs, extra=known)
    assert (answer.returncode, "A corpus/new" in answer.stderr) == (1, True)


def test_commits_and_pushes(repository: Guarded, tmp_path: Path) -> None:
    known = environment(tmp_path)
    repository.clone_remote()
    repository.git("checkout", "-q", "-b", "topic")
    repository.write("src/app.py", "work\n")
    answer = repository.attempt("commit", "-q", "-a", "-m", "work", extra=known)
    assert answer.returncode == 0, answer.stderr
    assert "oracle guard" in answer.stdout + answer.stderr

    repository.git("rm", "-q", "oracle/quarantine.json")
    answer = repository.attempt("commit", "-q", "-m", "x", extra=known)
    assert answer.returncode == 1
    assert "D oracle/quarantine.json" in answer.stdout + answer.stderr
    assert "SKIP=oracle-guard" in answer.stdout + answer.stderr
    answer = repository.attempt("push", "-q", "origin", "topic", extra=known)
    assert answer.returncode == 0, answer.stderr

    answer = repository.attempt("commit", "-q", "-m", "x", extra=known | {"SKIP": "oracle-guard"})
    assert answer.returncode == 0, answer.stderr
    answer = repository.attempt("push", "-q", "origin", "topic", extra=known)
    assert answer.returncode == 1
    assert "D oracle/quarantine.json" in answer.stdout + answer.stderr
    assert repository.attempt("push", "-q", "origin", ":topic", extra=known).returncode == 0
