"""A repository with the engine and a shell script as its program: judged in a third of the sample project's time."""

from __future__ import annotations

import fcntl
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from support.baking import CACHES, SCAFFOLD
from support.gate import REVIEWER, Gate
from support.gitenv import commit_all, make_repository
from support.objects import write_files

PROGRAM = """\
#!/bin/sh
case "$1" in
upper) tr a-z A-Z ;;
count) wc -l < "$2" | tr -d ' ' ;;
write) tr a-z A-Z < in.txt > out.txt ;;
esac
"""
ROWS: tuple[Mapping[str, object], ...] = (
    {"id": "upper", "argv": ["src/prog.sh", "upper"], "stdin": "abc\n"},
    {"id": "count", "argv": ["src/prog.sh", "count", "corpus/data/text"]},
    {"id": "write", "argv": ["src/prog.sh", "write"], "files": {"in.txt": "corpus/data/text"}},
    {"id": "upper-more", "argv": ["src/prog.sh", "upper"], "stdin": "x\ny\n", "tags": ["more"]},
)
#: The engine's files are left out of the trees that rows run in: writing them is most of what a judgement costs.
SETTINGS = f"""\
[view]
hidden = ["oracle", "corpus", "sealed", "tools"]
[subject]
python = "{sys.executable}"
[sandbox]
require = "plain"
[replay]
workers = 2
[lanes]
required = ["denylist", "replay"]
"""


def rows_text(*rows: Mapping[str, object]) -> str:
    """Rows as inputs.jsonl holds them."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def make_quick(root: Path) -> Gate:
    """Makes the repository, its oracle not armed yet."""
    make_repository(root)
    shutil.copytree(SCAFFOLD / "tools", root / "tools", ignore=shutil.ignore_patterns(*CACHES))
    (root / "tools/metamorphic.py").write_text('"""No relations."""\n')
    shutil.copytree(SCAFFOLD / "oracle", root / "oracle")
    write_files(root, {
        "src/prog.sh": PROGRAM, "corpus/inputs.jsonl": rows_text(*ROWS), "corpus/data/text": "one\ntwo\n",
        "oracle/gate.toml": SETTINGS, "requirements/subject.txt": "", ".gitignore": "/.gate/\n__pycache__/\n*.pyc\n",
        "README.md": "quick\n",
    })  # fmt: skip
    (root / "src/prog.sh").chmod(0o755)
    commit_all(root, "Scaffold")
    return Gate(root)


def record(gate: Gate) -> None:
    """Pins the corpus of the work tree and commits everything."""
    digest = gate.run("record", "--print-digest", check=0).stdout.strip()
    gate.run("record", "--reviewed-by", REVIEWER, "--corpus-sha256", digest, check=0)
    commit_all(gate.root, "Arm the oracle")


def armed_quick(shared: Path) -> Path:
    """The quick repository, armed, made once below `shared`; to be copied, not changed."""
    shared.mkdir(parents=True, exist_ok=True)
    root = shared / "quick"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "ready").exists():
            record(make_quick(root))
            (shared / "ready").touch()
    return root
