"""How much memory the gate's process needs: for one row of 500 MB, and for 10,000 and 100,000 rows.

Usage: python benchmarks/memory.py [LARGE_MB [FEW [MANY]]]. Each figure is the peak of a process of its own that
runs rows through the pool and digests them; no program's own memory is in it. Bounds: 64 MiB, and 10 %.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "<<cookiecutter.project_slug>>/tools"))

from oracle_gate.core.canonical import Tokens, digest
from oracle_gate.core.noise import NoiseRules
from oracle_gate.core.observation import Observation
from oracle_gate.runner.environment import Subject
from oracle_gate.runner.job import Job, Limits, TreeSource
from oracle_gate.runner.pool import Pool
from oracle_gate.sandbox.layer import Inside
from oracle_gate.sandbox.plain import Plain

BOUND_MIB, GROWTH = 64, 1.10


def rows(argv: tuple[str, ...], count: int) -> float:
    """Runs and digests `count` rows in this process; its peak in MiB."""

    def reduce(_job: Job, seen: Observation, _inside: Inside) -> str:
        return digest(seen, "text", Tokens(()), NoiseRules()).digest

    tree = TreeSource(lambda folder: (folder / "data").touch(), lambda _folder: [])
    jobs = (Job(str(number), argv) for number in range(count))
    limits = Limits(timeout_s=120.0, output_bytes=1 << 30)
    with Pool(tree, Plain(), Subject(Path(sys.executable)), limits=limits) as pool:
        if len({found for _, found in pool.run(jobs, reduce)}) != 1:
            raise SystemExit("rows differ")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(*argv: str) -> float:
    """The peak of one measurement, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "one", *argv], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def main(large_mb: str = "500", few: str = "10000", many: str = "100000") -> None:
    peak = measured(
        "1", "sh", "-c", f"yes 'one line of output, as programs print them' | head -c {large_mb}000000"
    )
    print(f"one row of {large_mb} MB: {peak:.0f} MiB (bound {BOUND_MIB})")
    small, large = measured(few, "true"), measured(many, "true")
    print(
        f"{few} rows: {small:.0f} MiB; {many} rows: {large:.0f} MiB; ratio {large / small:.2f} (bound {GROWTH})"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(rows(tuple(sys.argv[3:]), int(sys.argv[2])))
    else:
        main(*sys.argv[1:])
