"""The lanes about tests, through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate import Gate, copy_repository
from support.gitenv import commit_all
from support.quarantined import FILE, FMT, ID, LEDGER, quarantine, rules

BEFORE = ("--now", "2026-10-01")
LIMIT = f"{FILE}::test_retry_limit"
VERSION = "tests/public/test_package.py::test_version_has_three_numbers"


@pytest.fixture(scope="module")
def source(armed_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quarantine(copy_repository(armed_source, tmp_path_factory.mktemp("source") / "repository")).root


@pytest.fixture
def gate(source: Path, tmp_path: Path) -> Gate:
    """An armed repository with a quarantined test."""
    return copy_repository(source, tmp_path / "repository")


def honest(gate: Gate) -> bytes:
    gate.edit(FMT, "_block(", "_bracketed(")
    return gate.cut_patch()


def test_a_hook_that_skips_the_quarantined_test_blocks(gate: Gate) -> None:
    hook = "def pytest_runtest_setup(item):\n    getattr(__import__('pytest'), 'skip')()\n"
    gate.write("tests/public/conftest.py", hook)
    packet = gate.judge_patch(gate.cut_patch(), *BEFORE, check=1)
    assert {"quarantine.neutered", "test_config.changed", "tests.newly_skipped"} <= rules(packet)
    [row] = packet["quarantine"]
    assert (row["id"], row["status"]) == (ID, "neutered")
    assert ID not in packet["tests"]["newly_skipped"]
    assert LIMIT in packet["tests"]["newly_skipped"]


def test_a_conftest_that_leaves_no_test_blocks(gate: Gate) -> None:
    gate.write("conftest.py", "def pytest_ignore_collect():\n    return True\n")
    packet = gate.judge_patch(gate.cut_patch(), *BEFORE, check=1)
    assert {"quarantine.missing", "tests.vanished"} <= rules(packet)


def test_an_entry_without_reason_or_expiry_blocks_every_change(gate: Gate) -> None:
    patch = honest(gate)
    quarantine(
        gate, {ID: {"reason": "flaky"}, LIMIT: {"expires": "2026-10-06"}, "tests/gone.py::test": LEDGER[ID]}
    )
    packet = gate.judge_patch(patch, *BEFORE, check=1)
    assert [(reason["rule"], reason["subject"]) for reason in packet["reasons"]] == [
        ("quarantine.missing", "tests/gone.py::test"),
        ("quarantine.no_expiry", ID),
        ("quarantine.no_reason", LIMIT),
    ]


def test_a_malformed_ledger_is_an_error_with_its_line(gate: Gate) -> None:
    patch = gate.root.parent / "change.patch"
    patch.write_bytes(honest(gate))
    gate.write("oracle/quarantine.json", '{\n  "a::b": {"expires": "soon"}\n}\n')
    commit_all(gate.root, "Break the ledger")
    done = gate.run("judge", "--patch", str(patch), check=2)
    assert done.stderr.startswith("gate: oracle/quarantine.json:2: the expiry 'soon'")
    assert len(done.stderr.splitlines()) == 1


def test_a_module_that_changes_pytests_report_makes_no_base_test_green(gate: Gate) -> None:
    """No pinned row shows the version; only a public test does, and the patch breaks it."""
    gate.edit("src/replay_demo/__init__.py", '"0.1.0"', '"0.1"')
    lie = (
        "from _pytest.reports import TestReport\n\n"
        "TestReport.from_item_and_call = classmethod(lambda cls, item, call: cls(\n"
        "    item.nodeid, item.location, {}, 'passed', None, call.when, duration=0))\n\n\n"
        "def test_nothing() -> None:\n    pass\n"
    )
    gate.write("tests/public/test_a.py", lie)
    packet = gate.judge_patch(gate.cut_patch(), *BEFORE, check=5)
    assert packet["public"]["own_tests"]["failed"] == [], "the lie is told, and believed by nobody"
    assert packet["public"]["base_tests"]["failed"] == [VERSION]
    assert rules(packet) == {"public.failed"}
    assert packet["merge_ok"] is True


def test_what_ordinary_tests_lose_is_for_inspection(gate: Gate) -> None:
    gate.edit(FILE, 'assert format_bytes(b"{}") == b"{}\\n"', 'assert format_bytes(b"{}")')
    gate.edit("tests/public/test_package.py", "def test_version_has", "def test_version_had")
    gate.edit("tests/public/test_sum_json.py", "def run(", "pytestmark = pytest.mark.skip\n\n\ndef run(")
    gate.write("tests/public/test_new.py", "def test_new() -> None:\n    assert 1 == 2\n")
    packet = gate.judge_patch(gate.cut_patch(), *BEFORE, check=5)
    tests = packet["tests"]
    assert rules(packet) == {"tests.lost", "tests.newly_skipped", "tests.weakened", "public.failed"}
    assert (tests["lost"], tests["weakened"]) == ([VERSION], [LIMIT])
    assert len(tests["newly_skipped"]) == 3
    assert packet["public"]["own_tests"]["failed"] == ["tests/public/test_new.py::test_new"]
    assert packet["public"]["base_tests"]["failed"] == []
