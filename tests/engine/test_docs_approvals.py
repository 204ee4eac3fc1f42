"""docs/approvals.md, executed: each way ends with an eligible change."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.approving import allow, make_keys
from support.baking import TEMPLATE
from support.cruft import PROGRAM, cruft, environment, first_version, second_version
from support.gate import REVIEWER, Gate
from support.gitenv import commit_all, git
from support.quick import ROWS, rows_text

TEXT = (TEMPLATE / "docs/approvals.md").read_text(encoding="utf-8")
FLAKY = "tests/test_flaky.py::test_flaky"


def branch(gate: Gate) -> None:
    git(gate.root, "switch", "--quiet", "--create", "change")


def behaviour(gate: Gate) -> None:
    branch(gate)
    gate.edit("src/prog.sh", "wc -l", "wc -c")
    commit_all(gate.root, "Count bytes")


def new_row(gate: Gate) -> None:
    branch(gate)
    more = {"id": "lower", "argv": ["src/prog.sh", "upper"], "stdin": "new row\n"}
    gate.write("corpus/inputs.jsonl", rows_text(*ROWS, more))


def expired(gate: Gate) -> None:
    gate.write("tests/test_flaky.py", "def test_flaky():\n    assert 1 + 1 == 2\n")
    entry = {"reason": "waits for the network", "expires": "2020-01-01"}
    gate.write("oracle/quarantine.json", json.dumps({FLAKY: entry}))
    commit_all(gate.root, "A flaky test")
    branch(gate)
    gate.write("oracle/quarantine.json", json.dumps({FLAKY: {**entry, "expires": "2999-12-31"}}))


def moved(gate: Gate) -> None:
    pins = json.loads((gate.root / "oracle/digests.json").read_bytes())
    gate.write("oracle/digests.json", json.dumps({**pins, "upper": "f" * 64}))
    commit_all(gate.root, "As if another machine had pinned it")
    branch(gate)


def update(gate: Gate) -> None:
    """A project on the template's first version; there is a second one."""
    folder = gate.root.parent
    template = first_version(folder)
    cruft(folder, "link", "--no-input", str(template), cwd=gate.root)
    commit_all(gate.root, "Follow the template")
    second_version(template)
    branch(gate)


def fork(gate: Gate) -> None:
    gate.edit("src/prog.sh", "wc -l", "wc -c")
    (gate.root.parent / "fork.patch").write_bytes(gate.cut_patch())


def guard(root: Path) -> None:
    """The guard as a hook: every commit of a documented way must pass it."""
    hooks = root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").write_text(
        "#!/bin/sh\necho >> .git/guarded\nexec python3 -I tools/oracle_guard.py\n"
    )
    (hooks / "pre-commit").chmod(0o755)


WAYS: dict[str, Callable[[Gate], None]] = {
    "A behaviour change, pinned in the same pull request": behaviour,
    "A new row": new_row,
    "An expired quarantine entry": expired,
    "The machine moved": moved,
    "An update of the engine": update,
    "A pull request from a fork": fork,
}


def blocks() -> dict[str, str]:
    """The shell text below each heading that has any."""
    sections = re.split(r"(?m)^## (.*)$", TEXT)[1:]
    found = {
        title: re.findall(r"(?ms)^```sh\n(.*?)^```$", body)
        for title, body in zip(sections[::2], sections[1::2], strict=True)
    }
    return {title: "\n".join(texts) for title, texts in found.items() if texts}


def test_every_way_is_tried() -> None:
    assert list(blocks()) == list(WAYS)


@pytest.mark.parametrize("title", WAYS)
def test_the_documented_way(title: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    # cruft needs a whole project; the others do with the quick one.
    gate: Gate = request.getfixturevalue("gate" if WAYS[title] is update else "quick")
    keys = make_keys(tmp_path / "keys")
    allow(gate, keys)
    WAYS[title](gate)
    guard(gate.root)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, program in (("python3", sys.executable), ("cruft", str(PROGRAM))):
        (programs / name).symlink_to(program)
    variables = environment(tmp_path)
    variables |= {
        "KEY": str(keys.path()), "REVIEWER": REVIEWER, "PATCH": str(tmp_path / "fork.patch"),
        "PATH": f"{programs}:{variables['PATH']}",
    }  # fmt: skip
    done = subprocess.run(
        ["sh", "-ec", blocks()[title]], cwd=gate.root, env=variables, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("verdict eligible (")
    packet = gate.packet()
    assert (packet["verdict"], [fact["valid"] for fact in packet["approvals"]]) == ("eligible", [True])
    guarded = gate.root / ".git/guarded"
    times = len(guarded.read_text()) if guarded.exists() else 0
    assert times == blocks()[title].count("git commit")
    if WAYS[title] is update:
        git(gate.root, "switch", "--quiet", "main")
        git(gate.root, "merge", "--quiet", "--ff-only", "change")
        # Only now is the new engine the one that judges.
        assert gate.run("judge", "--quiet", check=0).stdout.startswith("VERDICT none")
