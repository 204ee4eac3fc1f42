"""Spellings that silence a quarantined test: each must be seen, from the two trees alone."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_gate.core.inventory import read_inventory
from oracle_gate.core.inventory_weaker import Sides
from oracle_gate.core.ledger import Quarantined
from oracle_gate.lanes.quarantine import quarantine
from support.objects import entries, opened
from support.silenced import ALL, HONEST, REFUSES, RESULT, SIZES, SMOKE, TREE, WINDOW

TODAY = datetime.date(2026, 10, 6)


def statuses(folder: Path, id: str, after: dict[str, str]) -> set[str]:
    """The findings of the lane about one entry of the ledger."""
    with opened(folder / "store") as store:
        base, patch = (read_inventory(store, entries(store, tree), ("tests",)) for tree in (TREE, after))
        rows = quarantine([Quarantined(id, "flaky", TODAY)], TODAY, Sides(base, patch))
        return {row.status for row in rows}


@pytest.mark.parametrize(
    ("id", "after"), [(id, tree) for _, id, tree in ALL], ids=[name for name, _, _ in ALL]
)
def test_a_silenced_test_is_seen(id: str, after: dict[str, str], tmp_path: Path) -> None:
    found = statuses(tmp_path, id, after)
    assert found and found <= {"missing", "neutered"}


@pytest.mark.parametrize("after", HONEST.values(), ids=HONEST.keys())
@pytest.mark.parametrize("id", [WINDOW, SIZES, SMOKE, REFUSES, RESULT])
def test_honest_work_is_let_through(id: str, after: dict[str, str], tmp_path: Path) -> None:
    assert statuses(tmp_path, id, after) == {"kept"}


TRUE = st.recursive(
    st.sampled_from(["True", "1", "1 < 2", "not 0", '"text"', "len([0])", "WINDOW", "WINDOW == 3", "int is int"]),
    lambda inner: st.one_of(
        inner.map("({})".format), inner.map("not not {}".format), inner.map("bool({})".format),
        st.tuples(inner, inner).map("({0[0]}) and ({0[1]})".format),
    ),
    max_leaves=4,
)  # fmt: skip
#: An import, and the marks under the name that it gives them.
MARKS = st.sampled_from([
    ("", "pytest.mark"), ("import pytest as p", "p.mark"), ("from pytest import mark", "mark"),
    ("from pytest import mark as m", "m"), ("named = pytest.mark", "named"),
    ("first = pytest\nsecond = first.mark", "second"),
])  # fmt: skip
SPELLING = st.one_of(
    TRUE.map(lambda true: f'.skipif({true}, reason="x")'),
    TRUE.map(lambda true: f'.skipif(condition={true}, reason="x")'),
    TRUE.map(lambda true: f".xfail({true}, run=False)"),
    st.sampled_from(
        [".skip", ".skip()", '.skip("x")', '.skip(reason="x")', ".xfail", ".xfail(run=False, strict=True)"]
    ),
)
PLACE = st.sampled_from(
    ["function", "class", "class mark", "class marks", "module mark", "module marks", "a name"]
)


def marked(place: str, imported: str, mark: str) -> str:
    """The module with a mark at some place that holds for TestNet::test_refuses."""
    text = TREE["tests/test_net.py"].replace("WINDOW = 3\n", f"WINDOW = 3\n{imported}\n")
    method, header = "    def test_refuses(self):\n", "class TestNet:\n"
    old, new = {
        "function": (method, f"    @{mark}\n{method}"),
        "class": (header, f"@{mark}\n{header}"),
        "class mark": (header, f"{header}    pytestmark = {mark}\n"),
        "class marks": (header, f"{header}    pytestmark = [{mark}]\n"),
        "module mark": (header, f"pytestmark = {mark}\n\n{header}"),
        "module marks": (header, f"pytestmark = [pytest.mark.usefixtures(), {mark}]\n\n{header}"),
        "a name": (method, f"    later = {mark}\n\n    @later\n{method}"),
    }[place]
    assert text.count(old) == 1
    return text.replace(old, new)


@settings(max_examples=200, deadline=None)
@given(PLACE, MARKS, SPELLING)
def test_no_spelling_of_a_mark_that_always_skips_is_missed(
    place: str, marks: tuple[str, str], spelling: str
) -> None:
    text = marked(place, marks[0], marks[1] + spelling)
    with tempfile.TemporaryDirectory() as folder:
        assert statuses(Path(folder), REFUSES, {**TREE, "tests/test_net.py": text}) == {"neutered"}
