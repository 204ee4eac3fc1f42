"""How the audit grows: CPU seconds for more of a workspace to look at, and for more hidden files.

Usage: python benchmarks/audit.py [MEGABYTES [ROUNDS]]. Linear means: each row's last column is about 1.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

SCAFFOLD = Path(__file__).resolve().parents[1] / "<<cookiecutter.project_slug>>"
sys.path[:0] = [str(SCAFFOLD / "tools"), str(Path(__file__).resolve().parents[1] / "tests")]

from support.baking import bake  # noqa: E402
from support.gitenv import commit_all, make_repository  # noqa: E402
from support.hosts import Host  # noqa: E402

WORDS = [f"{number * 7919 % 99991:x}" for number in range(5000)]


def text(size: int, seed: int) -> bytes:
    """Lines of words, `size` bytes."""
    chance = random.Random(seed)  # noqa: S311
    lines = (" ".join(chance.choices(WORDS, k=12)) for _ in range(size // 60 + 1))
    return "\n".join(lines).encode()[:size]


def seconds(host: Host, folder: Path, rounds: int) -> float:
    """CPU seconds of the best of some audits; the workspace is clean, or this raises."""
    best = []
    for _ in range(rounds):
        started = time.process_time()
        if host.audit(folder).findings:
            raise SystemExit(
                f"the audit found something in a clean folder: {host.audit(folder).findings[:3]}"
            )
        best.append(time.process_time() - started)
    return min(best)


def main(megabytes: int = 4, rounds: int = 3) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = make_repository(bake(Path(name, "host")))
        host, folder = Host(root), Path(name, "workspace")
        (root / "corpus/data/more").mkdir()
        first = 0.0
        print("workspace MB  hidden files  hidden MB  CPU s  CPU s a workspace MB, against the first row")
        for times, secrets in ((1, 100), (2, 100), (4, 100), (4, 400), (4, 1600), (4, 6400)):
            for number in range(secrets):
                (root / f"corpus/data/more/{number}.txt").write_bytes(text(500, number))
            commit_all(root, f"{secrets} secrets")
            folder.mkdir(exist_ok=True)
            for number in range(times * megabytes):
                (folder / f"{number}.txt").write_bytes(text(1 << 20, 10_000_000 + number))
            cost = seconds(host, folder, rounds) / (times * megabytes)
            first = first or cost
            print(
                f"{times * megabytes:12}  {secrets:12}  {secrets * 500 / 1e6:9.2f}"
                f"  {cost * times * megabytes:5.2f}  {cost / first:.2f}"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
