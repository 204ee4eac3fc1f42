"""What a workspace costs to make, against `git clone --depth 1`, on 3,000 commits of 2,000 files.

Usage: python benchmarks/workspace.py [COMMITS [FILES [ROUNDS]]]. Prints CPU ratios (a side and all it starts).
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

SCAFFOLD = Path(__file__).resolve().parents[1] / "<<cookiecutter.project_slug>>"
ENVIRONMENT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"
}  # fmt: skip


def history(commits: int, files: int) -> Iterator[bytes]:
    """A fast-import stream: the scaffold's tools and oracle, then files of which each commit changes one."""

    def put(path: str, data: bytes) -> bytes:
        return f"M 644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"

    def text(number: int, version: int) -> bytes:
        lines = (f"value_{number}_{line} = {number * line + version}\n" for line in range(60))
        return "".join(lines).encode()

    for commit in range(commits):
        yield b"commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata 1\nx\n" % (
            1_700_000_000 + commit
        )
        if commit == 0:
            for folder in ("tools", "oracle"):
                for file in sorted((SCAFFOLD / folder).rglob("*")):
                    if file.suffix in (".py", ".sh", ".toml", ".txt", ".json"):
                        yield put(str(file.relative_to(SCAFFOLD)), file.read_bytes())
            for number in range(files // 10):
                yield put(f"corpus/data/{number}.json", text(number + files, 0))
            for number in range(files):
                yield put(f"src/p{number % 40}/m{number}.py", text(number, 0))
        else:
            number = commit * 7919 % files
            yield put(f"src/p{number % 40}/m{number}.py", text(number, commit))


def cpu_seconds(side: Callable[[], object]) -> float:
    """CPU seconds of the processes that `side` starts."""

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    side()
    return used() - before


def main(commits: int = 3000, files: int = 2000, rounds: int = 5) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repository = folder / "repository"

        def run(*words: str, data: bytes | None = None) -> None:
            subprocess.run(words, input=data, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)

        run("git", "init", "--quiet", "--initial-branch=main", str(repository))
        run("git", "-C", str(repository), "fast-import", "--quiet", data=b"".join(history(commits, files)))
        run("git", "-C", str(repository), "reset", "--quiet", "--hard", "main")
        gate = [sys.executable, str(repository / "tools/gate.py")]
        sides = {
            "git clone --depth 1": ["git", "clone", "--quiet", "--depth=1", f"file://{repository}"],
            "workspace create": [*gate, "workspace", "create"],
            "workspace create --mode tarball": [*gate, "workspace", "create", "--mode=tarball"],
            "clone.sh": ["sh", str(repository / "tools/workspace/clone.sh"), str(repository)],
        }
        costs: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(rounds):
            for side, words in sides.items():
                made = folder / "made"
                started = time.perf_counter()
                costs[side].append(cpu_seconds(lambda words=words, made=made: run(*words, str(made))))  # type: ignore[misc]
                print(f"{side}: CPU {costs[side][-1]:.2f} s, wall {time.perf_counter() - started:.2f} s")
                shutil.rmtree(made) if made.is_dir() else made.unlink()
        clone = costs.pop("git clone --depth 1")
        for side, found in costs.items():
            ratio = statistics.median(own / other for own, other in zip(found, clone, strict=True))
            print(f"{side}: CPU ratio {ratio:.2f} to git clone --depth 1 ({commits} commits x {files} files)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
