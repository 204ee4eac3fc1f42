"""The cases by group, and what the suite leaves to others or does not claim."""

from __future__ import annotations

from redteam.cases import denied, honest, running, tampering, threads, weakened
from redteam.model import Case

GROUPS: dict[str, tuple[Case, ...]] = {
    "T": weakened.CASES,
    "D": denied.CASES,
    "G": tampering.CASES,
    "R": running.CASES,
    "cases": tuple(case for case in threads.CASES if case.rules and case.id != "slop-code-bench#16"),
}
CONTROLS: tuple[Case, ...] = (
    *honest.CASES,
    *(case for case in threads.CASES if not case.rules or case.id == "slop-code-bench#16"),
)
#: Rows of the catalogue that no judge can see in one judgement (design, section 14).
NOT_CLAIMED = {
    "R1": "a table of all inputs of the corpus and the sealed folder, broken elsewhere",
    "R1 ": "behaviour behind an API that no row reaches",
    "R3": "a program that recognises the gate by what every envelope of it has in common",
    "R22": "a time bomb that goes off after the judgement",
    "R22 ": "a counter that outlives a row on a machine of the program's own",
    "T11": "assertions stripped where the project is used, not where it is judged",
    "L4": "a human who pastes sealed bytes into a prompt",
    "G12": "a cache of the user's own pipeline: the template brings none",
}
#: Rows that another suite of this project holds, and where.
ELSEWHERE = {
    "R5 R6 R8 R11 R12 R27 R28 R29 R31": "tests/isolation/attacks.py",
    "G7 G9 G15": "tests/engine/test_attacks_on_judge.py",
    "D1 D2 D3, one verdict for four ways": "tests/engine/test_judge_paths.py",
    "T4 T5, other spellings": "tests/engine/test_quarantine_spellings.py",
    "R21": "tests/engine/test_exit_codes.py",
    "L1 to L21, over a hundred spellings": "tests/workspace/test_leaks.py",
    "L13 L14 L15": "tests/engine/test_exit_codes.py",
    "L19": "tests/template/test_scaffold.py",
    "hooks": "tests/engine/test_guard.py",
    "nox, make": "tests/template/test_fronts.py",
    "template": "tests/template/test_bake.py",
    "canonical form": "tests/engine/test_canonical.py",
}
