"""The commands of both READMEs, run as they stand there."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from support.baking import TEMPLATE, bake, user_config
from support.gitenv import git, git_env

REMOTE = "gh:OWNER/cookiecutter-replay-oracle"
#: What test_tooling.py runs with another Python in place of the real one, since it would start this test.
TOOLING = {"make demo", "make test", "make test PYTHON=python3.12"}


def commands(readme: Path) -> list[list[str]]:
    """The lines of each shell block."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", readme.read_text(encoding="utf-8"), re.M | re.S)
    return [block.splitlines() for block in blocks]


def shell(lines: list[str], folder: Path, answer: str = "") -> str:
    """Run lines in one shell, with a terminal as standard input that gives an answer; returns the output."""
    environment = {
        **git_env(),
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COOKIECUTTER_CONFIG": str(user_config(folder)),
    }
    master, slave = pty.openpty()
    try:
        os.write(master, answer.encode())
        done = subprocess.run(
            ["bash", "-e", "-c", "\n".join(lines)],
            cwd=folder,
            env=environment,
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
    finally:
        os.close(slave)
        os.close(master)
    assert done.returncode == 0, f"{lines}\n{done.stdout}"
    return done.stdout


def cut_patch(project: Path) -> None:
    """An honest change, as change.patch."""
    source = project / "src/replay_demo/fmt.py"
    source.write_text(source.read_text().replace("_block(", "_bracketed("))
    patch = git(project, "diff", "--binary", "--full-index")
    git(project, "checkout", "--", "src")
    (project / "change.patch").write_bytes(patch)


def verdict(project: Path) -> str:
    return str(json.loads((project / ".gate/merge_packet.json").read_bytes())["verdict"])


def test_quick_start(template: Path, tmp_path: Path) -> None:
    [start, *others] = commands(TEMPLATE / "README.md")
    assert REMOTE in start[0]
    start[0] = start[0].replace(REMOTE, str(template))
    assert "judge --patch" in start[-1]
    printed = shell(start[:-1], tmp_path, answer="y\n")
    assert "fmt-in-place" in printed  # the rows were shown before the question was asked
    project = tmp_path / "replay-demo"
    cut_patch(project)
    shell(start[-1:], project)
    assert verdict(project) == "eligible"
    assert {line for block in others for line in block} == TOOLING


def test_the_scaffolds_own_readme(tmp_path: Path) -> None:
    project = bake(tmp_path)
    arming, daily = commands(project / "README.md")
    assert daily[0].endswith("judge --patch change.patch")
    shell(arming, project, answer="y\n")
    cut_patch(project)
    shell(daily[:1], project)
    assert verdict(project) == "eligible"
    (project / "change.patch").unlink()
    shell(daily[1:], project)
    assert verdict(project) == "none"
