"""Bake a project, arm it, then judge one honest patch and several others; ends non-zero on a wrong verdict.

    python demo/run.py [--wheelhouse DIR] [--keep DIR]

Nothing of the user's is read or written: the project lives in a temporary folder, git has a neutral
configuration.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.baking import bake
from support.gitenv import commit_all, git, git_env, make_repository

EXIT_CODES = {"eligible": 0, "block": 1, "hold": 4, "inspect": 5}
FMT = "src/replay_demo/fmt.py"


@dataclass(frozen=True)
class Case:
    """A change to judge. `prepare` edits the work tree; it may return a patch of its own instead."""

    name: str
    prepare: Callable[[Path], str | None]
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


def replace(project: Path, path: str, old: str, new: str) -> None:
    """Replace every occurrence; a text that is not there is an error of the demo."""
    text = (project / path).read_text(encoding="utf-8")
    if old not in text:
        raise SystemExit(f"demo: {path} does not hold {old!r}")
    (project / path).write_text(text.replace(old, new), encoding="utf-8")


def add(project: Path, path: str, text: str) -> None:
    """Write a new file."""
    (project / path).write_text(text, encoding="utf-8")


def honest_refactor(project: Path) -> None:
    replace(project, FMT, "_block(", "_bracketed(")
    replace(project, FMT, "    failed = False\n", "    failed = False  # so far\n")


def nicer_output(project: Path) -> None:
    replace(project, FMT, "ensure_ascii=False", "ensure_ascii=True")


def swallowed_error(project: Path) -> None:
    replace(project, FMT, "            failed = True\n", "            failed = False\n")


def random_output(project: Path) -> None:
    replace(project, FMT, "import argparse\n", "import argparse\nimport random\n")
    replace(project, FMT, '(render(parse(data)) + "\\n")', 'f"{render(parse(data))}{random.random()}\\n"')


def updated_pins(project: Path) -> None:
    nicer_output(project)
    replace(project, "oracle/digests.json", "a", "b")


def new_row_data(project: Path) -> None:
    add(project, "corpus/data/extra.json", "{}\n")


def accented_name(project: Path) -> None:
    add(project, "corpus/data/entr\u00e9e.json", "{}\n")


def copied_corpus(_project: Path) -> str:
    return """\
diff --git a/corpus/data/nested.json b/src/replay_demo/nested.json
similarity index 100%
copy from corpus/data/nested.json
copy to src/replay_demo/nested.json
"""


def new_dependency(project: Path) -> None:
    replace(project, "requirements/subject.in", "pytest==", "attrs\npytest==")


def nothing(_project: Path) -> str:
    return ""


CASES = (
    Case("honest refactor", honest_refactor, "eligible"),
    Case("escapes accents on output", nicer_output, "block", "replay.drift"),
    Case("reports success on broken input", swallowed_error, "block", "replay.drift"),
    Case("prints a random number", random_output, "block", "replay.unstable"),
    Case("changes output and its pins", updated_pins, "block", "denylist.hit"),
    Case("untracked file below corpus/", new_row_data, "block", "denylist.hit", as_work_tree=True),
    Case("new corpus file, accented name", accented_name, "block", "denylist.hit"),
    Case("copies corpus data into src/", copied_corpus, "block", "denylist.hit"),
    Case("adds a dependency", new_dependency, "inspect", "dependencies.changed"),
    Case("empty patch", nothing, "hold", "intake.empty"),
)


class Project:
    """A baked project in a repository of its own, and the gate that stands in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = make_repository(bake(folder / "work"))
        commit_all(self.root, "Bake the project")

    def gate(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        """Run a command of the gate; an exit code outside `codes` ends the demo with what it printed."""
        environment = {name: value for name, value in os.environ.items() if name != "CI"}
        environment |= {name: value for name, value in git_env().items() if name.startswith("GIT_")}
        done = subprocess.run(
            [sys.executable, "tools/gate.py", *arguments],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in codes:
            command = " ".join(("gate.py", *arguments))
            raise SystemExit(f"demo: {command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def arm(self, wheelhouse: str) -> None:
        """Build the environment, pin the corpus, commit the pins."""
        self.gate("env", *(["--wheelhouse", wheelhouse] if wheelhouse else []))
        digest = self.gate("record", "--print-digest").stdout.strip()
        self.gate(
            "record", "--reviewed-by", "Demo Reviewer <reviewer@example.org>", "--corpus-sha256", digest
        )
        commit_all(self.root, "Arm the oracle")

    def judge(self, case: Case) -> Judgement:
        """Judge a case as a patch file or as the work tree, and leave the work tree clean."""
        patch_file = self.folder / "change.patch"
        patch = case.prepare(self.root)
        arguments = []
        if not case.as_work_tree:
            git(self.root, "add", "--all")
            made = git(self.root, "diff", "--cached", "--binary", "--full-index", "HEAD")
            patch_file.write_bytes(made if patch is None else patch.encode())
            git(self.root, "reset", "--quiet", "--hard")
            arguments = ["--patch", str(patch_file)]
        packet_file = self.root / ".gate/merge_packet.json"
        packet_file.unlink(missing_ok=True)
        done = self.gate("judge", *arguments, codes=tuple(EXIT_CODES.values()))
        git(self.root, "reset", "--quiet", "--hard")
        git(self.root, "clean", "--quiet", "--force", "-d")
        packet = json.loads(packet_file.read_bytes())
        return Judgement(done.returncode, packet["verdict"], packet["reasons"])


def table_line(case: str, verdict: str, rule: str, next_step: str) -> str:
    """One line of the table."""
    return f"{case:<33}{verdict:<10}{rule:<22}{next_step}"


def run(folder: Path, wheelhouse: str) -> int:
    """Run all cases in `folder`; returns 0 if every verdict is the right one."""
    project = Project(folder)
    print(f"baked {project.root}; arming it: env, record, commit", flush=True)
    project.arm(wheelhouse)
    print("\n" + table_line("patch", "verdict", "rule", "next step for the human"), flush=True)
    wrong = 0
    for case in CASES:
        found = project.judge(case)
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
