"""Restore run bits, which a template from an archive loses, and remove folders left empty; no tool depends on it."""

import contextlib
import sys
from pathlib import Path

SCRIPTS = ("tools/*.py", "tools/workspace/*.sh")
EMPTY_WITHOUT_CI = (".github/workflows", ".github")


def main() -> int:
    for pattern in SCRIPTS:
        for path in Path().glob(pattern):
            if path.read_bytes().startswith(b"#!"):
                path.chmod(path.stat().st_mode | 0o111)
    for folder in EMPTY_WITHOUT_CI:
        with contextlib.suppress(OSError):  # not empty: there are workflows
            Path(folder).rmdir()
    return 0


if __name__ == "__main__":
    sys.exit(main())
