"""Restore run bits, which a template from an archive loses; no tool depends on them."""

import sys
from pathlib import Path

SCRIPTS = ("tools/*.py", "tools/workspace/*.sh")


def main() -> int:
    for pattern in SCRIPTS:
        for path in Path().glob(pattern):
            if path.read_bytes().startswith(b"#!"):
                path.chmod(path.stat().st_mode | 0o111)
    return 0


if __name__ == "__main__":
    sys.exit(main())
