"""The quarantine lane: what it says of entries and ids."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import Path

import pytest
from oracle_gate.core.inventory import Inventory, read_inventory
from oracle_gate.core.inventory_weaker import Sides
from oracle_gate.core.ledger import Quarantined
from oracle_gate.lanes.quarantine import quarantine
from support.objects import entries, opened

DAY = datetime.date(2026, 10, 6)
FILE = "tests/test_a.py"
SOURCE = """\
import pytest


def test_one():
    assert 1 == len(str(pytest))


@pytest.mark.parametrize("x", [1, 2])
def test_two(x):
    assert x == len(str(pytest))


@pytest.mark.parametrize("x", list(range(3)))
def test_three(x):
    assert x == len(str(pytest))
"""


@pytest.fixture
def base(tmp_path: Path) -> Inventory:
    with opened(tmp_path / "store") as store:
        return read_inventory(store, entries(store, {FILE: SOURCE}), ("tests",))


def found(id: str, sides: Sides, **entry: object) -> list[str]:
    fields = {"reason": "flaky", "expires": DAY, **entry}
    return [row.status for row in quarantine([Quarantined(id, **fields)], DAY, sides)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("entry", "statuses"),
    [
        ({}, ["kept"]),
        ({"expires": DAY - datetime.timedelta(1)}, ["expired"]),
        ({"expires": DAY + datetime.timedelta(1)}, ["kept"]),
        ({"expires": None}, ["no_expiry"]),
        ({"reason": ""}, ["no_reason"]),
        ({"reason": "", "expires": None}, ["no_reason", "no_expiry"]),
    ],
)
def test_an_entry_holds_through_its_last_day(
    entry: dict[str, object], statuses: list[str], base: Inventory
) -> None:
    assert found(f"{FILE}::test_one", Sides(base, base), **entry) == statuses


def test_a_test_that_is_gone_is_told_beside_its_expiry(base: Inventory) -> None:
    assert found(f"{FILE}::test_one", Sides(base, {}), expires=DAY - datetime.timedelta(1)) == [
        "expired",
        "missing",
    ]


@pytest.mark.parametrize(
    "id", ["test_one", f"{FILE}::test", f"{FILE}::test_one2", f"{FILE}::test_two[3]", FILE]
)
def test_what_is_no_exact_id_of_the_base_is_missing(id: str, base: Inventory) -> None:
    [row] = quarantine([Quarantined(id, "flaky", DAY)], DAY, Sides(base, base))
    assert (row.status, row.detail) == (
        "missing",
        "stands in no inventory of the base either: correct the ledger",
    )


ONE, TWO, THREE = (f"{FILE}::test_{name}" for name in ("one", "two", "three"))
LISTED = frozenset({ONE, f"{TWO}[1]", f"{TWO}[2]", f"{THREE}[0]", f"{THREE}[1]", f"{THREE}[2]"})


@pytest.mark.parametrize("id", [ONE, TWO, f"{TWO}[1]", THREE, f"{THREE}[2]"])
def test_an_id_must_stand_in_both_inventories(id: str, base: Inventory) -> None:
    assert found(id, Sides(base, base, LISTED, (LISTED, LISTED))) == ["kept"]
    gone = frozenset(other for other in LISTED if not other.startswith(id))
    for listed in ((gone, LISTED), (LISTED, gone), (None,), (frozenset[str](),)):
        assert found(id, Sides(base, base, LISTED, listed)) == ["missing"]
    assert found(id, Sides(base, {}, LISTED, (LISTED,))) == ["missing"]


def test_a_parametrised_test_is_all_its_cases(base: Inventory) -> None:
    fewer = LISTED - {f"{THREE}[2]"}
    assert found(THREE, Sides(base, base, LISTED, (fewer,))) == ["missing"]
    assert found(f"{THREE}[1]", Sides(base, base, LISTED, (fewer,))) == ["kept"]


def test_a_test_that_only_the_collection_knows_is_held_to_it() -> None:
    listed = frozenset({"spec/a.js::adds"})
    assert found("spec/a.js::adds", Sides({}, {}, listed, (listed,))) == ["kept"]
    assert found("spec/a.js::adds", Sides({}, {}, listed, (frozenset({"spec/a.js::adds numbers"}),))) == [
        "missing"
    ]


def test_a_skip_at_run_time_is_seen(base: Inventory) -> None:
    sides = Sides(base, base, LISTED, (LISTED,), skipped=frozenset({f"{TWO}[2]"}))
    assert found(TWO, sides) == ["neutered"]
    assert found(f"{TWO}[1]", sides) == ["kept"]


def test_the_detail_says_what_is_weaker(base: Inventory) -> None:
    test = base[ONE]
    weaker = {**base, ONE: dataclasses.replace(test, marks={"Call(pytest.mark.skip)": True})}
    [row] = quarantine([Quarantined(ONE, "flaky", DAY)], DAY, Sides(base, weaker))
    assert row.status == "neutered"
    assert "skip" in row.detail
