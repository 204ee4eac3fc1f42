"""Tests that only pytest itself shows to be gone or skipped: configuration, hooks, names made at run time."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from oracle_gate.core.ledger import Quarantined
from oracle_gate.core.settings import Identities
from oracle_gate.lanes.identities import identities
from oracle_gate.lanes.quarantine import quarantine
from support.benches import evidence

DAY = datetime.date(2026, 10, 6)
FILE = "tests/test_net.py"
WINDOW, FIRST, SECOND = f"{FILE}::test_window", f"{FILE}::test_made[0]", f"{FILE}::test_made[1]"
TESTS = """\
import pytest


def test_window():
    assert len("abc") == len(str(pytest)[:3])


@pytest.mark.parametrize("size", list(range(2)))
def test_made(size):
    assert size == len("x" * size)
"""
TREE = {FILE: TESTS, "src/app.py": "", "pytest.ini": "[pytest]\naddopts = --strict-markers\n"}
PLUGIN = (
    "def pytest_collection_modifyitems(items):\n"
    "    items[:] = [item for item in items if 'window' not in item.name]\n"
)
SKIPPING = (
    "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n"
    "        item.add_marker(getattr(pytest.mark, 'sk' + 'ip'))\n"
)


def ini(options: str) -> dict[str, str]:
    return {**TREE, "pytest.ini": f"[pytest]\naddopts = {options}\n"}


SILENCED = {
    "collect_ignore": ({**TREE, "tests/conftest.py": "collect_ignore = ['test_net.py']\n"}, WINDOW),
    "a deselection": (ini("--deselect tests/test_net.py::test_window"), WINDOW),
    "a selection by name": (ini("-k made"), WINDOW),
    "ignored": (ini("--ignore tests/test_net.py"), SECOND),
    "another settings file": ({**TREE, "tests/pytest.toml": "[pytest]\naddopts = ['-k', 'made']\n"}, WINDOW),
    "other function names": ({**TREE, "pytest.ini": "[pytest]\npython_functions = check\n"}, WINDOW),
    "other file names": ({**TREE, "pytest.ini": "[pytest]\npython_files = check_*.py\n"}, WINDOW),
    "a plugin": ({**ini("-p quiet"), "src/quiet.py": PLUGIN}, WINDOW),
    "a plugin that skips": ({**ini("-p quiet"), "src/quiet.py": SKIPPING}, WINDOW),
    "a hook that skips": ({**TREE, "conftest.py": SKIPPING}, WINDOW),
    "a case less": ({**TREE, FILE: TESTS.replace("range(2)", "range(1)")}, SECOND),
    "a skip that no name shows": (
        {**TREE, FILE: TESTS.replace("    assert len", "    getattr(pytest, 'sk' + 'ip')('x')\n    assert len")}, WINDOW
    ),
    "a module that cannot be imported": ({**TREE, FILE: "import absent\n" + TESTS}, WINDOW),
    "a module that ends the run": ({**TREE, "tests/test_a.py": "import os\nos._exit(0)\n"}, WINDOW),
}  # fmt: skip


@pytest.mark.parametrize(("after", "id"), SILENCED.values(), ids=SILENCED.keys())
def test_a_test_that_is_not_collected_or_not_run_is_seen(
    after: dict[str, str], id: str, tmp_path: Path
) -> None:
    with evidence(tmp_path, TREE, after) as shown:
        [row] = quarantine([Quarantined(id, "flaky", DAY)], DAY, shown.sides)
        found = identities(shown.sides, (), shown.problem)
    assert row.status in ("missing", "neutered")
    assert {id, id.partition("[")[0]} & {*found.lost, *found.newly_skipped}


HONEST = {
    "nothing": TREE,
    "a marker": {**TREE, "pytest.ini": TREE["pytest.ini"] + "markers = slow: takes long\n"},
    "a conftest of its own": {
        **TREE,
        "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef server():\n    return 1\n",
        "tests/test_new.py": "def test_new(server):\n    assert server == 1\n",
    },
    "cases written out": {**TREE, FILE: TESTS.replace("list(range(2))", "[0, 1]")},
}


@pytest.mark.parametrize("after", HONEST.values(), ids=HONEST.keys())
def test_honest_work_is_let_through(after: dict[str, str], tmp_path: Path) -> None:
    with evidence(tmp_path, TREE, after) as shown:
        ledger = [Quarantined(id, "flaky", DAY) for id in (WINDOW, FIRST, f"{FILE}::test_made")]
        assert {row.status for row in quarantine(ledger, DAY, shown.sides)} == {"kept"}
        found = identities(shown.sides, (), shown.problem)
    assert (found.lost, found.newly_skipped, found.weakened, found.problem) == ((), (), (), "")


def test_a_conftest_that_leaves_nothing_to_collect_is_a_vanished_suite(tmp_path: Path) -> None:
    after = {**TREE, "conftest.py": "def pytest_ignore_collect():\n    return True\n"}
    with evidence(tmp_path, TREE, after) as shown:
        assert identities(shown.sides).vanished


def test_the_bases_configuration_is_laid_over_the_patch(tmp_path: Path) -> None:
    """The patch adds a test and hides it, and one more, from its own collection."""
    after = {**ini("-k made"), "tests/test_new.py": "def test_hidden():\n    assert 1\n"}
    with evidence(tmp_path, TREE, after) as shown:
        own, with_base = shown.sides.patch_listed
    assert own == frozenset({FIRST, SECOND})
    assert with_base == frozenset({FIRST, SECOND, WINDOW, "tests/test_new.py::test_hidden"})


def test_a_base_that_cannot_be_collected_is_a_problem(tmp_path: Path) -> None:
    broken = ini("--no-such-option")
    with evidence(tmp_path, broken, {**broken, "src/app.py": "x = 1\n"}) as shown:
        assert "those of the base" in shown.problem
        assert "no-such-option" in shown.problem
        assert shown.sides.base_listed is None


def listing(command: tuple[str, ...]) -> dict[str, Any]:
    return {"identities": Identities(command)}


def test_a_command_lists_tests_that_are_not_pythons(tmp_path: Path) -> None:
    before = {"spec/a.js": "adds\ncounts\n", "src/app.py": ""}
    after = {"spec/a.js": "adds\ncounts twice\n", "src/app.py": ""}
    with evidence(tmp_path, before, after, **listing(("cat", "spec/a.js"))) as shown:
        found = identities(shown.sides, (), shown.problem)
    assert (found.lost, found.added, found.vanished) == (("counts",), ("counts twice",), False)


@pytest.mark.parametrize(("side", "vanished"), [("base", False), ("patch", True)])
def test_a_command_that_fails_is_not_silent(side: str, vanished: bool, tmp_path: Path) -> None:
    good, bad = {"spec/a.js": "adds\n"}, {"spec/b.js": "adds\n"}
    before, after = (bad, good) if side == "base" else (good, bad)
    with evidence(tmp_path, before, after, **listing(("cat", "spec/a.js"))) as shown:
        assert f"those of the {side}: [identities] command" in shown.problem
        assert identities(shown.sides, (), shown.problem).vanished is vanished


def test_without_python_tests_nothing_runs(tmp_path: Path) -> None:
    with evidence(
        tmp_path, {"src/app.py": ""}, {"src/app.py": "x = 1\n"}, python=Path("/nonexistent")
    ) as shown:
        assert (shown.base_run.ids, shown.own_tests.ids, shown.base_tests.ids) == ((), (), ())
        assert shown.sides.base_ids == set()
        assert not identities(shown.sides, (), shown.problem).vanished


def test_an_unchanged_tree_runs_once(tmp_path: Path) -> None:
    with evidence(tmp_path, TREE, TREE) as shown:
        runs = (shown.base_run, shown.own_tests, shown.base_tests)
        assert runs[0].outcomes[WINDOW] == "passed"
        assert runs[0] is runs[1] is runs[2]
