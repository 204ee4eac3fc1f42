"""The public lane: what the runs of public tests say, and how little a patch can make them say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from oracle_gate.core.packet import PublicRun
from oracle_gate.core.settings import Public
from oracle_gate.lanes.public import public
from oracle_gate.runner.public_tests import NO_PYTEST
from oracle_gate.runner.public_tests import TestRun as Run
from support.benches import Tree, evidence

SOURCE = "def double(number):\n    return 2 * number\n"
TESTS = """\
import pytest
from app import double


def test_double():
    assert double(2) == 4


@pytest.mark.parametrize("text", ["a::b", "x[1]", "<&>"])
def test_texts(text):
    assert double(text) == text + text


class TestMore:
    def test_zero(self):
        assert double(0) == 0


def test_red():
    assert double(1) == 3


@pytest.mark.skip
def test_skipped():
    pass
"""
FILE = "tests/test_app.py"
TREE = {"src/app.py": SOURCE, FILE: TESTS, "tests/__init__.py": ""}
DOUBLE, RED = f"{FILE}::test_double", f"{FILE}::test_red"
GREEN = 5


def judged(folder: Path, after: Tree, before: Tree = TREE, **settings: Any) -> Any:
    """The facts of the lane about a change."""
    with evidence(folder, before, after, **settings) as shown:
        return public(shown.base_run, shown.base_tests, shown.own_tests)


# What is made of runs


BASE = Run(("a", "b", "c"), {"a": "passed", "b": "failed", "c": "skipped"})


def test_only_what_is_green_on_the_base_counts() -> None:
    now = Run(("a", "b", "c"), {"a": "passed", "b": "error", "c": "failed"})
    found = public(BASE, now, now)
    assert (found.green_on_base, found.label) == (1, "claim_of_patched_code")
    assert found.base_tests == PublicRun(passed=1)
    assert found.own_tests == PublicRun(passed=1)


@pytest.mark.parametrize("outcome", ["failed", "error", "skipped", None])
def test_a_base_test_that_does_not_pass_counts(outcome: str | None) -> None:
    now = Run(("a",), {"a": outcome} if outcome else {})
    found = public(BASE, now, BASE).base_tests
    assert (found.passed, found.failed) == (0, ("a",))
    assert found.details == {"a": outcome or "not reported"}


def test_new_tests_of_the_patch_count_and_its_skips_do_not() -> None:
    now = Run(("a", "new", "other", "silent"), {"a": "skipped", "new": "failed", "other": "passed"})
    found = public(BASE, BASE, now).own_tests
    assert found == PublicRun(1, ("new", "silent"), {"new": "failed", "silent": "not reported"})


def test_a_file_that_cannot_be_imported_counts_unless_it_could_not_on_the_base() -> None:
    now = Run(("a",), {"a": "passed", "tests.test_b": "error"})
    assert public(BASE, now, now).own_tests.failed == ("tests.test_b",)
    assert public(Run(("a",), now.outcomes), now, now).own_tests.failed == ()


def test_quarantined_tests_are_listed_apart() -> None:
    case, other = "t.py::a[1]", "t.py::ab"
    base = Run((case, other), {case: "passed", other: "passed"})
    now = Run((case, other), {case: "failed", other: "failed"})
    for ledger in (["t.py::a"], [case]):
        found = public(base, now, now, ledger)
        assert (found.base_tests.failed, found.base_tests.apart) == ((other,), (case,))
        assert (found.own_tests.failed, found.own_tests.apart) == ((other,), (case,))


def test_a_run_without_a_whole_report_is_a_problem() -> None:
    broken = Run(("a",), {}, "there is no whole JUnit file")
    assert public(BASE, broken, broken).base_tests == PublicRun(problem="there is no whole JUnit file")
    assert public(broken, BASE, BASE).problem == "there is no whole JUnit file"


# What pytest makes of trees


def test_an_honest_change_has_green_runs(tmp_path: Path) -> None:
    more = TESTS + "\n\ndef test_new():\n    assert double(5) == 10\n"
    found = judged(tmp_path, {**TREE, "src/app.py": SOURCE.replace("number", "value"), FILE: more})
    assert (found.green_on_base, found.problem) == (GREEN, "")
    assert found.base_tests == PublicRun(passed=GREEN)
    assert found.own_tests == PublicRun(passed=GREEN + 1)


def test_a_regression_fails_both_runs(tmp_path: Path) -> None:
    found = judged(tmp_path, {**TREE, "src/app.py": SOURCE.replace("2 * number", "2 * (number or 1)")})
    zero = f"{FILE}::TestMore::test_zero"
    assert found.base_tests == PublicRun(GREEN - 1, (zero,), {zero: "failed"})
    assert found.own_tests == found.base_tests


LIES = {
    "the test itself": {FILE: TESTS.replace("double(2) == 4", "double(2) == 5")},
    "the test deleted": {FILE: "def test_nothing():\n    pass\n"},
    "the report": {
        "tests/test_a.py": "from _pytest.reports import TestReport\n"
        "TestReport.from_item_and_call = classmethod(lambda cls, item, call: cls(\n"
        "    item.nodeid, item.location, {}, 'passed', None, call.when, duration=0))\n\n\ndef test_a():\n    pass\n"
    },
    "a hook": {
        "conftest.py": "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n    outcome = yield\n    outcome.get_result().outcome = 'passed'\n"
    },
    "a hook beside the tests": {
        "tests/conftest.py": "def pytest_runtest_call(item):\n    item.obj = print\n"
    },
    "a plugin in the settings": {
        "pytest.ini": "[pytest]\naddopts = -p liar\n",
        "src/liar.py": "def pytest_pyfunc_call(pyfuncitem):\n    return True\n",
    },
    "an option": {"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
    "a deselection": {"tox.ini": "[pytest]\naddopts = --deselect tests/test_app.py::test_double\n"},
    "a pytest of its own": {"src/pytest.py": "def main(arguments, plugins):\n    return 0\n"},
    "a json of its own": {"src/json.py": "raise SystemExit(0)\n"},
    "a helper": {"tests/__init__.py": "import app\napp.double = lambda number: 4\n"},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_no_test_file_or_setting_of_a_patch_makes_the_bases_tests_green(
    lie: dict[str, str], tmp_path: Path
) -> None:
    with evidence(tmp_path, TREE, {**TREE, "src/app.py": SOURCE.replace("2 *", "3 *"), **lie}) as shown:
        assert shown.base_tests.outcomes[DOUBLE] == "failed"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import os\nos._exit(0)\n", "lists no tests: exit 0"),
        ("import time\ntime.sleep(60)\n", "lists no tests: timeout"),
        ("def double(number):\n    import os\n    os._exit(0)\n", "no whole JUnit file: exit 0"),
        ("def double(number):\n    import time\n    time.sleep(60)\n", "no whole JUnit file: timeout"),
    ],
    ids=["exit at import", "hang at import", "exit in a test", "hang in a test"],
)
def test_a_run_that_is_cut_short_is_no_success(source: str, problem: str, tmp_path: Path) -> None:
    with evidence(tmp_path, TREE, {**TREE, "src/app.py": source}, public=Public(timeout_s=8.0)) as shown:
        assert problem in shown.base_tests.problem
        assert shown.base_tests.outcomes == {}


@pytest.mark.parametrize(
    ("report", "problem"),
    [
        ("", "JUnit"),
        ("<testsuites><testsuite>", "JUnit"),
        ('<!DOCTYPE x [<!ENTITY a "' + "a" * 99 + '">]><x>&a;</x>', "JUnit"),
        ("<testsuites/>", ""),
        ("<x>" * 5000 + "</x>" * 5000, ""),
    ],
    ids=["empty", "half", "entities", "short", "deep"],
)
def test_a_report_that_is_not_one_is_a_failure(report: str, problem: str, tmp_path: Path) -> None:
    """The forger asks pytest's own reporter where the file is, and writes it last."""
    forger = (
        "import atexit, gc\n\n\ndef write(path):\n"
        f"    open(path, 'w').write({report!r})\n\n\n"
        "def double(number):\n"
        "    for thing in gc.get_objects():\n"
        "        if type(thing).__name__ == 'LogXML':\n"
        "            atexit.register(write, thing.logfile)\n"
        "    return 0\n"
    )
    with evidence(tmp_path, TREE, {**TREE, "src/app.py": forger}) as shown:
        run = shown.base_tests
    assert problem in run.problem
    assert bool(run.problem) is bool(problem)
    assert run.outcomes == {}
    assert len(run.ids or ()) == GREEN + 2


def test_what_the_bases_configuration_says_is_obeyed(tmp_path: Path) -> None:
    """A strange prefix of file names, an import path of its own, a fixture, options that stop early."""
    tree = {
        "pytest.ini": "[pytest]\npython_files = check_*.py\npythonpath = lib\naddopts = -x -v --junit-prefix=all\n",
        "lib/helper.py": "VALUE = 1\n",
        "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n",
        "tests/check_a.py": "from helper import VALUE\n\n\ndef test_red():\n    assert 0\n\n\n"
        "def test_a(one):\n    assert one == VALUE\n",
    }
    found = judged(tmp_path, {**tree, "src/new.py": ""}, tree)
    assert (found.green_on_base, found.base_tests.passed, found.own_tests.passed) == (1, 1, 1)


def test_a_file_that_cannot_be_imported_hurts_no_other(tmp_path: Path) -> None:
    found = judged(tmp_path, {**TREE, "tests/test_b.py": "import absent\n"})
    assert found.base_tests == PublicRun(passed=GREEN)
    assert (found.own_tests.passed, found.own_tests.failed) == (GREEN, ("tests.test_b",))


def test_without_pytest_the_run_says_so(tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    with evidence(tmp_path, TREE, TREE, python=python) as shown:
        assert shown.base_run == Run(problem=NO_PYTEST)
        assert shown.problem == ""
        assert shown.sides.base_listed is None
        assert DOUBLE in shown.sides.base
