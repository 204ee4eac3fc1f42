"""Killed at any moment, the gate leaves the old files whole, or the new ones, and no process behind.

SIGKILL lets nobody clean up: folders named gate-* and oracle-gate-* may stay below TMPDIR, and a file that was
being written may stay beside the one it was to replace.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from oracle_gate.core.decode import decode_json
from oracle_gate.core.packet import Packet
from support.engine import state
from support.gate import REVIEWER, Gate
from support.gitenv import commit_all, git, git_env
from support.orphans import adopted
from support.quick import ROWS, rows_text

KILLS = 25  # of each command
#: Rows that take a while, so that programs are running when the gate dies.
SLOW = {"id": "slow", "argv": ["sh", "-c", "sleep 0.1 & wait; sh src/prog.sh upper"], "stdin": "slow\n"}
#: Seconds in which everything must be gone: a guard gives its worker some time.
SOON = 15.0
ASIDE = re.compile(r"(digests|provenance)\.json\.\d+")


@dataclass
class Killing:
    """Runs a command again and again, and kills it each time a little later."""

    gate: Gate
    words: tuple[str, ...]
    dice: random.Random
    longest: float = 0.0
    killed: int = 0

    def start(self) -> subprocess.Popen[bytes]:
        temporary = self.gate.root.parent / "tmp"
        temporary.mkdir(exist_ok=True)
        return subprocess.Popen(
            [sys.executable, str(self.gate.root / "tools/gate.py"), *self.words],
            env=git_env() | {"TMPDIR": str(temporary)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def whole(self) -> int:
        """Lets it run to its end; returns the exit code."""
        start = time.monotonic()
        code = self.start().wait(120)
        self.longest = time.monotonic() - start
        return code

    def once(self, number: int) -> None:
        """Kills it in the given one of KILLS equal parts of its time."""
        start = time.monotonic()
        process = self.start()
        moment = self.longest * (number + self.dice.random()) / KILLS
        try:
            process.wait(moment)
            self.longest = time.monotonic() - start  # the machine got faster
        except subprocess.TimeoutExpired:
            process.kill()
            self.killed += 1
        process.wait()


@pytest.fixture
def slow(quick: Gate) -> Gate:
    """The quick repository with three rows, one of which takes its time; not armed."""
    quick.write("corpus/inputs.jsonl", rows_text(ROWS[0], ROWS[2], SLOW))
    for name in ("digests", "provenance"):
        quick.write(f"oracle/{name}.json", "{}\n")
    commit_all(quick.root, "Another corpus")
    return quick


def record_words(gate: Gate) -> tuple[str, ...]:
    digest = gate.run("record", "--print-digest", check=0).stdout.strip()
    return ("record", "--reviewed-by", REVIEWER, "--corpus-sha256", digest)


def files_left(gate: Gate) -> list[str]:
    """What lies in the repository and is neither committed nor below .gate/."""
    listed = git(gate.root, "status", "--porcelain", "--ignored", "-z").decode().split("\0")
    return [line[3:] for line in listed if line and not line[3:].startswith(".gate/")]


def test_record_killed_at_any_moment(slow: Gate) -> None:
    words, oracle = record_words(slow), slow.root / "oracle"
    killing = Killing(slow, words, random.Random(3))
    assert killing.whole() == 0
    new = {name: (oracle / name).read_bytes() for name in ("digests.json", "provenance.json")}
    git(slow.root, "checkout", "--quiet", "oracle")
    with adopted() as orphans:
        for number in range(KILLS):
            before = state(oracle)
            killing.once(number)
            assert orphans.left(SOON) == []
            after = state(oracle)
            for name in before:
                assert after[name] == before[name] or after[name][0] == new.get(name), (number, name)
            assert all(map(ASIDE.fullmatch, after.keys() - before.keys())), number
            assert set(files_left(slow)) <= {f"oracle/{name}" for name in after}
            git(slow.root, "checkout", "--quiet", "oracle")
            git(slow.root, "clean", "--quiet", "-fd", "oracle")
    assert killing.killed >= KILLS // 3
    assert killing.whole() == 0
    assert {name: (oracle / name).read_bytes() for name in new} == new


def test_judge_killed_at_any_moment(slow: Gate) -> None:
    slow.run(*record_words(slow), check=0)
    commit_all(slow.root, "Arm the oracle")
    slow.edit(
        "src/prog.sh", "tr a-z A-Z ;;", "tr a-y A-Y | sed s/B/C/ ;;"
    )  # rows drift: the base runs as well
    killing = Killing(slow, ("judge",), random.Random(4))
    assert killing.whole() == 1
    folder, before = slow.root / ".gate", state(slow.root / "oracle")
    whole = (folder / "merge_packet.json").read_bytes()
    with adopted() as orphans:
        for number in range(KILLS):
            killing.once(number)
            assert orphans.left(SOON) == []
            assert state(slow.root / "oracle") == before
            assert files_left(slow) == ["src/prog.sh"]
            packet = folder / "merge_packet.json"
            if packet.exists():  # whoever finds it finds all of it, and what belongs to it
                assert packet.read_bytes() == whole
                assert decode_json(Packet, whole, "packet").verdict == "block"
            for other in folder.rglob("[!.]*.json"):
                json.loads(other.read_bytes())
    assert killing.killed >= KILLS // 3
    assert killing.whole() == 1
    assert (folder / "merge_packet.json").read_bytes() == whole
    assert_recognisable(slow.root.parent / "tmp")


def assert_recognisable(temporary: Path) -> None:
    """What a kill leaves below TMPDIR can be told from anything else there."""
    assert all(path.name.startswith(("gate-", "oracle-gate-")) for path in temporary.iterdir())
