"""The gate on a real project: the two releases of yamllint between which a message lost a space.

    nox -s real            or: python tests/real/run.py [--cache DIR] [--keep DIR]

1.33.0 rewrote yamllint's messages as f-strings. One of them lost the space in "expected 6 but found 8";
yamllint's own tests stayed green, and the message stayed wrong for two years. Here a repository with
1.32.0 in it is armed with rows of our own (yamllint/corpus), then three changes of it are judged:

- a refactoring, made here: must be eligible;
- 1.33.0 as a patch: must be blocked, by rule replay.drift on the row that shows the message, with both
  texts in the diff, and on the rows whose results the release changed on purpose, but on no other;
- 1.33.0 with the space put back: must still be blocked, but no longer for that message.

Input without a finding is linted together with other input: alone it gives what an empty program gives, and
`record` refuses such a row as inert.

Needs the package index: for the two archives (pinned by sha256; kept in .nox/real) and for what yamllint
runs with (yamllint/requirements, pinned by hashes). Ends with 1 if an expectation fails.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "<<cookiecutter.project_slug>>/tools"))

from oracle_gate.core.denyrules import Rule, always_denied, match, parse_rules
from support.baking import SCAFFOLD, TEMPLATE, bake
from support.gate import REVIEWER, Gate
from support.gitenv import commit_all, git, make_repository

from real.releases import Release, ReleaseError, Sources, fetch, read_sources, split

OLD = Release("yamllint", "1.32.0", "d01dde008c65de5b235188ab3110bebc59d18e5c65fc8a58267cd211cd9df34a")
NEW = Release("yamllint", "1.33.0", "2dceab9ef2d99518a2fcf4ffc964d44250ac4459be1ba3ca315118e4a1a81f7d")
PROJECT = Path(__file__).resolve().parent / "yamllint"

#: The row that shows the lost space, and what its diff must hold.
KNOWN = "multi-line-indentation"
KNOWN_DIFF = (
    "-corpus/data/multi-line.yaml:6:9: [error] wrong indentation: expected 6 but found 8 (indentation)",
    "+corpus/data/multi-line.yaml:6:9: [error] wrong indentation: expected 6but found 8 (indentation)",
)
LOST_SPACE = {
    KNOWN: "the lost space, format parsable",
    "folded-indentation": "the lost space, format standard",
}
#: What the release says it changes, or changes by being one.
INTENDED = {
    "rule-document-end-directive": "no spurious 'missing document end' before a directive (changelog)",
    "rule-empty-values-items": "empty-values looks into block sequences as well (changelog)",
    "version": "the version number",
}
#: Where the space belongs in 1.33.0.
INDENTATION = "yamllint/rules/indentation.py"
WITHOUT_SPACE, WITH_SPACE = b"expected {expected_indent}'", b"expected {expected_indent} '"

#: Behaviour is kept: (file, text, new text), each text once or more in 1.32.0.
REFACTORING = (
    ("yamllint/rules/quoted_strings.py", "_quote_match(", "_is_quoted_as("),
    (
        "yamllint/linter.py",
        "def get_syntax_error(",
        "# At most one: parsing ends there.\ndef get_syntax_error(",
    ),
    (
        "yamllint/cli.py",
        "def show_problems(problems, file, args_format, no_warn):\n"
        "    max_level = 0\n    first = True\n\n    if args_format == 'auto':",
        "def _choose_format(args_format):\n    if args_format == 'auto':",
    ),
    (
        "yamllint/cli.py",
        "            args_format = 'colored'\n\n    for problem in problems:",
        "            args_format = 'colored'\n    return args_format\n\n\n"
        "def show_problems(problems, file, args_format, no_warn):\n"
        "    args_format = _choose_format(args_format)\n"
        "    max_level = 0\n    first = True\n\n    for problem in problems:",
    ),
)


@dataclass(frozen=True)
class Case:
    """A change to judge, the verdict that it must get, and the rows that must drift, each with the reason."""

    name: str
    patch: bytes
    verdict: str
    exit_code: int
    drifting: Mapping[str, str]


@dataclass(frozen=True)
class Judgement:
    """What the gate answered."""

    exit_code: int
    packet: dict[str, Any]
    seconds: float

    @property
    def drift(self) -> dict[str, dict[str, Any]]:
        """The drifting rows by id, in corpus order."""
        return {row["id"]: row for row in self.packet["replay"] if row["status"] == "drift"}


class Checks:
    """Prints expectations as they are looked at, and counts those that fail."""

    def __init__(self) -> None:
        self.failed = 0

    def expect(self, what: str, met: bool) -> None:
        """One expectation, said as a fact."""
        self.failed += not met
        print(f"  {'ok   ' if met else 'WRONG'} {what}", flush=True)


def make_project(folder: Path, sources: Sources) -> Gate:
    """A committed repository: the scaffold, with yamllint and our corpus in it."""
    root = make_repository(bake(folder / "bakes", project_name="yamllint", sample_program="no"))
    gate = Gate(root)
    for unused in ("src", "tests"):
        shutil.rmtree(root / unused)
    lay(root, sources)
    for name in ("corpus", "requirements"):
        shutil.copytree(PROJECT / name, root / name, dirs_exist_ok=True)
    set_setting(gate, "subject", "path", '["."]')
    set_setting(gate, "lanes", "required", '["denylist", "replay"]')
    commit_all(root, "Lay yamllint into the scaffold")
    return gate


def lay(root: Path, sources: Sources) -> None:
    """Writes a release's files."""
    for path, data in sources.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def set_setting(gate: Gate, table: str, key: str, value: str) -> None:
    """Replaces the value, on one line, of a key that the table has in gate.toml."""
    text = (gate.root / "oracle/gate.toml").read_text(encoding="utf-8")
    setting = rf"(^\[{table}\]\n(?:(?!\[).*\n)*?{key} = ).*$"
    changed, count = re.subn(setting, lambda found: found[1] + value, text, flags=re.MULTILINE)
    if count != 1:
        raise SystemExit(f"real: gate.toml has no key {table}.{key}")
    gate.write("oracle/gate.toml", changed)


def answer(gate: Gate, *words: str, codes: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs a command of the gate; another exit code ends the run with what was printed."""
    done = gate.run(*words)
    if done.returncode not in codes:
        raise SystemExit(f"real: {words[0]} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def arm(gate: Gate) -> None:
    """Builds the environment, pins the corpus, commits the pins; prints what record says."""
    answer(gate, "env")
    digest = answer(gate, "record", "--print-digest").stdout.strip()
    done = answer(gate, "record", "--reviewed-by", REVIEWER, "--corpus-sha256", digest)
    print(textwrap.indent(done.stderr + done.stdout, "  "), end="", flush=True)
    commit_all(gate.root, "Arm the oracle")


def cut_release(gate: Gate, old: Sources, new: Sources) -> bytes:
    """The difference of two releases as a patch; the first is what HEAD holds."""
    for path in old.keys() - new.keys():
        (gate.root / path).unlink()
    lay(gate.root, new)
    return gate.cut_patch()


def cut_refactoring(gate: Gate) -> bytes:
    """Our refactoring of the code in HEAD as a patch."""
    for path, text, changed in REFACTORING:
        gate.edit(path, text, changed)
    return gate.cut_patch()


def with_space(new: Sources) -> Sources:
    """1.33.0 without its mistake."""
    if new[INDENTATION].count(WITHOUT_SPACE) != 1:
        raise SystemExit(f"real: {INDENTATION} does not hold the message as expected")
    return new | {INDENTATION: new[INDENTATION].replace(WITHOUT_SPACE, WITH_SPACE)}


def judge(gate: Gate, patch: bytes) -> Judgement:
    """Judges a patch."""
    file = gate.root.parent / "change.patch"
    file.write_bytes(patch)
    started = time.monotonic()
    done = answer(gate, "judge", "--patch", str(file), codes=(0, 1, 4, 5))
    return Judgement(done.returncode, gate.packet(), time.monotonic() - started)


def show(case: Case, judgement: Judgement, checks: Checks) -> None:
    """Prints a judgement and compares it with what the case expects."""
    packet = judgement.packet
    states = Counter(row["status"] for row in packet["replay"])
    print(f"\n{case.name}: {len(packet['changes'])} path(s) changed, judged in {judgement.seconds:.0f} s")
    print(f"  verdict {packet['verdict']}, exit {judgement.exit_code}; rows: {dict(states)}")
    rules = Counter((reason["outcome"], reason["rule"]) for reason in packet["reasons"])
    for (outcome, rule), count in rules.items():
        print(f"  {outcome:8}{rule} x{count}")
    for row in judgement.drift:
        print(f"  drift   {row}: {case.drifting.get(row, 'NOT EXPECTED')}")
    given = (packet["verdict"], judgement.exit_code)
    checks.expect(f"{case.verdict}, exit {case.exit_code}", given == (case.verdict, case.exit_code))
    checks.expect(f"{len(case.drifting)} row(s) drift, all others match",
                  judgement.drift.keys() == case.drifting.keys() and states.keys() <= {"match", "drift"}
                  and states.total() == packet["counts"]["pins"])  # fmt: skip
    blocking = {reason["subject"] for reason in packet["reasons"] if reason["rule"] == "replay.drift"}
    checks.expect("replay.drift names the same rows", blocking == set(case.drifting))


def show_known(judgement: Judgement, checks: Checks) -> None:
    """Prints the diff of the row that shows the lost space, and looks for both texts in it."""
    diff = judgement.drift.get(KNOWN, {}).get("diff", [])
    print(f"  diff of {KNOWN}:")
    print(textwrap.indent("\n".join(diff), "    "))
    checks.expect("the diff shows the message with and without its space", set(KNOWN_DIFF) <= set(diff))


def is_dropped(path: str, rules: tuple[Rule, ...]) -> bool:
    """What a release has only because it is one, and what no change may touch."""
    return path == "PKG-INFO" or bool(match(path, rules) or always_denied(path, ["."]))


def read_releases(cache: Path) -> tuple[Sources, Sources]:
    """Both releases, without what is dropped; prints what that is."""
    rules = parse_rules((SCAFFOLD / "oracle/denylist.txt").read_bytes())
    found = []
    for release in (OLD, NEW):
        sources, dropped = split(read_sources(fetch(release, cache)), lambda path: is_dropped(path, rules))
        print(f"{release.archive}: sha256 {release.sha256}, {len(sources)} files")
        names = ", ".join(dropped) or "none"
        left_out = f"  left out, made by the release or denied: {names}"
        print(textwrap.fill(left_out, 100, subsequent_indent="    ", break_on_hyphens=False))
        found.append(sources)
    return found[0], found[1]


def run(folder: Path, cache: Path) -> int:
    """Runs everything in `folder`; returns the exit code."""
    checks = Checks()
    old, new = read_releases(cache)
    rows = [json.loads(line) for line in (PROJECT / "corpus/inputs.jsonl").read_text("utf-8").splitlines()]
    print(f"\n{len(rows)} rows; arming: env, record, commit", flush=True)
    gate = make_project(folder, old)
    arm(gate)
    cases = (
        Case("refactoring of 1.32.0", cut_refactoring(gate), "eligible", 0, {}),
        Case("1.33.0", cut_release(gate, old, new), "block", 1, LOST_SPACE | INTENDED),
        Case("1.33.0 with the space", cut_release(gate, old, with_space(new)), "block", 1, INTENDED),
    )
    for case in cases:
        judgement = judge(gate, case.patch)
        show(case, judgement, checks)
        if KNOWN in case.drifting:
            show_known(judgement, checks)
    changed = git(gate.root, "status", "--porcelain").decode()
    checks.expect("the judged repository is as it was", not changed)
    print(f"\n{checks.failed} expectation(s) failed" if checks.failed else "\nall expectations met")
    return 1 if checks.failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--cache", type=Path, default=TEMPLATE / ".nox/real", metavar="DIR", help="where archives are kept"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work in this new folder and leave it there")
    options = parser.parse_args()
    try:
        if options.keep:
            options.keep.mkdir(parents=True)
            return run(options.keep.resolve(), options.cache)
        with tempfile.TemporaryDirectory() as folder:
            return run(Path(folder), options.cache)
    except ReleaseError as error:
        print(f"real: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
