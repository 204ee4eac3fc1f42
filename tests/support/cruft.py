"""A project that follows the template with cruft, and a newer version of the template."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.baking import SCAFFOLD, copy_template, user_config
from support.gitenv import commit_all, git_env, make_repository

PROGRAM = Path(sys.executable).with_name("cruft")
TERMINAL = "tools/oracle_gate/render/terminal.py"


def environment(folder: Path) -> dict[str, str]:
    """What cruft runs in: no configuration but one that keeps clones and replay files in `folder`."""
    return git_env() | {"COOKIECUTTER_CONFIG": str(user_config(folder)), "HOME": str(folder)}


def cruft(folder: Path, *words: str, cwd: Path) -> str:
    """Runs cruft; returns what it printed, and fails with it."""
    done = subprocess.run(
        [str(PROGRAM), *words], cwd=cwd, env=environment(folder), stdin=subprocess.DEVNULL, text=True,
        capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def first_version(folder: Path) -> Path:
    """A repository with the template as it is."""
    template = make_repository(copy_template(folder / "template"))
    commit_all(template, "Version 1")
    return template


def second_version(template: Path) -> str:
    """A version whose engine has a module more, prints VERDICT, and whose project ignores *.orig; its commit."""
    scaffold = template / SCAFFOLD.name
    terminal = scaffold / TERMINAL
    text = terminal.read_text(encoding="utf-8")
    assert 'f"verdict {' in text
    terminal.write_text(text.replace('f"verdict {', 'f"VERDICT {'), encoding="utf-8")
    (scaffold / "tools/oracle_gate/render/more.py").write_text(
        '"""x = 1 << 3 >> 1 is copied, not rendered."""\n'
    )
    with (scaffold / ".gitignore").open("a", encoding="utf-8") as file:
        file.write("*.orig\n")
    return commit_all(template, "Version 2")
