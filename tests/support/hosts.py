"""The trusted host of workspace tests: what it seals, and its checks, called without a new process each time."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from oracle_gate.commands.audit import examine
from oracle_gate.commands.context import Launch, opened
from oracle_gate.workspace.report import Audit

from support.baking import SCAFFOLD
from support.gitenv import git, git_env

#: The shells of this machine that the scripts must work in. `sh` is always there.
SHELLS = {
    name: argv
    for name, argv in {"sh": ("sh",), "dash": ("dash",), "busybox": ("busybox", "sh")}.items()
    if shutil.which(argv[0])
}
SEALED = {
    "sealed/fixtures/put_ok.bin": b"KEY=alpha\nVALUE=something that only the judge may know\n" * 3,
    "sealed/fixtures/f_noise.bin": b"".join(hashlib.sha256(bytes([n])).digest() for n in range(22)),
    "sealed/fixtures/f_rows.json": b'{"rows": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}, {"id": 3}]}\n',
    "sealed/properties/p_one.py": b"def holds(data, run):\n"
    b'    """No key of the store is ever lost, whatever is put."""\n'
    b'    return data.count(b"KEY=") == run(["python", "-m", "x"], data).stdout.count(b"VALUE=")\n',
    "oracle/digests.json": b'{"fmt-nested": "%s"}\n' % hashlib.sha256(b"observed").hexdigest().encode(),
    "sealed/freeze.json": b'{"schema": "freeze-ledger-v1", "entries": []}\n',
}


@dataclass(frozen=True)
class Made:
    """A workspace and the pins that were printed for it."""

    folder: Path
    pins: Mapping[str, str]


@dataclass(frozen=True)
class Host:
    """The repository that holds the oracle."""

    root: Path

    @property
    def base(self) -> str:
        """Its main branch's commit."""
        return git(self.root, "rev-parse", "main").decode().strip()

    def read(self, path: str) -> bytes:
        """A file of the base."""
        return (self.root / path).read_bytes()

    def audit(self, folder: Path) -> Audit:
        """The trusted side's check."""
        launch = Launch(str(self.root), self.base, "test", "local", "")
        with opened(launch) as context:
            return examine(context, folder)


def run_script(name: str, *words: str, shell: tuple[str, ...] = ("sh",)) -> subprocess.CompletedProcess[str]:
    """Runs one of tools/workspace/*.sh; `shell` are the words before it."""
    script = SCAFFOLD / "tools/workspace" / f"{name}.sh"
    return subprocess.run(
        [*shell, os.fspath(script), *words], env=git_env(), text=True, capture_output=True, check=False,
        errors="surrogateescape", timeout=120,
    )  # fmt: skip
