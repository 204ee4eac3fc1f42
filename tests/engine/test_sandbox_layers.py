"""Layers through the command line: which one is used, what the packet says of it, equal digests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Literal, cast

import pytest
from oracle_gate.commands import replayers
from oracle_gate.commands.context import Context
from oracle_gate.core.errors import GateError
from oracle_gate.core.oracle import Oracle
from oracle_gate.core.settings import Settings
from oracle_gate.runner.environment import Subject
from oracle_gate.runner.subject import interpreter_paths
from oracle_gate.sandbox.landlock import Landlock
from oracle_gate.sandbox.layer import Confinement, Inside, Launch, Visible
from oracle_gate.sandbox.probes import PROBES
from support.gate import Gate
from support.gitenv import commit_all, git_env, only_git


@pytest.fixture
def isolated(gate: Gate) -> Gate:
    """The armed sample, held to isolation; its digests were recorded without any."""
    gate.edit("oracle/gate.toml", 'require = "plain"', 'require = "isolated"')
    commit_all(gate.root, "Require isolation")
    return gate


def test_without_bubblewrap_landlock_holds_and_gives_the_digests_of_plain(
    isolated: Gate, tmp_path: Path
) -> None:
    isolated.run("judge", env={"PATH": str(only_git(tmp_path / "bin"))}, check=0)
    packet = isolated.packet()
    assert packet["sandbox"]["mode"] == "landlock"
    assert packet["sandbox"]["probes"] == dict.fromkeys(PROBES, "blocked")
    assert packet["verdict"] == "none"
    assert packet["counts"]["match"] == packet["counts"]["rows"]


def fail(bubblewrap: Path) -> None:
    """Puts one there that has not the rights it needs."""
    bubblewrap.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    bubblewrap.chmod(0o755)


def test_a_bubblewrap_that_fails_is_passed_over(isolated: Gate, tmp_path: Path) -> None:
    programs = only_git(tmp_path / "bin")
    fail(programs / "bwrap")
    isolated.run("judge", env={"PATH": str(programs)}, check=0)
    assert isolated.packet()["sandbox"]["mode"] == "landlock"


def test_plain_and_none_are_never_enough_where_isolation_is_required(isolated: Gate) -> None:
    for sandbox in ("plain", "none"):
        isolated.run("judge", "--sandbox", sandbox, check=4)
        assert {reason["rule"] for reason in isolated.packet()["reasons"]} == {"sandbox.insufficient"}, (
            sandbox
        )
    assert isolated.packet()["sandbox"]["mode"] == "none"


#: Becomes the gate on a kernel that has no Landlock, as far as the gate can see.
WITHOUT_LANDLOCK = """
import ctypes, os, struct, sys
steps = ((0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000))
code = b"".join(struct.pack("HBBI", *step) for step in steps)
held = ctypes.create_string_buffer(code, len(code))
library = ctypes.CDLL(None)
library.prctl(38, ctypes.c_ulong(1), 0, 0, 0)
if library.prctl(22, ctypes.c_ulong(2), struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(held)), 0, 0):
    sys.exit("no seccomp")
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def test_with_a_failing_bubblewrap_and_no_landlock_it_holds(isolated: Gate, tmp_path: Path) -> None:
    programs = only_git(tmp_path / "bin")
    fail(programs / "bwrap")
    command = [sys.executable, "-c", WITHOUT_LANDLOCK, str(isolated.root / "tools/gate.py"), "judge"]
    environment = {**git_env(), "PATH": str(programs)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 4, done.stderr
    packet = isolated.packet()
    (reason,) = packet["reasons"]
    assert (packet["verdict"], reason["rule"]) == ("hold", "sandbox.insufficient")
    assert "setting up uid map: Permission denied" in reason["detail"]
    assert "Landlock" in reason["detail"]
    assert packet["lanes"]["replay"]["state"] == "not_run"


class _Refused:
    """A layer whose kernel refuses it."""

    name: Literal["landlock"] = "landlock"
    protects_tree = True

    def launch(self, visible: Visible) -> Launch:
        inside = Inside(str(visible.tree), str(visible.scratch), str(visible.code))
        return Launch(inside, prefix=("/bin/false",), confinement=Confinement())


def test_with_both_refused_nothing_is_left_to_run_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(replayers, "candidates", lambda _wanted: [GateError("bwrap fails"), _Refused()])
    monkeypatch.setattr(replayers, "subject_of", lambda *_: Subject(Path(sys.executable)))
    context = SimpleNamespace(environments=tmp_path)
    oracle = SimpleNamespace(settings=Settings(), requirements=b"")
    found = replayers.isolation(cast(Context, context), cast(Oracle, oracle))
    assert found.layer is None
    assert (found.facts.mode, found.facts.required) == ("not_run", "isolated")
    assert "bwrap fails" in found.facts.problem
    assert "a worker does not start" in found.facts.problem


def test_landlock_names_only_what_programs_need(tmp_path: Path) -> None:
    visible = Visible(tmp_path / "tree", tmp_path / "scratch", tmp_path / "code")
    confinement = Landlock().launch(visible).confinement
    assert confinement is not None
    assert confinement.writable == (str(tmp_path / "scratch"), "/dev/null")
    assert not any(path in ("/", "/etc", "/proc", "/home", "/dev") for path in confinement.readable)


def test_what_lies_around_a_link_to_the_interpreter_is_not_shown(tmp_path: Path) -> None:
    """A home with a `bin/python3` of its own, by itself and as what an environment was made from."""
    real = Path(sys.executable).resolve()
    home, environment = tmp_path / "home", tmp_path / "environment"
    for folder in (home, environment):
        (folder / "bin").mkdir(parents=True)
    link, python = home / "bin/python3", environment / "bin/python"
    link.symlink_to(real)
    python.symlink_to(link)
    (environment / "pyvenv.cfg").write_text(f"home = {link.parent}\n")
    assert set(interpreter_paths(link)) == {link, real.parent.parent}
    assert set(interpreter_paths(python)) == {python, link, environment, real.parent.parent}
