"""What the pool costs beside the programs it runs, against a bare posix_spawn loop in C.

Usage: python benchmarks/runner.py [ROWS [ROUNDS]]. Both sides run the same trivial C program with its output
in a memory file, by turns, so that a busy machine hurts both. CPU time is that of a side and everything
below it. The start of a pool, which a corpus pays once, is measured apart and taken off.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1] / "<<cookiecutter.project_slug>>" / "tools"
sys.path.insert(0, str(TOOLS))

from oracle_gate.core.observation import Observation  # noqa: E402
from oracle_gate.runner.environment import Subject  # noqa: E402
from oracle_gate.runner.job import Job, TreeSource  # noqa: E402
from oracle_gate.runner.pool import Pool  # noqa: E402
from oracle_gate.sandbox.layer import Inside  # noqa: E402
from oracle_gate.sandbox.plain import Plain  # noqa: E402

GOAL = 1.6
PROGRAM = """
#include <unistd.h>
int main(void) { return write(1, "ok\\n", 3) != 3; }
"""
LOOP = """
#define _GNU_SOURCE
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **argument) {
    char *argv[] = {argument[1], NULL}, data[16];
    int out = memfd_create("out", 0), status;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    for (int row = atoi(argument[2]); row > 0; row--) {
        pid_t child;
        if (ftruncate(out, 0) || lseek(out, 0, SEEK_SET)) return 1;
        if (posix_spawn(&child, argument[1], &actions, NULL, argv, environ)) return 1;
        if (waitpid(child, &status, 0) != child || status) return 1;
        if (pread(out, data, sizeof data, 0) != 3) return 1;
    }
    return count != 3;
}
"""


def compile_c(folder: Path, name: str, source: str) -> Path:
    """The executable made of one C file."""
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["cc", "-O2", "-o", folder / name, folder / f"{name}.c"], check=True)
    return folder / name


def cost(side: Callable[[], None]) -> tuple[float, float]:
    """CPU seconds (with children) and wall seconds."""

    def used() -> float:
        usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    cpu, wall = used(), time.perf_counter()
    side()
    return used() - cpu, time.perf_counter() - wall


def run_loop(loop: Path, program: Path, rows: int) -> None:
    """The bare side."""
    subprocess.run([loop, program, str(rows)], check=True)


def run_pool(program: Path, rows: int, workers: int) -> None:
    """The pool's side: every row must exit with the expected output."""

    def materialise(tree: Path) -> None:
        (tree / "data").write_text("x")

    def verify(tree: Path) -> list[bytes]:
        return [] if (tree / "data").read_text() == "x" else [b"data"]

    def reduce(_job: Job, observation: Observation, _inside: Inside) -> bool:
        return observation.status == "exited" and b"".join(observation.stdout.chunks()) == b"ok\n"

    jobs = (Job(str(number), (program.name,)) for number in range(rows))
    subject = Subject(Path(sys.executable), tools=(program.parent,))
    with Pool(TreeSource(materialise, verify), Plain(), subject, workers=workers) as pool:
        if not all(good for _, good in pool.run(jobs, reduce)):
            raise SystemExit("a row went wrong")


def main(rows: int = 2000, rounds: int = 5) -> None:
    with tempfile.TemporaryDirectory() as name:
        program = compile_c(Path(name), "program", PROGRAM)
        loop = compile_c(Path(name), "loop", LOOP)
        ratios: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(rounds):
            bare_cpu, bare_wall = cost(partial(run_loop, loop, program, rows))
            for workers, found in ratios.items():
                start, _ = cost(partial(run_pool, program, workers, workers))
                cpu, wall = cost(partial(run_pool, program, rows, workers))
                found.append((cpu - start) / bare_cpu)
                print(
                    f"{workers} worker(s): CPU {cpu:.2f} s (start {start:.2f} s) against {bare_cpu:.2f} s, "
                    f"wall {wall:.2f} s against {bare_wall:.2f} s"
                )
        for workers, found in ratios.items():
            print(f"{workers} worker(s): CPU ratio {statistics.median(found):.2f} (goal {GOAL})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
