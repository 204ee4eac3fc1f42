"""What a change alone cannot show: statements, freezes, dates, noise, probes, null controls, the audit.

Each function does one wrong thing in a place of its own, and returns the rules by which the gate objects.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from unittest import mock

from oracle_gate.commands import replayers
from oracle_gate.core.packet import Packet
from oracle_gate.core.statements import Statement
from oracle_gate.sandbox.plain import Plain
from redteam import leaks
from redteam.cases.honest import FMT
from redteam.host import Host
from redteam.model import Add, Replace, Write
from support.approving import Keys, make_keys, put
from support.engine import record
from support.gate import Gate
from support.gitenv import git
from support.quick import rows_text
from support.sealing import fmt_property, seal_folder

_COMMENT = Replace(FMT, "    failed = False\n", "    failed = False  # so far\n")
_DEPENDENCY = Replace("pyproject.toml", "setuptools>=77", "setuptools>=78")
_FIXTURES: Mapping[str, bytes] = {"f_list": b"[1, 2]"}


def rules(packet: Packet) -> str:
    """The rules of a packet's reasons."""
    return " ".join(sorted({reason.rule for reason in packet.reasons}))


@dataclass(frozen=True)
class Sign:
    """A change brings a statement that a stranger signed."""

    statement: Statement
    keys: Keys

    def apply(self, gate: Gate) -> None:
        put(gate.root, self.statement, self.keys, "stranger")


def stranger_accepts(host: Host) -> str:
    """Somebody whom the base does not know accepts a changed dependency."""
    with tempfile.TemporaryDirectory() as name:
        keys = make_keys(Path(name))
        host.add_base("signers", Write("oracle/allowed_signers", keys.allowed_signers))
        change = host.judge_edits("signers", (_DEPENDENCY,), "quarantine").change_id
        accept = Statement("accept", note="fine", change_id=change, rules=("dependencies.changed",))
        return rules(host.judge_edits("signers", (_DEPENDENCY, Sign(accept, keys)), "quarantine"))


def frozen_for_good(host: Host) -> str:
    """A freeze stays after its time."""
    freeze = {
        "test_id": "tests/public/test_fmt.py::test_order", "owner": "qa", "reason": "flaky",
        "expires_utc": "2026-01-01T00:00:00Z", "parent_sha": host.commit_of("sample"),
    }  # fmt: skip
    good = fmt_property("done.returncode == 0 and json.loads(done.stdout) == json.loads(fixture_bytes)")
    return _sealed(host, good, freeze)


def property_of_nothing(host: Host) -> str:
    """A property holds whatever the program does."""
    return _sealed(host, "def holds(fixture_bytes, run):\n    return True\n")


def _sealed(host: Host, claim: str, *freezes: dict[str, Any]) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = seal_folder(Path(name), {"p_one": claim}, _FIXTURES, freezes)
        return rules(host.judge_edits("sample", (_COMMENT,), "sealed", "--sealed", str(folder)))


def relation_of_nothing(host: Host) -> str:
    """A relation holds whatever the program does."""
    always = '\n\ndef relation_of_nothing(run):\n    """Nothing differs from nothing."""\n'
    host.add_base("vacuous relation", Add("tools/metamorphic.py", always))
    return rules(host.judge_edits("vacuous relation", (_COMMENT,), "relations"))


def quarantined_for_good(host: Host) -> str:
    """A quarantine stays after its date."""
    host.add_base("late", Replace("oracle/quarantine.json", "2026-10-06", "2026-09-30"))
    return rules(host.judge_edits("late", (_COMMENT,), "quarantine"))


def behind_noise(host: Host) -> str:
    """A program says more, in lines that a noise rule drops."""
    host.add_base("noise", Write("oracle/noise.txt", "^debug: \n"))
    louder = Replace(
        FMT, "    failed = False\n", '    print("debug: x", file=sys.stderr)\n    failed = False\n'
    )
    return rules(host.judge_edits("noise", (louder,), "replay"))


@dataclass(frozen=True)
class _Open(Plain):
    """A layer that says it isolates and does not."""

    name: Literal["landlock"] = "landlock"  # type: ignore[assignment]


def open_sandbox(host: Host) -> str:
    """The sandbox of a machine holds nothing back."""
    host.add_base("isolated", Replace("oracle/gate.toml", 'require = "plain"', 'require = "isolated"'))
    with mock.patch.object(replayers, "candidates", lambda _wanted: [_Open()]):
        return rules(host.judge_edits("isolated", (_COMMENT,), "replay"))


def inert_row(host: Host) -> str:
    """A row is to be pinned that does not run the program."""
    return _recorded(host, "print('fine')")


def wavering_row(host: Host) -> str:
    """A row is to be pinned that gives something else every time."""
    return _recorded(
        host, "import os, replay_demo; print(os.urandom(8), len(open(replay_demo.__file__).read()))"
    )


def _recorded(host: Host, source: str) -> str:
    host.check_out("sample")
    row = {"id": "new", "argv": ["python", "-c", source]}
    try:
        Add("corpus/inputs.jsonl", rows_text(row)).apply(host.gate)
        done = record(host.gate.root, "--add")
        return done.stderr.strip().splitlines()[-1] if done.code else ""
    finally:
        git(host.gate.root, "checkout", "--quiet", "--force", "--", ".")


def leak_in_a_workspace(_host: Host) -> str:
    """A generator's workspace holds a compiled copy of a sealed property."""
    leak = next(leak for leak in leaks.CASES if leak.way == "byte_code")
    with tempfile.TemporaryDirectory() as name, leaks.open_place(Path(name)) as place:
        return "audit" if place.finds(leak) else ""
