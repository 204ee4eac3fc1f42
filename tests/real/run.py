"""The gate on real projects.

    nox -s real            or: python tests/real/run.py [--project NAME] [--cache DIR] [--keep DIR]

Each project is a module with `run(folder, cache, checks)`: it makes a repository, arms it, judges changes
whose verdicts and drifting rows it states beforehand, and prints both.

Needs the package index: for source releases (pinned by sha256; kept in .nox/real) and for what the projects
run with (pinned by hashes). Ends with 1 if an expectation fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "<<cookiecutter.project_slug>>/tools"))

from support.baking import TEMPLATE

from real import csv_summary_releases, sample_layers, sqlparse_releases, yamllint_own_tests, yamllint_releases
from real.harness import Checks
from real.releases import ReleaseError

PROJECTS = {
    "sample": sample_layers.run,
    "yamllint": yamllint_releases.run,
    "yamllint-tests": yamllint_own_tests.run,
    "csv-summary": csv_summary_releases.run,
    "sqlparse": sqlparse_releases.run,
}


def run(names: Sequence[str], folder: Path, cache: Path) -> int:
    """Runs these projects, each in a folder of its own below `folder`; returns the exit code."""
    checks = Checks()
    for name in names:
        print(f"\n===== {name}", flush=True)
        started = time.monotonic()
        (folder / name).mkdir()
        PROJECTS[name](folder / name, cache, checks)
        print(f"\n{name}: {time.monotonic() - started:.0f} s", flush=True)
    print(f"\n{checks.failed} expectation(s) failed" if checks.failed else "\nall expectations met")
    return 1 if checks.failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--project", action="append", choices=PROJECTS, help="only this one; repeatable")
    parser.add_argument(
        "--cache", type=Path, default=TEMPLATE / ".nox/real", metavar="DIR", help="where archives are kept"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work in this new folder and leave it there")
    options = parser.parse_args()
    names = options.project or list(PROJECTS)
    try:
        if options.keep:
            options.keep.mkdir(parents=True)
            return run(names, options.keep.resolve(), options.cache)
        with tempfile.TemporaryDirectory() as folder:
            return run(names, Path(folder), options.cache)
    except ReleaseError as error:
        print(f"real: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
