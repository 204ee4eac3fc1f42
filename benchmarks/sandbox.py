"""What the sandbox costs a row: the pool under each layer against the plain pool, by turns.

Usage: python benchmarks/sandbox.py [ROWS [ROUNDS]]. The same trivial C program on both sides. CPU time of the
gate and of everything below it while rows run, without the start of a worker. Ends with 1 when a ratio is
above 1.3; the goal is 1.15.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "<<cookiecutter.project_slug>>/tools")]

from oracle_gate.core.errors import GateError  # noqa: E402
from oracle_gate.sandbox.choice import candidates  # noqa: E402
from oracle_gate.sandbox.layer import Layer  # noqa: E402
from runner import PROGRAM, Job, Pool, Subject, TreeSource, compile_c  # noqa: E402

GOAL, BOUND = 1.15, 1.3
_TICKS = os.sysconf("SC_CLK_TCK")


def used() -> float:
    """CPU seconds of this process and its living descendants, with the children they have waited for.

    A sandbox's first process ends unwaited-for with its namespace, so that the usual sum would miss it.
    """
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (process / "stat").read_bytes().rpartition(b")")[2].split()
            parents[int(process.name)] = int(fields[1])
            ticks[int(process.name)] = sum(map(int, fields[11:15]))
    level = {os.getpid()}
    total = 0
    while level:
        total += sum(ticks[process] for process in level)
        level = {child for child, parent in parents.items() if parent in level}
    return total / _TICKS


def cost(layer: Layer, program: Path, rows: int) -> float:
    """CPU seconds of `rows` runs of the program under a layer, each of which must exit."""
    subject = Subject(Path(sys.executable), tools=(program.parent,))
    tree = TreeSource(lambda folder: (folder / "data").touch(), lambda _folder: [])
    with Pool(tree, layer, subject) as pool:
        for count in (1, rows):
            before = used()
            jobs = (Job(str(number), (program.name,)) for number in range(count))
            if {s for _, s in pool.run(jobs, lambda _job, seen, _inside: seen.status)} != {"exited"}:
                raise SystemExit("a row went wrong")
        return used() - before


def main(rows: int = 300, rounds: int = 7) -> int:
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        program = compile_c(folder, "program", PROGRAM)
        found = [item for item in candidates("auto") if not isinstance(item, GateError)]
        plain = next(layer for layer in found if layer.name == "plain")
        ratios: dict[str, list[float]] = {layer.name: [] for layer in found if layer is not plain}
        for _ in range(rounds):
            bare = cost(plain, program, rows)
            for layer in found:
                if layer is not plain:
                    ratios[layer.name].append(cost(layer, program, rows) / bare)
        for layer_name, seen in ratios.items():
            middle = statistics.median(seen)
            worst = max(worst, middle)
            spread = f"{min(seen):.2f} to {max(seen):.2f}"
            print(f"{layer_name}: CPU ratio {middle:.2f} ({spread}; goal {GOAL}, bound {BOUND})")
    return 1 if worst > BOUND else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
