"""A third of the red team's cases, and what the suite says of itself. The whole: `nox -s redteam`."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from redteam import leaks
from redteam.cases import CATALOGUE, CONTROLS, ELSEWHERE, GROUPS, NOT_CLAIMED
from redteam.cases.threads import PAIRS, SAME_PAIRS, Pair
from redteam.detectors import DETECTORS
from redteam.host import Host, open_host, problem_of
from redteam.model import Case
from redteam.run import BLOCK, README, ROOT, TITLES, one_digest
from support.gate import armed_repository

DISHONEST = [case for cases in GROUPS.values() for case in cases]
#: What ends a judgement before anything runs, and so costs nothing: all of these are judged here.
_EARLY = ("intake.", "denylist.", "freeze_ledger.", "oracle.unarmed")


def third(cases: list[Case]) -> list[Case]:
    return random.Random(8).sample(cases, len(cases) // 3)


CHEAP = [case for case in DISHONEST if case.rules[0].startswith(_EARLY)]
OUTPUTS: list[Pair] = [*PAIRS, *SAME_PAIRS]
JUDGED: list[Case] = [
    *CHEAP,
    *third([case for case in DISHONEST if case not in CHEAP]),
    *third(list(CONTROLS)),
]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Host]:
    root = tmp_path_factory.getbasetemp()
    armed = armed_repository((root if worker_id == "master" else root.parent) / "armed")
    with open_host(tmp_path_factory.mktemp("redteam"), armed) as host:
        yield host


@pytest.mark.parametrize("case", JUDGED, ids=[case.name for case in JUDGED])
def test_a_case_gets_its_verdict_by_its_rule(case: Case, host: Host) -> None:
    assert problem_of(case, host.judge(case)) == ""


@pytest.mark.parametrize("pair", OUTPUTS, ids=[pair.name for pair in OUTPUTS])
def test_outputs_have_one_digest_when_nothing_differs_that_counts(pair: Pair) -> None:
    assert one_digest(pair) == pair.same


def test_every_row_of_the_catalogue_has_a_case_or_a_place() -> None:
    known = {case.id for case in DISHONEST} | {leak.id for leak in leaks.CASES}
    known |= {row for rows in (*NOT_CLAIMED, *ELSEWHERE) for row in re.findall(r"[A-Z]\d+", rows)}
    assert [row for row in CATALOGUE if row not in known] == []


def test_the_suites_that_hold_other_rows_are_there() -> None:
    assert [where for where in ELSEWHERE.values() if not (ROOT / where).is_file()] == []


def test_cases_are_told_apart_and_say_what_they_expect() -> None:
    names = [case.name for case in (*DISHONEST, *CONTROLS)] + [leak.name for leak in leaks.CASES]
    assert len(names) == len(set(names))
    assert all(case.rules and case.verdict != "eligible" for case in DISHONEST)
    assert all(bool(case.rules) == (case.verdict == "inspect") for case in CONTROLS)
    assert len(CONTROLS) >= 25


def test_the_readmes_table_counts_the_cases_of_today() -> None:
    """Its figures are measured by `nox -s redteam -- --table`; here only their totals are looked at."""
    found = BLOCK.search(README.read_text(encoding="utf-8"))
    assert found
    rows = {
        cells[1].strip(): cells[2].strip()
        for line in found[0].split("\n")
        if len(cells := line.split("|")) == 6
    }
    totals = {group: len(cases) for group, cases in GROUPS.items()}
    totals |= {"L": len(leaks.CASES), "outputs": len(OUTPUTS), "controls": len(CONTROLS)}
    for group, total in totals.items():
        stopped = 0 if group == "controls" else total
        assert rows[TITLES[group]] == f"{stopped} / {total}", f"{group}: run nox -s redteam -- --table"


def test_a_wrong_verdict_is_told(host: Host) -> None:
    case = next(case for case in CHEAP if case.rules == ("denylist.hit",))
    packet = host.judge(case)
    for verdict, rules in (("eligible", ()), ("block", ("replay.drift",)), ("inspect", ("denylist.hit",))):
        wanted = Case(case.id, case.title, case.change, rules, verdict)  # type: ignore[arg-type]
        assert "must get" in problem_of(wanted, packet)


def test_a_detector_that_nobody_would_miss_is_told(host: Host) -> None:
    detector = DETECTORS[0]
    assert detector.problem(host) == ""
    assert replace(detector, replaced=()).problem(host) == "STILL CAUGHT"
    assert "must get" in replace(DETECTORS[-2], case=(lambda _: "", "x.y")).problem(host)
