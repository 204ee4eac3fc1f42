"""The armed sample with a quarantined test, as article A has one."""

from __future__ import annotations

import json

from support.gate import Gate
from support.gitenv import commit_all

FILE = "tests/public/test_retry.py"
ID = f"{FILE}::test_retry_window"
EXPIRES = "2026-10-06"
FMT = "src/replay_demo/fmt.py"
TEST = '''\
"""Retries."""

from replay_demo.fmt import format_bytes


def check(actual: bytes, expected: bytes) -> None:
    assert actual == expected


def test_retry_window() -> None:
    check(format_bytes(b"[1]"), b"[\\n  1\\n]\\n")
    assert format_bytes(b"[]") == b"[]\\n"


def test_retry_limit() -> None:
    assert format_bytes(b"{}") == b"{}\\n"
'''
LEDGER = {ID: {"reason": "depends on wall clock in CI", "expires": EXPIRES}}


def quarantine(gate: Gate, ledger: object = LEDGER) -> Gate:
    """Adds the test and the ledger to the base."""
    gate.write(FILE, TEST)
    gate.write("oracle/quarantine.json", json.dumps(ledger, indent=2) + "\n")
    commit_all(gate.root, "Quarantine a test")
    return gate


def rules(packet: dict[str, object]) -> set[str]:
    """The rules that a packet's reasons name."""
    reasons = packet["reasons"]
    assert isinstance(reasons, list)
    return {reason["rule"] for reason in reasons}
