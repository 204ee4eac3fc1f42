"""The baked noxfile and Makefile: thin, never skipping, never green without a fresh packet."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = {
    "env", "seal", "record", "replay", "harness", "relations", "workspace", "audit", "approve", "verdict",
    "report", "explain", "doctor",
}  # fmt: skip
#: Stands in for the gate: leaves its arguments, and a packet if told so, then ends with a code.
STUB = """\
import os, pathlib, sys
pathlib.Path("called").write_text(" ".join(sys.argv[1:]))
if os.environ["STUB_PACKET"]:
    pathlib.Path(".gate/merge_packet.json").write_text("fresh")
sys.exit(int(os.environ["STUB_CODE"]))
"""
FRONTS = ("nox gate", "nox judge", "make gate", "make judge")


@pytest.fixture
def stubbed(project: Path, tmp_path: Path) -> Path:
    """A copy of the project whose gate is the stub, with the packet of an earlier run."""
    copy = tmp_path / "project"
    shutil.copytree(project, copy)
    (copy / "tools/gate.py").write_text(STUB)
    (copy / ".gate").mkdir()
    (copy / ".gate/merge_packet.json").write_text("stale")
    return copy


def run(
    front: str, folder: Path, *arguments: str, code: int = 0, packet: bool = True, **variables: str
) -> int:
    """Run a session or a target; returns the exit code."""
    tool, _, name = front.partition(" ")
    command = ["make", name, f"ARGS={' '.join(arguments)}"]
    if tool == "nox":
        command = [sys.executable, "-m", "nox", "--session", name, "--", *arguments]
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": "/nonexistent",
        "STUB_CODE": str(code),
        "STUB_PACKET": "yes" if packet else "",
        **variables,
    }
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, check=False, timeout=60
    ).returncode


def packet_text(folder: Path) -> str:
    path = folder / ".gate/merge_packet.json"
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize("front", FRONTS)
def test_a_packet_and_code_0_pass(front: str, stubbed: Path) -> None:
    assert run(front, stubbed, "--patch", "x.patch") == 0
    assert (stubbed / "called").read_text() == "judge --patch x.patch"
    assert packet_text(stubbed) == "fresh"


@pytest.mark.parametrize("front", FRONTS)
def test_a_missing_packet_fails_and_no_old_one_stays(front: str, stubbed: Path) -> None:
    assert run(front, stubbed, packet=False) != 0
    assert packet_text(stubbed) == ""


@pytest.mark.parametrize("code", [1, 2, 4, 5])
@pytest.mark.parametrize("front", ["nox gate", "make gate"])
def test_any_other_code_fails_and_the_packet_stays(front: str, code: int, stubbed: Path) -> None:
    assert run(front, stubbed, code=code) != 0
    assert packet_text(stubbed) == "fresh"


def test_a_packet_elsewhere_is_refused(stubbed: Path) -> None:
    assert run("nox gate", stubbed, "--out", "elsewhere.json") != 0
    assert not (stubbed / "called").exists()


@pytest.mark.parametrize("backend", ["none", "uv", "virtualenv"])
def test_no_environment_is_built(backend: str, stubbed: Path) -> None:
    assert run("nox gate", stubbed, NOX_DEFAULT_VENV_BACKEND=backend, PIP_NO_INDEX="1") == 0
    assert not (stubbed / ".nox").exists() or not list((stubbed / ".nox").glob("*/bin"))


@pytest.mark.parametrize("tool", ["nox", "make"])
def test_commands_reach_the_gate(tool: str, stubbed: Path) -> None:
    assert run(f"{tool} explain", stubbed, "replay.drift", packet=False) == 0
    assert (stubbed / "called").read_text() == "explain replay.drift"
    assert run(f"{tool} doctor", stubbed, code=4, packet=False) != 0


def test_both_fronts_offer_the_same(project: Path) -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "nox", "--list"], cwd=project, capture_output=True, text=True, check=True
    )
    sessions = set(re.findall(r"^[*-] (\S+)", listed.stdout, re.M))
    assert sessions == COMMANDS | {"judge", "gate", "lock", "tests", "lint"}
    makefile = (project / "Makefile").read_text()
    [targets] = re.findall(r"^COMMANDS = (.*)$", makefile, re.M)
    assert set(targets.split()) == COMMANDS
    assert re.search(r"^judge gate:$", makefile, re.M)
    assert re.search(r"^lock tests lint:$", makefile, re.M)


def test_no_session_can_skip(project: Path) -> None:
    """A skipped session counts as success (nox#34)."""
    tree = ast.parse((project / "noxfile.py").read_text())
    assert "skip" not in {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
