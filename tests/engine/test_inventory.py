"""The inventory: the ids that pytest has, read without running anything."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from oracle_gate.core.inventory import Inventory, function_id, ids_of, is_test_file, read_inventory, stands
from support.objects import entries, opened, write_files

SHARED = """\
import unittest


class Shared:
    def test_inherited(self):
        assert self


class SharedCase(unittest.TestCase):
    def check(self, value):
        self.assertEqual(value, 1)

    def test_of_the_case(self):
        self.check(1)


def test_imported():
    assert SharedCase
"""
SAMPLE = '''\
"""Every shape of test that pytest collects by default."""
import unittest
from unittest import IsolatedAsyncioTestCase as Later

import pytest
from pytest import mark as m

from shared import Shared, SharedCase, test_imported

SIZES = [1, 2]
test_value = 3
Testing = None


def test_plain(): pass


def helper(): pass


def test_replaced(): pass


test_replaced = None


def test_deleted(): pass


del test_deleted
test_alias = helper
if SIZES:
    def test_under_a_condition(): pass
try:
    def test_in_try(): pass
except ValueError:
    pass


@m.parametrize("x", SIZES)
def test_named_values(x): pass


@m.parametrize("b", [True, None])
@m.parametrize("a", [1.5, -2, "text", "with space"])
def test_product(a, b): pass


@m.parametrize(("a", "b"), [(1, "x"), [2, ()], (3, {})])
def test_pairs(a, b): pass


@m.parametrize("a,b", [(1, 2)])
def test_names_in_a_text(a, b): pass


@m.parametrize("x", [1, 2], ids=["one", "two"])
def test_given_ids(x): pass


@m.parametrize("x", [1, pytest.param(2, id="second"), pytest.param(3, marks=m.skip)])
def test_params(x): pass


@m.parametrize("x", ["", "a\\\\b", "\\n", "\\u00e9", b"bytes", 1j, print, "x" * 200, "y" * 99])
def test_odd_values(x): pass


@m.parametrize("x", [1, 1])
def test_twice(x): pass


@m.parametrize("x", list(range(2)))
def test_computed(x): pass


@pytest.fixture(params=["p", "q"])
def varied(request): return request.param


def test_varied(varied): pass


class TestPlain:
    def test_method(self): pass

    @staticmethod
    def test_static(): pass

    class TestInner:
        def test_deep(self): pass

    def test_removed(self): pass
    del test_removed


@m.parametrize("x", [1])
class TestParametrised:
    @m.parametrize("y", [2, 3])
    def test_both(self, x, y): pass


class TestHeir(TestPlain):
    def test_method(self): pass


class TestShared(Shared):
    def test_own(self): pass


class TestMade:
    def __init__(self): pass

    def test_not_collected(self): pass


class TestOff(TestPlain):
    __test__ = False


class TestOn(TestOff):
    __test__ = True


class Plain:
    def test_not_collected(self): pass


class AnyName(unittest.TestCase):
    def setUp(self): pass

    def test_method(self): pass

    def helper(self): pass


class Heir(AnyName):
    def test_more(self): pass


class Asynchronous(Later):
    async def test_method(self): pass


async def test_coroutine(): pass
'''
TREE = {
    "tests/test_sample.py": SAMPLE,
    "tests/shared.py": SHARED,
    "tests/deep/er_test.py": "def test_deeper():\n    assert 1\n",
    "tests/helper.py": "def test_no_test_file(): pass\n",
    "tests/test_off.py": "__test__ = False\n\n\ndef test_off(): pass\n",
    "other/test_elsewhere.py": "def test_elsewhere(): pass\n",
}


def inventory(
    folder: Path, tree: Mapping[str, str | bytes], folders: tuple[str, ...] = ("tests",)
) -> Inventory:
    with opened(folder / "store") as store:
        return read_inventory(store, entries(store, tree), folders)


def test_it_has_the_ids_that_pytest_collects(tmp_path: Path) -> None:
    write_files(tmp_path / "tree", TREE)
    options = ("--collect-only", "-q", "-p", "no:cacheprovider", "--rootdir=.", "-c", "/dev/null")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "tests"], cwd=tmp_path / "tree",
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "LC_ALL": "C.UTF-8"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    collected = {line for line in done.stdout.splitlines() if "::" in line}
    read = inventory(tmp_path, TREE)
    assert len(collected) > 50
    assert {id for id in collected if not stands(id, read)} == set()
    assert {id for id in ids_of(read) - collected if read[function_id(id)].cases is not None} == set()
    assert {function_id(id) for id in collected} == read.keys()
    told = {name for name, test in read.items() if test.cases}
    assert {name.rpartition("::")[2] for name in told} == {
        "test_named_values", "test_product", "test_pairs", "test_names_in_a_text", "test_given_ids", "test_both"
    }  # fmt: skip


def test_what_cannot_be_told_is_counted(tmp_path: Path) -> None:
    read = inventory(tmp_path, TREE)
    counted = {
        id.rpartition("::")[2]: test.number_of_cases for id, test in read.items() if test.cases is None
    }
    assert counted["test_params"] == 3
    assert counted["test_twice"] == 2
    assert counted["test_computed"] == 1


@pytest.mark.parametrize(
    ("id", "there"),
    [
        ("tests/test_sample.py::test_pairs[1-x]", True),
        ("tests/test_sample.py::test_pairs[1-y]", False),
        ("tests/test_sample.py::test_pairs", False),
        ("tests/test_sample.py::test_plain", True),
        ("tests/test_sample.py::test_plain[1]", False),
        ("tests/test_sample.py::test_computed[0]", True),
        ("tests/test_sample.py::test_computed[whatever]", True),
        ("tests/test_sample.py::TestPlain::TestInner::test_deep", True),
        ("tests/test_sample.py::test_plai", False),
    ],
)
def test_ids_are_exact(id: str, there: bool, tmp_path: Path) -> None:
    assert stands(id, inventory(tmp_path, TREE)) is there


@pytest.mark.parametrize(
    ("id", "function"),
    [
        ("a.py::test", "a.py::test"),
        ("a.py::T::test[a::b[c]]", "a.py::T::test"),
        ("a[1].py::test[x]", "a[1].py::test"),
        ("free text", "free text"),
    ],
)
def test_an_id_without_its_case(id: str, function: str) -> None:
    assert function_id(id) == function


@pytest.mark.parametrize(
    ("path", "folders", "expected"),
    [
        ("tests/test_a.py", ("tests",), True),
        ("tests/x/a_test.py", ("tests/",), True),
        ("tests/a.py", ("tests",), False),
        ("tests2/test_a.py", ("tests",), False),
        ("test_a.py", (".",), True),
        ("src/a/test_a.py", ("tests", "src/a"), True),
        ("tests/test_a.pyc", ("tests",), False),
    ],
)
def test_files_by_their_names(path: str, folders: tuple[str, ...], expected: bool) -> None:
    assert is_test_file(path, folders) is expected


@pytest.mark.parametrize(
    "source",
    [
        b"def test_a(:\n",
        b"\xff\xfe",
        b"# coding: nonsense\ndef test_a(): pass\n",
        b"def test_a(): pass\n\0",
        b"x = " + b"(" * 5000 + b")" * 5000,
        b"def test_a():\n    assert " + b"-" * 3000 + b"1\n",
    ],
    ids=["syntax", "utf-16", "codec", "nul", "parentheses", "operators"],
)
def test_a_file_that_cannot_be_read_has_no_tests(source: bytes, tmp_path: Path) -> None:
    tree = {"tests/test_a.py": source, "tests/test_b.py": b"def test_b(): pass\n"}
    assert inventory(tmp_path, tree).keys() == {"tests/test_b.py::test_b"}


def test_names_that_stand_for_themselves_end(tmp_path: Path) -> None:
    source = (
        "a = b.x\nb = a.y\nc = c\nd = [d, e]\ne = [d, d]\n\n\n@a\n@c\n@pytest.mark.skipif(d)\ndef test_a():\n"
    )
    source += "    text = text.replace('a', 'b')\n    value = value\n    assert text == value\n    test_a()\n"
    assert inventory(tmp_path, {"tests/test_a.py": source}).keys() == {"tests/test_a.py::test_a"}


@pytest.mark.parametrize("length", [4, 60])
def test_what_refers_to_each_other_does_not_grow(length: int, tmp_path: Path) -> None:
    values = ["v0 = [1] * 9", *(f"v{n} = [{', '.join([f'v{n - 1}'] * 50)}]" for n in range(1, length))]
    bases = ", ".join(f"T{n}" for n in range(40))
    classes = [f"class T{n}({bases}):\n    def test_{n}(self): assert v1 == [v0]\n" for n in range(40)]
    last = f"v{length - 1}"
    test = f"@pytest.mark.skipif({last})\ndef test_a():\n    assert {last} == v1\n"
    read = inventory(tmp_path, {"tests/test_a.py": "\n".join([*values, *classes, test])})
    assert read["tests/test_a.py::test_a"].checks.possible.total() == 0
    assert sum(map(len, read["tests/test_a.py::test_a"].marks)) < 1000


def test_links_and_other_entries_are_no_tests(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as store:
        link = {b"tests/test_a.py": type(next(iter(entries(store, {"x": ""}).values())))("120000", "0" * 40)}
        assert read_inventory(store, link, ("tests",)) == {}
