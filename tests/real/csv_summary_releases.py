"""A program that is not Python: a summariser of CSV files in awk, with a shell script around it.

Written for this test, in three versions (csv_summary/VERSION): 1.0.1 says the same as 1.0.0 in other words,
1.1.0 changes what white space around a field and an empty number mean. Rows run awk with the program, name a
file for `[replay] file_argv`, or run the script, which writes its results into files.
"""

from __future__ import annotations

from pathlib import Path

from real.harness import Case, Checks, arm, cut_release, is_clean, judge, make_project, read_folder, show

PROJECT = Path(__file__).resolve().parent / "csv_summary"
SETTINGS = {
    ("subject", "path"): '["src"]',
    ("replay", "file_argv"): '["awk", "-f", "src/summary.awk"]',
    ("lanes", "required"): '["denylist", "replay"]',
}
PROGRAMS = ("src/csv-summary",)
#: What 1.1.0 changes on purpose.
INTENDED = {
    "spaces": "white space around a field no longer counts",
    "empty-number": "an empty number is 0, no longer a skipped line",
    "ragged": "a number that is not there is 0 as well",
    "spaces-written": "white space, seen only in the file that the script writes",
}


def run(folder: Path, _cache: Path, checks: Checks) -> None:
    """Arms 1.0.0 in `folder` and judges the two later versions."""
    first, refactored, changed = (read_folder(PROJECT / version) for version in ("1.0.0", "1.0.1", "1.1.0"))
    gate = make_project(folder, "csv-summary", first | read_folder(PROJECT / "base"), SETTINGS, PROGRAMS)
    arm(gate)
    cases = (
        Case("1.0.1, a refactoring", cut_release(gate, first, refactored), "eligible", 0, {}),
        Case("1.1.0", cut_release(gate, first, changed), "block", 1, INTENDED),
    )
    for case in cases:
        show(case, judge(gate, case.patch), checks)
    is_clean(gate, checks)
