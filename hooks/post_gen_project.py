"""Restore run bits, which a template from an archive loses, and remove folders left empty; no tool depends on it."""

import sys
from pathlib import Path

SCRIPTS = ("tools/*.py", "tools/workspace/*.sh")
EMPTY_WITHOUT_CI = (".github/workflows", ".github")


def main() -> int:
    for pattern in SCRIPTS:
        for path in Path().glob(pattern):
            if path.read_bytes().startswith(b"#!"):
                path.chmod(path.stat().st_mode | 0o111)
    for folder in map(Path, EMPTY_WITHOUT_CI):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return 0


if __name__ == "__main__":
    sys.exit(main())
