"""What the sandbox costs a row: the pool under each layer against the plain pool, by turns.

Usage: python benchmarks/sandbox.py [ROWS [ROUNDS]]. CPU time of a side and everything below it, the start of
the pool taken off; the same trivial C program on both sides. The ratio's bound is 1.15 (in CI 1.3).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from oracle_gate.core.errors import GateError
from oracle_gate.sandbox.choice import candidates
from oracle_gate.sandbox.layer import Layer
from runner import PROGRAM, Job, Pool, Subject, TreeSource, compile_c, cost

BOUND = 1.15


def run_pool(layer: Layer, program: Path, rows: int) -> None:
    """`rows` runs of the program under a layer, each of which must exit."""
    subject = Subject(Path(sys.executable), tools=(program.parent,))
    tree = TreeSource(lambda folder: (folder / "data").touch(), lambda _folder: [])
    jobs = (Job(str(number), (program.name,)) for number in range(rows))
    with Pool(tree, layer, subject) as pool:
        if not all(
            status == "exited" for _, status in pool.run(jobs, lambda _job, seen, _inside: seen.status)
        ):
            raise SystemExit("a row went wrong")


def net(layer: Layer, program: Path, rows: int) -> float:
    """CPU seconds of the rows alone."""
    start, _ = cost(partial(run_pool, layer, program, 1))
    whole, _ = cost(partial(run_pool, layer, program, rows))
    return whole - start


def main(rows: int = 300, rounds: int = 7) -> None:
    with tempfile.TemporaryDirectory() as name:
        program = compile_c(Path(name), "program", PROGRAM)
        found = [item for item in candidates("auto") if not isinstance(item, GateError)]
        plain = next(layer for layer in found if layer.name == "plain")
        for layer in found:
            if layer.name == "plain":
                continue
            ratios = [net(layer, program, rows) / net(plain, program, rows) for _ in range(rounds)]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            print(f"{layer.name}: CPU ratio {statistics.median(ratios):.2f} ({spread}; bound {BOUND})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
