"""yamllint 1.32.0 with its own test-suite as the public lane: a patch that deletes one of its tests is seen.

The tests, of unittest's kind, run in the sandbox under the scaffold's pinned pytest. A refactoring shows
that they stay green and that no test is missed without cause.
"""

from __future__ import annotations

import ast
from pathlib import Path

from support.baking import SCAFFOLD
from support.gate import Gate

from real.harness import (
    Case,
    Checks,
    Judgement,
    arm,
    is_clean,
    judge,
    make_project,
    read_folder,
    read_releases,
    show,
)  # fmt: skip
from real.releases import Sources
from real.yamllint_releases import NEW, OLD, PROJECT, SETTINGS, cut_refactoring

INPUTS, ROWS = "corpus/inputs.jsonl", 5
PUBLIC = {("public", "paths"): '["tests"]'}
#: The test that the patch deletes.
FILE, CLASS, METHOD = "tests/rules/test_commas.py", "CommaTestCase", "test_before_max"
LOST = f"{FILE}::{CLASS}::{METHOD}"
#: yamllint 1.32.0 has more tests than this; fewer green ones would mean that the lane sees little of them.
LEAST_GREEN = 150


def few_rows() -> Sources:
    """The first rows on yamllint: they arm the oracle, the tests are what this is about."""
    lines = (PROJECT / INPUTS).read_bytes().splitlines(keepends=True)
    return {INPUTS: b"".join(lines[:ROWS])}


def requirements() -> Sources:
    """What yamllint needs, and the scaffold's pytest."""
    names = ("requirements/subject.in", "requirements/subject.txt")
    return {name: (SCAFFOLD / name).read_bytes() + (PROJECT / name).read_bytes() for name in names}


def cut_deletion(gate: Gate) -> bytes:
    """A patch that deletes one test method and nothing else."""
    text = (gate.root / FILE).read_text(encoding="utf-8")
    (test,) = (
        method
        for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == CLASS
        for method in node.body if isinstance(method, ast.FunctionDef) and method.name == METHOD
    )  # fmt: skip
    lines = text.splitlines(keepends=True)
    gate.write(FILE, "".join(lines[: test.lineno - 1] + lines[test.end_lineno :]))
    return gate.cut_patch()


def show_tests(judgement: Judgement, lost: list[str], checks: Checks) -> None:
    """Prints what the lanes about tests found, and compares it with what is expected."""
    tests, public = judgement.packet["tests"], judgement.packet["public"]
    for kind in ("lost", "newly_skipped", "weakened", "added"):
        print(f"  tests {kind}: {', '.join(tests[kind]) or 'none'}")
    for reason in judgement.packet["reasons"]:
        print(f"  {reason['rule']}: {reason['subject']}: {reason['detail']}")
    base, own = public["base_tests"], public["own_tests"]
    print(f"  public lane: {public['green_on_base']} tests green on the base; over the patch the base's own "
          f"{base['passed']} passed, {len(base['failed'])} failed; the patch's {own['passed']} passed, "
          f"{len(own['failed'])} failed")  # fmt: skip
    checks.expect(f"tests lost: {', '.join(lost) or 'none'}", tests["lost"] == lost)
    checks.expect("no other test is missed", not tests["newly_skipped"] + tests["weakened"])
    checks.expect(
        f"more than {LEAST_GREEN} tests are green on the base", public["green_on_base"] > LEAST_GREEN
    )
    checks.expect("all of them pass over the patch", base["passed"] == public["green_on_base"])
    checks.expect("the patch's own are as many, less the lost", own["passed"] == base["passed"] - len(lost))


def run(folder: Path, cache: Path, checks: Checks) -> None:
    """Arms 1.32.0 and its tests in `folder`; judges the deletion and the refactoring."""
    old, _new = read_releases((OLD, NEW), cache)
    files = old | read_folder(PROJECT) | few_rows() | requirements()
    gate = make_project(folder, "yamllint", files, SETTINGS | PUBLIC)
    arm(gate)
    deletion = Case(f"{LOST} deleted", cut_deletion(gate), "inspect", 5, {})
    refactoring = Case("refactoring of 1.32.0", cut_refactoring(gate), "eligible", 0, {})
    for case, lost in ((deletion, [LOST]), (refactoring, [])):
        judgement = judge(gate, case.patch)
        show(case, judgement, checks)
        show_tests(judgement, lost, checks)
    checks.expect(
        "the deletion's patch names only the test's file", deletion.patch.count(b"diff --git ") == 1
    )
    is_clean(gate, checks)
