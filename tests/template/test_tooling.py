"""The template's own make, CI script and limits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.baking import SCAFFOLD, TEMPLATE
from support.size_limits import DECIDING_CODE, ENGINE_CODE, exceeded, lines_of_code


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in a folder with a space, without an environment."""
    folder = tmp_path / "check out"
    for name in ("Makefile", "requirements/dev.txt", ".ci/run"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TEMPLATE / name, folder / name)
    return folder


def wrapper(path: Path, script: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def with_environment(folder: Path, code: int) -> Path:
    """Pretend that .venv is built; its Python only notes what it is asked, and ends with a code."""
    asked = folder / "asked"
    wrapper(folder / ".venv/bin/python", f'echo "$@" >> "{asked}"; echo "1 passed"; exit {code}')
    (folder / ".venv/.ready").touch()
    return asked


@pytest.mark.parametrize("target", ["test", "demo"])
def test_without_ensurepip_one_line_says_what_to_install(target: str, checkout: Path) -> None:
    script = f'for word in "$@"; do [ "$word" = ensurepip ] && exit 1; done; exec "{sys.executable}" "$@"'
    python = wrapper(checkout / "bin/python3", script)
    done = run(checkout, "make", target, f"PYTHON=bin/{python.name}")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "install python3-venv" in line
    assert done.stdout == ""
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("script", ["exit 127", 'case "$1" in -c) exit 0;; esac'])
def test_a_missing_or_old_python_is_one_line(script: str, checkout: Path) -> None:
    wrapper(checkout / "bin/python3", script)
    done = run(checkout, "make", "test", "PYTHON=bin/python3")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "older than 3.11" in line


def test_make_test_runs_all_sessions(checkout: Path) -> None:
    asked = with_environment(checkout, 0)
    assert run(checkout, "make", "test").returncode == 0
    assert asked.read_text() == "-m nox --session lint typecheck tests\n"


def test_make_demo_runs_the_demo(checkout: Path) -> None:
    asked = with_environment(checkout, 0)
    assert run(checkout, "make", "demo", "ARGS=--keep here").returncode == 0
    assert asked.read_text() == "-m nox --session demo -- --keep here\n"


def test_a_failing_session_fails_make(checkout: Path) -> None:
    with_environment(checkout, 1)
    assert run(checkout, "make", "test").returncode == 2


@pytest.mark.parametrize("code", [0, 1])
def test_ci_runs_make_test_from_anywhere(code: int, checkout: Path, tmp_path: Path) -> None:
    asked = with_environment(checkout, code)
    done = run(tmp_path, "bash", str(checkout / ".ci/run"))
    assert (done.returncode != 0) == bool(code)
    assert done.stdout.splitlines()[-1:] == ["1 passed"]
    assert asked.read_text() == "-m nox --session lint typecheck tests\n"


def test_reports_are_not_green_without_a_browser() -> None:
    done = run(TEMPLATE, sys.executable, "tests/browser/run.py", "--browser", "no-such-browser")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("reports: no no-such-browser here: install one")


def test_the_judge_stays_reviewable() -> None:
    assert exceeded(SCAFFOLD / "tools") == []


def test_the_limits_bite(tmp_path: Path) -> None:
    long = tmp_path / "oracle_gate/core/long.py"
    long.parent.mkdir(parents=True)
    (tmp_path / "metamorphic.py").write_text("x = 1\n" * 20000)
    long.write_text("#\n" * 350)
    assert exceeded(tmp_path) == []
    long.write_text("#\n" * 351)
    assert [re.sub(":.*", "", line) for line in exceeded(tmp_path)] == ["oracle_gate/core/long.py"]
    long.write_text("x = 1\n" * (DECIDING_CODE + 1))
    assert [re.sub(":.*", "", line) for line in exceeded(tmp_path)][1:] == ["deciding"]
    long.write_text("x = 1\n" * (ENGINE_CODE + 1))
    long.rename(tmp_path / "oracle_guard.py")
    assert [re.sub(":.*", "", line) for line in exceeded(tmp_path)][1:] == ["engine"]


def test_comments_and_docstrings_are_no_code() -> None:
    assert lines_of_code('"""Says\nmuch."""\n\n# why\nx = [\n    1,\n]\n') == 3
