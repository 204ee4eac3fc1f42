"""The two articles' own listings on the same cases, where the articles lie beside the repository.

Nothing of them is kept: the code is cut out of the text when the suite runs, and lives in a temporary folder.
Each gets the best reading: a patch that git refuses, or that writes to a folder mounted read-only, is caught.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from redteam.host import BASES
from redteam.model import Case
from support.baking import TEMPLATE
from support.gate import Gate
from support.gitenv import commit_all, git, git_env

SOURCE = TEMPLATE.parent / "shared/source"
_TIMEOUT_S = 30
_RUN = "import sys; sys.path.insert(0, 'src'); from replay_demo.{} import main; sys.exit(main(sys.argv[1:]))"
_ROWS = (
    ("fmt", "corpus/data/nested.json"),
    ("fmt", "corpus/data/broken.json"),
    ("sum_json", "corpus/data/permuted.json"),
)
_PROPERTIES = {
    "p_stable": """
def holds(data):
    try:
        once = format_bytes(data)
    except Malformed:
        return True
    return format_bytes(once) == once
""",
    "p_sum": """
def holds(data):
    try:
        return total(parse(data)) == total(parse(format_bytes(data)))
    except Malformed:
        return True
""",
    "p_refuses": """
def unique(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)

def holds(data):
    try:
        json.loads(data, object_pairs_hook=unique)
        good = True
    except ValueError:
        good = False
    try:
        format_bytes(data)
    except Malformed:
        return not good
    return good
""",
}
_IMPORTS = "import json\n"
_IMPORTS += (
    "from replay_demo.fmt import Malformed, format_bytes, parse\nfrom replay_demo.sum_json import total\n"
)


def cut(text: str, start: str, end: str) -> str:
    """The text from `start` up to and with `end`."""
    at = text.index(start)
    return text[at : text.index(end, at) + len(end)] + "\n"


def available() -> bool:
    """Whether both articles are here."""
    return len(list(SOURCE.glob("*.txt"))) == 2


@dataclass(frozen=True)
class Article:
    """A listing set up in a repository: its script, and whether its sealed folder cannot be written."""

    name: str
    host: Path
    patched: Gate
    command: tuple[str, ...]
    base: str

    def passes(self, case: Case) -> bool:
        """Whether the case gets a green light."""
        try:
            delivered = self._deliver(case)
            return delivered and not self._touches_mount() and self._run() == 0
        finally:
            git(self.patched.root, "checkout", "--quiet", "--force", "--detach", self.base)
            git(self.patched.root, "clean", "-dffxq")

    def _deliver(self, case: Case) -> bool:
        root = self.patched.root
        if isinstance(case.change, bytes):
            command = ["git", "apply", "--whitespace=nowarn", "-"]
            done = subprocess.run(
                command, input=case.change, cwd=root, env=git_env(), capture_output=True, check=False
            )
            return done.returncode == 0
        for edit in case.change:
            edit.apply(self.patched)
        if case.way in ("staged", "committed", "reverted"):
            git(root, "add", "--all", "--force")
        if case.way in ("committed", "reverted"):
            head = commit_all(root, "Change")
            if case.way == "reverted":
                git(root, "revert", "--no-edit", head)
        return True

    def _touches_mount(self) -> bool:
        """Article B mounts sealed/ read-only; article A has none."""
        status = git(self.patched.root, "status", "--porcelain", "--ignored", "sealed")
        return self.name == "B" and (
            bool(status) or bool(git(self.patched.root, "diff", self.base, "--", "sealed"))
        )

    def _run(self) -> int:
        environment = {**git_env(), "PYTHONPATH": "src", "PYTHONDONTWRITEBYTECODE": "1"}
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        cwd = self.host if self.name == "A" else self.patched.root
        process = subprocess.Popen(
            [sys.executable, *self.command], cwd=cwd, env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            return process.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return -1
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def article_a(sample: Path, folder: Path) -> Article:
    """Article A's gate on the sample project, its pins made by its own code."""
    text = next(SOURCE.glob("000_*.txt")).read_text(encoding="utf-8")
    gate = Gate(_copy(sample, folder / "a"))
    gate.write("tools/replay_gate.py", cut(text, "#!/usr/bin/env python3", "raise SystemExit(main())"))
    gate.write("oracle/denylist.txt", cut(text, "oracle/\noracle/digests.json", "\ntools/metamorphic.py"))
    rows = [
        {"id": f"row-{number}", "argv": [sys.executable, "-c", _RUN.format(module), *words]}
        for number, (module, *words) in enumerate(_ROWS)
    ]
    gate.write("corpus/inputs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    pin = (
        "import json, sys; sys.path.insert(0, 'tools'); import replay_gate as g; "
        "print(json.dumps({r['id']: g.sha256_bytes(g.run_case(g.ROOT, r['argv'])) for r in g.load_jsonl(g.CORPUS)}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", pin], cwd=gate.root, env=git_env(), capture_output=True, check=True
    )
    gate.write("oracle/digests.json", done.stdout.decode())
    base = commit_all(gate.root, "Article A")
    patched = _copy(gate.root, folder / "a-patched")
    return Article(
        "A", gate.root, Gate(patched), ("tools/replay_gate.py", str(gate.root), str(patched)), base
    )


def article_b(sample: Path, folder: Path) -> Article:
    """Article B's harness on the sample project's fixtures, with properties that import what they speak of."""
    text = next(SOURCE.glob("002_*.txt")).read_text(encoding="utf-8")
    gate = Gate(_copy(sample, folder / "b"))
    gate.write("tools/replay_harness.py", cut(text, "# tools/replay_harness.py", "sys.exit(main())"))
    fixtures = sorted((gate.root / "sealed/fixtures").iterdir())
    for old in (gate.root / "sealed/properties").iterdir():
        old.unlink()
    for name, source in _PROPERTIES.items():
        gate.write(f"sealed/properties/{name}.py", _IMPORTS + source)
    manifest = {
        "schema": "sealed-oracle-v1",
        "properties": [{"id": name, "path": f"properties/{name}.py"} for name in _PROPERTIES],
        "fixtures": [
            {
                "id": file.stem,
                "path": f"fixtures/{file.name}",
                "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            }
            for file in fixtures
        ],
    }
    gate.write("sealed/MANIFEST.json", json.dumps(manifest))
    base = commit_all(gate.root, "Article B")
    return Article("B", gate.root, gate, ("tools/replay_harness.py",), base)


def _copy(source: Path, destination: Path) -> Path:
    git(source, "clone", "--quiet", "--no-hardlinks", str(source), str(destination))
    return destination


def fits(case: Case) -> bool:
    """Whether a case can be put to an article: those about this gate's own set-up cannot."""
    return case.base == next(iter(BASES))
