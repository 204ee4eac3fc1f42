"""Two releases of yamllint between which a message lost a space.

1.33.0 rewrote yamllint's messages as f-strings. One of them lost the space in "expected 6 but found 8";
yamllint's own tests stayed green, and the message stayed wrong for two years. Here a repository with
1.32.0 in it is armed with rows of our own (yamllint/corpus), then three changes of it are judged:

- a refactoring, made here: must be eligible;
- 1.33.0 as a patch: must be blocked, by rule replay.drift on the row that shows the message, with both
  texts in the diff, and on the rows whose results the release changed on purpose, but on no other;
- 1.33.0 with the space put back: must still be blocked, but no longer for that message.

Input without a finding is linted together with other input: alone it gives what an empty program gives, and
`record` refuses such a row as inert.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

from support.gate import Gate

from real.harness import (
    Case,
    Checks,
    Judgement,
    arm,
    cut_release,
    is_clean,
    judge,
    make_project,
    read_folder,
    read_releases,
    same_under_every_layer,
    show,
)  # fmt: skip
from real.releases import Release, Sources

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


SETTINGS = {("subject", "path"): '["."]', ("lanes", "required"): '["denylist", "replay"]'}


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


def show_known(judgement: Judgement, checks: Checks) -> None:
    """Prints the diff of the row that shows the lost space, and looks for both texts in it."""
    diff = judgement.drift.get(KNOWN, {}).get("diff", [])
    print(f"  diff of {KNOWN}:")
    print(textwrap.indent("\n".join(diff), "    "))
    checks.expect("the diff shows the message with and without its space", set(KNOWN_DIFF) <= set(diff))


def run(folder: Path, cache: Path, checks: Checks) -> None:
    """Arms 1.32.0 in `folder` and judges the three changes."""
    old, new = read_releases((OLD, NEW), cache)
    rows = [json.loads(line) for line in (PROJECT / "corpus/inputs.jsonl").read_text("utf-8").splitlines()]
    print(f"\n{len(rows)} rows; arming: env, record, commit", flush=True)
    gate = make_project(folder, "yamllint", old | read_folder(PROJECT), SETTINGS)
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
    is_clean(gate, checks)
    same_under_every_layer(gate, checks)
