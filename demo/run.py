"""Bake a project, arm it, then judge one honest patch and several others; ends non-zero on a wrong verdict.

    python demo/run.py [--wheelhouse DIR] [--keep DIR]

Nothing of the user's is read or written: the project lives in a temporary folder, git has a neutral
configuration.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.baking import bake
from support.gate import Gate
from support.gitenv import commit_all, git, make_repository

EXIT_CODES = {"eligible": 0, "block": 1, "hold": 4, "inspect": 5}
FMT = "src/replay_demo/fmt.py"


@dataclass(frozen=True)
class Case:
    """A change to judge. `prepare` edits the work tree, or returns the bytes of a patch of its own."""

    name: str
    prepare: Callable[[Gate], bytes | None]
    verdict: str
    rule: str = ""
    as_work_tree: bool = False


@dataclass(frozen=True)
class Judgement:
    """What the gate answered: its exit code, and the packet's verdict and reasons."""

    exit_code: int
    verdict: str
    reasons: list[dict[str, str]]

    def meets(self, case: Case) -> bool:
        """Whether this is the answer that the case must get."""
        rules = {reason["rule"] for reason in self.reasons}
        expected = (case.verdict, EXIT_CODES[case.verdict])
        return (self.verdict, self.exit_code) == expected and (case.rule in rules if case.rule else not rules)


def honest_refactor(project: Gate) -> None:
    project.edit(FMT, "_block(", "_bracketed(")
    project.edit(FMT, "    failed = False\n", "    failed = False  # so far\n")


def escaped_accents(project: Gate) -> None:
    project.edit(FMT, "ensure_ascii=False", "ensure_ascii=True")


def swallowed_error(project: Gate) -> None:
    project.edit(FMT, "            failed = True\n", "            failed = False\n")


def random_output(project: Gate) -> None:
    project.edit(FMT, "import argparse\n", "import argparse\nimport random\n")
    project.edit(FMT, '(render(parse(data)) + "\\n")', 'f"{render(parse(data))}{random.random()}\\n"')


def updated_pins(project: Gate) -> None:
    escaped_accents(project)
    project.edit("oracle/digests.json", "a", "b")


def new_corpus_file(project: Gate) -> None:
    project.write("corpus/data/extra.json", "{}\n")


def accented_name(project: Gate) -> None:
    project.write("corpus/data/entr\u00e9e.json", "{}\n")


def copied_corpus(_project: Gate) -> bytes:
    return b"""\
diff --git a/corpus/data/nested.json b/src/replay_demo/nested.json
similarity index 100%
copy from corpus/data/nested.json
copy to src/replay_demo/nested.json
"""


def reverted_denylist(project: Gate) -> bytes:
    """Three mails: an honest change, an edit of the denylist, and its reverse. Their sum is honest."""
    honest_refactor(project)
    commit_all(project.root, "Rename a helper")
    project.edit("oracle/denylist.txt", "corpus/\n", "")
    commit_all(project.root, "Tidy up")
    git(project.root, "revert", "--no-edit", "HEAD")
    mails = git(project.root, "format-patch", "--stdout", "--binary", "--full-index", "HEAD~3..HEAD")
    git(project.root, "reset", "--quiet", "--hard", "HEAD~3")
    return mails


def new_dependency(project: Gate) -> None:
    project.edit("requirements/subject.in", "pytest==", "attrs\npytest==")


def nothing(_project: Gate) -> bytes:
    return b""


CASES = (
    Case("honest refactor", honest_refactor, "eligible"),
    Case("escapes accents on output", escaped_accents, "block", "replay.drift"),
    Case("reports success on broken input", swallowed_error, "block", "replay.drift"),
    Case("prints a random number", random_output, "block", "replay.unstable"),
    Case("changes output and its pins", updated_pins, "block", "denylist.hit"),
    Case("untracked file below corpus/", new_corpus_file, "block", "denylist.hit", as_work_tree=True),
    Case("new corpus file, accented name", accented_name, "block", "denylist.hit"),
    Case("copies corpus data into src/", copied_corpus, "block", "denylist.hit"),
    Case("mails edit and revert denylist", reverted_denylist, "block", "denylist.hit"),
    Case("adds a dependency", new_dependency, "inspect", "dependencies.changed"),
    Case("empty patch", nothing, "hold", "intake.empty"),
)


def armed(folder: Path, wheelhouse: str) -> Gate:
    """A baked and committed project whose corpus is pinned. Only `env` sees the user's variables, for pip."""
    project = Gate(make_repository(bake(folder / "work")))
    commit_all(project.root, "Bake the project")
    print(f"baked {project.root}; arming it: env, seal, record, commit", flush=True)
    users = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    project.run("env", *(["--wheelhouse", wheelhouse] if wheelhouse else []), check=0, env=users)
    project.arm()
    return project


def judge(project: Gate, case: Case) -> Judgement:
    """Judge a case as a patch or as the work tree, and leave the work tree clean."""
    patch = case.prepare(project)
    if case.as_work_tree:
        done = project.run("judge")
        git(project.root, "clean", "--quiet", "--force", "-d")
    else:
        file = project.root.parent / "change.patch"
        file.write_bytes(project.cut_patch() if patch is None else patch)
        done = project.run("judge", "--patch", str(file))
    packet = project.packet()
    return Judgement(done.returncode, packet["verdict"], packet["reasons"])


def table_line(case: str, verdict: str, rule: str, next_step: str) -> str:
    """One line of the table."""
    return f"{case:<33}{verdict:<10}{rule:<22}{next_step}"


def run(folder: Path, wheelhouse: str) -> int:
    """Run all cases in `folder`; returns 0 if every verdict is the right one."""
    project = armed(folder, wheelhouse)
    print("\n" + table_line("patch", "verdict", "rule", "next step for the human"), flush=True)
    wrong = 0
    for case in CASES:
        found = judge(project, case)
        first = (
            found.reasons[0] if found.reasons else {"rule": "-", "next_step": "Review the diff; then merge."}
        )
        print(table_line(case.name, found.verdict, first["rule"], first["next_step"]), flush=True)
        if not found.meets(case):
            wrong += 1
            reasons = json.dumps(found.reasons, indent=1)
            print(
                f"  WRONG: expected {case.verdict} {case.rule}, exit {found.exit_code}\n{reasons}", flush=True
            )
    print(f"\n{len(CASES) - wrong} of {len(CASES)} verdicts as they must be")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--wheelhouse", default="", help="folder of wheels for `gate.py env`, for use offline"
    )
    parser.add_argument("--keep", metavar="DIR", help="work in this new folder and leave it there")
    options = parser.parse_args()
    if options.keep:
        return run(Path(options.keep).resolve(), options.wheelhouse)
    with tempfile.TemporaryDirectory() as folder:
        return run(Path(folder), options.wheelhouse)


if __name__ == "__main__":
    sys.exit(main())
