"""The identities lane: what the base's tests became."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracle_gate.core.inventory import read_inventory
from oracle_gate.core.inventory_weaker import Sides
from oracle_gate.core.packet import Tests as Facts
from oracle_gate.lanes.identities import identities
from support.objects import entries, opened
from support.silenced import (
    ASSERT,
    BODY,
    CHECK,
    HONEST,
    REFUSES,
    RESULT,
    SILENCED,
    SIZES,
    SMOKE,
    TREE,
    WINDOW,
    edited,
)

ONE = f"{SIZES.removesuffix('[2]')}[1]"
IDS = {WINDOW, ONE, SIZES, SMOKE, REFUSES, RESULT}


def sides(folder: Path, after: dict[str, str]) -> Sides:
    """Both inventories, without a collection."""
    with opened(folder / "store") as store:
        base, patch = (read_inventory(store, entries(store, tree), ("tests",)) for tree in (TREE, after))
    return Sides(base, patch)


def judged(folder: Path, after: dict[str, str]) -> Facts:
    return identities(sides(folder, after))


@pytest.mark.parametrize("name", [name for name in HONEST if name not in ("a new test", "a new class")])
def test_honest_work_gives_no_reason(name: str, tmp_path: Path) -> None:
    found = judged(tmp_path, HONEST[name])
    assert (found.lost, found.newly_skipped, found.weakened, found.vanished) == ((), (), (), False)


def test_what_is_new_is_listed_and_no_reason(tmp_path: Path) -> None:
    found = judged(tmp_path, HONEST["a new class"])
    assert found == Facts(added=("tests/test_net.py::TestMore::test_more",))


@pytest.mark.parametrize(
    "name", ["deleted", "renamed to a longer name", "moved to another file", "del", "made a string"]
)
def test_a_test_that_is_gone_is_lost(name: str, tmp_path: Path) -> None:
    found = judged(tmp_path, SILENCED[name])
    assert (found.lost, found.newly_skipped, found.vanished) == ((WINDOW,), (), False)


@pytest.mark.parametrize("name", [
    "skip", "skip under two names", "skip by a function", "skipif of a text", "xfail", "unittest's skip",
    "pytest.skip", "raise SkipTest", "an exit", "skip in a helper", "skip in the fixture",
])  # fmt: skip
def test_a_test_that_may_not_run_is_newly_skipped(name: str, tmp_path: Path) -> None:
    found = judged(tmp_path, SILENCED[name])
    assert (found.lost, found.newly_skipped, found.weakened) == ((), (WINDOW,), ())
    assert found.details[WINDOW]


@pytest.mark.parametrize("name", ["pytestmark", "importorskip", "SkipTest at import"])
def test_a_module_that_may_not_run_is_all_its_tests(name: str, tmp_path: Path) -> None:
    assert {*judged(tmp_path, SILENCED[name]).newly_skipped} == {id.partition("[")[0] for id in IDS}


@pytest.mark.parametrize("name", [
    "early return", "pass", "a docstring alone", "assert True", "assert of a constant", "assert of a tuple",
    "assert or True", "assert of truth alone", "assert with ANY", "an assertion less", "a helper that asserts nothing",
    "a helper of another file that asserts nothing", "retried until green", "a coroutine", "a generator",
])  # fmt: skip
def test_a_test_that_asserts_less_is_weakened(name: str, tmp_path: Path) -> None:
    found = judged(tmp_path, SILENCED[name])
    assert (found.lost, found.newly_skipped, found.weakened) == ((), (), (WINDOW,))
    assert found.details[WINDOW]


BEFORE = {
    "approx": "assert retry(1) == pytest.approx(1, {})",
    "close": "assert math.isclose(retry(1), 1, {})",
    "places": "unittest.TestCase().assertAlmostEqual(retry(1), 1, {})",
    "in": "assert retry(1) in {}",
    "raises": "with pytest.raises({}): retry(1)",
}


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("approx", "abs=0.1", "abs=0.2"),
        ("approx", "abs=0.1", "abs=1e9"),
        ("approx", "abs=0.1", 'abs=float("inf")'),
        ("approx", "0.1", "0.2"),
        ("approx", "rel=1e-3", "rel=1"),
        ("approx", "rel=1e-3", "rel=1e-3, abs=5"),
        ("approx", "rel=1e-3", "rel=WINDOW"),
        ("close", "rel_tol=1e-9", "rel_tol=1e-1"),
        ("close", "abs_tol=0.1", "abs_tol=1"),
        ("places", "places=7", "places=3"),
        ("places", "7", "3"),
        ("places", "delta=0.1", "delta=10"),
        ("in", "(1, 2)", "(1, 2, 3)"),
        ("in", "[1]", "[1, None]"),
        ("in", "{1}", "{1, 2, 3, 4}"),
        ("raises", "ValueError", "Exception"),
        ("raises", "ValueError", "BaseException"),
        ("raises", 'ValueError, match="x"', "ValueError"),
    ],
)
def test_a_wider_literal_is_weakened(kind: str, old: str, new: str, tmp_path: Path) -> None:
    source = (
        "import math, unittest, pytest\nfrom app.net import retry\nWINDOW = 3\n\n\ndef test_wide():\n    "
    )
    before, after = ({"tests/test_w.py": source + BEFORE[kind].format(text) + "\n"} for text in (old, new))
    with opened(tmp_path / "store") as store:
        base, patch = (read_inventory(store, entries(store, tree), ("tests",)) for tree in (before, after))
    assert identities(Sides(base, patch)).weakened == ("tests/test_w.py::test_wide",)
    assert identities(Sides(patch, base)).weakened == (), "the other way it is narrower"


@pytest.mark.parametrize(
    ("old", "new", "weaker"),
    [
        ("assert retry() == [1, 2]", "wanted = SIZES\n    assert retry() == wanted", False),
        ("assert retry() == SIZES", "assert retry() == [1, 2]", False),
        ("assert retry() == SIZES", "assert retry() == [1, 3]", True),
        (
            "assert retry(1) == 0\n    assert retry(2) == 0",
            "for x in (1, 2):\n        assert retry(x) == 0",
            False,
        ),
        (
            "for x in (1, 2):\n        assert retry(x) == 0",
            "assert retry(1) == 0\n    assert retry(2) == 0",
            False,
        ),
        (
            "assert retry(1) == 0\n    assert retry(2) == 0",
            "assert retry(1) == 0\n    assert retry(2) == retry(2 + 0)",
            True,
        ),
        ("assert retry(SIZES) == SIZES", "assert retry(SIZES) == retry(SIZES)[:]", True),
    ],
)
def test_an_expected_value_is_the_same_by_whatever_name(
    old: str, new: str, weaker: bool, tmp_path: Path
) -> None:
    source = "from app.net import retry\nSIZES = [1, 2]\n\n\ndef test_sizes():\n    "
    before, after = ({"tests/test_w.py": f"{source}{text}\n"} for text in (old, new))
    with opened(tmp_path / "store") as store:
        base, patch = (read_inventory(store, entries(store, tree), ("tests",)) for tree in (before, after))
    assert identities(Sides(base, patch)).weakened == ("tests/test_w.py::test_sizes",) * weaker


def test_a_number_too_long_to_be_written_is_no_traceback(tmp_path: Path) -> None:
    long = f"def test_long(x):\n    assert x == 0x{'f' * 9000}\n"
    found = judged(tmp_path, {**TREE, "tests/test_net.py": long})
    assert {*found.lost} == IDS


def test_what_only_might_silence_a_test_is_no_reason_here(tmp_path: Path) -> None:
    found = judged(tmp_path, edited((ASSERT, "    if client == 0:\n        assert result == 3\n")))
    assert found == Facts()
    found = judged(
        tmp_path / "2", edited((BODY, "    if client == 0:\n        assert result == 3\n" + CHECK * 2))
    )
    assert found == Facts()


def test_no_assertion_that_must_run_is_a_reason(tmp_path: Path) -> None:
    inside = "".join(f"    {line}\n" for line in BODY.splitlines())
    found = judged(tmp_path, edited((BODY, f"    if client == 0:\n{inside}")))
    assert found.weakened == (WINDOW,)
    assert "certain" in found.details[WINDOW]


def test_quarantined_tests_are_left_to_their_lane(tmp_path: Path) -> None:
    both = sides(tmp_path, SILENCED["deleted"])
    assert identities(both, [WINDOW]) == Facts()
    both = sides(tmp_path / "2", {path: text for path, text in TREE.items() if "test_net" not in path})
    assert identities(both, [SIZES.partition("[")[0], WINDOW, SMOKE, REFUSES]).lost == (RESULT,)


def test_no_test_at_all_has_vanished(tmp_path: Path) -> None:
    found = judged(tmp_path, SILENCED["the file deleted"])
    assert found.vanished
    assert {*found.lost} == IDS


LISTED = frozenset(IDS)


@pytest.mark.parametrize(
    ("listed", "lost", "vanished"),
    [
        ((LISTED, LISTED), (), False),
        ((LISTED, LISTED - {WINDOW}), (WINDOW,), False),
        ((LISTED - {WINDOW}, LISTED), (WINDOW,), False),
        ((LISTED, frozenset[str]()), tuple(sorted(IDS)), True),
        ((None, LISTED), tuple(sorted(IDS)), True),
    ],
)
def test_the_collection_counts_as_well(
    listed: tuple[frozenset[str] | None, ...], lost: tuple[str, ...], vanished: bool, tmp_path: Path
) -> None:
    read = sides(tmp_path, TREE).base
    found = identities(Sides(read, read, LISTED, listed), problem="why")
    assert (found.lost, found.vanished, found.problem) == (lost, vanished, "why")


def test_ids_that_only_the_collection_knows() -> None:
    base, patch = frozenset({"a.js::adds", "a.js::counts"}), frozenset({"a.js::adds", "a.js::new"})
    assert identities(Sides({}, {}, base, (patch,))) == Facts(lost=("a.js::counts",), added=("a.js::new",))


def test_a_skip_at_run_time_is_told(tmp_path: Path) -> None:
    read = sides(tmp_path, TREE).base
    found = identities(Sides(read, read, LISTED, (LISTED,), skipped=frozenset({SIZES})))
    assert found == Facts(newly_skipped=(SIZES,), details={SIZES: "in the patch's own run"})


def test_cases_that_cannot_be_told_are_not_listed_twice(tmp_path: Path) -> None:
    source = "import pytest\n\n\n@pytest.mark.parametrize('x', range(2))\ndef test_a(x):\n    assert x == len(str(x))\n"
    with opened(tmp_path / "store") as store:
        read = read_inventory(store, entries(store, {"tests/test_a.py": source}), ("tests",))
    listed = frozenset({"tests/test_a.py::test_a[0]", "tests/test_a.py::test_a[1]"})
    assert identities(Sides(read, {}, listed, (frozenset[str](),))).lost == tuple(sorted(listed))
    assert identities(Sides({}, read, frozenset(), (listed,))).added == tuple(sorted(listed))
    literal = source.replace("range(2)", "[0, 1]")
    with opened(tmp_path / "2") as store:
        told = read_inventory(store, entries(store, {"tests/test_a.py": literal}), ("tests",))
    assert identities(Sides(read, told, listed, (listed,))) == Facts()
