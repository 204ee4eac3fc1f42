"""Changes of three steps to one repository, to arrive at the gate in every way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from support.objects import write_files

FILES: dict[str, bytes | str] = {
    "src/a.py": "".join(f"line {number}\n" for number in range(30)),
    "src/b.py": "b = 1\n",
    "src/crlf.txt": b"one\r\ntwo\r\n",
    "src/data.bin": bytes(range(256)) * 4,
    "src/no_newline.txt": "no newline",
    "src/deep/er/c.py": "c\n",
    "src/caf\u00e9 au lait.txt": "x\n",
    "README.md": "text\n",
    "oracle/denylist.txt": "oracle/\ncorpus/\nsealed/\ntools/\n",
    "corpus/data/x": "x\n",
    ".gitignore": "*.log\n",
}
#: Three steps of one change; None deletes a file, a tuple holds a mode as well.
Step = Mapping[str, bytes | str | tuple[str, int] | None]
CHANGES: dict[str, tuple[Step, Step, Step]] = {
    "text": (
        {"src/a.py": str(FILES["src/a.py"]).replace("line 3\n", "")},
        {"src/a.py": "start\n" + str(FILES["src/a.py"]).replace("line 3\n", "")},
        {"src/b.py": "b = 2\n"},
    ),
    "kinds": (
        {"src/new/d.py": "d\n", "src/b.py": None, "src/run.sh": ("#!/bin/sh\n", 0o755)},
        {"src/data.bin": b"\0" * 500 + b"\xff", "src/new/d.py": "d = 2\n"},
        {"README.md": ("text\n", 0o755), "src/no_newline.txt": "no newline still"},
    ),
    "bytes": (
        {"src/crlf.txt": b"one\r\n2\r\n", "src/latin.txt": b"caf\xe9\n"},
        {"src/caf\u00e9 au lait.txt": "y\n", "src/a b\u20ac.txt": ""},
        {"src/crlf.txt": b"one\n2\r\nthree"},
    ),
    "moves": (
        {"src/deep/er/c.py": None, "src/deep/c.py": "c\n"},
        {"src/deep/c.py": None, "src/c.py": "c\n"},
        {"src/a.py": None, "src/a/a.py": FILES["src/a.py"]},
    ),
    "denied": (
        {"src/b.py": "b = 2\n", "corpus/data/x": "y\n"},
        {"oracle/denylist.txt": None, "sealed/new": "x\n"},
        {"tools/gate.py": "x\n", "src/sitecustomize.py": "x\n"},
    ),
}


def apply(root: Path, step: Step) -> None:
    """One step in a work tree."""
    for name, content in step.items():
        if content is None:
            (root / name).unlink()
        elif isinstance(content, tuple):
            write_files(root, {name: content[0]})
            (root / name).chmod(content[1])
        else:
            write_files(root, {name: content})
