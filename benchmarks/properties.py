"""What asking sealed properties costs, against calling the same functions in a bare loop.

Usage: python benchmarks/properties.py [FIXTURES [PROPERTIES]]. Both sides answer for every fixture and property,
in one go, and must agree. CPU time is that of a side and of the processes it starts: the lane's includes the
digests, a process for each property, and null controls. The properties do not run a program: `run` costs what
the pool costs, see runner.py.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

TOOLS = Path(__file__).resolve().parents[1] / "<<cookiecutter.project_slug>>" / "tools"
sys.path.insert(0, str(TOOLS))

from oracle_gate.core.manifest import Manifest, SealedFixture, SealedProperty  # noqa: E402
from oracle_gate.lanes.properties import Programs, properties  # noqa: E402
from oracle_gate.runner.asking import asked_outside  # noqa: E402
from oracle_gate.runner.claim_host import Ran  # noqa: E402
from oracle_gate.runner.claims import ProgramResult  # noqa: E402
from oracle_gate.runner.stubs import stubs  # noqa: E402

#: A claim about a document of about 1 KiB; the exit code of `run` is not looked at more than once.
SOURCE = """\
import json

_ALIVE = []


def holds(fixture_bytes, run):
    if not _ALIVE:
        _ALIVE.append(run(["program"]).returncode == 0)
    document = json.loads(fixture_bytes)
    keys = sorted(document)
    return _ALIVE[0] and json.loads(json.dumps(document)) == document and keys[{number}] in document
"""


def cpu_of(work: Callable[[], list[bool]]) -> tuple[float, list[bool]]:
    """CPU seconds of this process and its children, and what the work gave."""

    def now() -> float:
        usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    before = now()
    answers = work()
    return now() - before, answers


def program(_argv: tuple[str, ...], _data: bytes) -> ProgramResult:
    return ProgramResult("exited", 0)


def bare(sources: list[bytes], fixtures: list[bytes]) -> list[bool]:
    answers = []
    for source in sources:
        module = ModuleType("claim")
        exec(source, vars(module))  # noqa: S102 (the very loop that the lane is compared with)
        answers.append(all(module.holds(data, lambda _argv: Ran(0, b"", b"")) for data in fixtures))
    return answers


def lane(sources: list[bytes], fixtures: list[bytes], folder: Path) -> list[bool]:
    def digest(data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    files = {f"p{number}.py": source for number, source in enumerate(sources)}
    files |= {f"f{number}": data for number, data in enumerate(fixtures)}
    manifest = Manifest(
        "sealed-oracle-v1",
        tuple(SealedProperty(name, name, digest(files[name])) for name in files if name.endswith(".py")),
        tuple(SealedFixture(name, name, digest(files[name])) for name in files if not name.endswith(".py")),
    )

    def programs_of(item: SealedProperty, source: bytes) -> Programs:
        claim = folder / item.path
        claim.write_bytes(source)
        asked = partial(asked_outside, claim, folder, timeout_s=60.0)
        return Programs(partial(asked, program), {"crash": partial(asked, stubs()["crash"])})

    return [found.row.ok for found in properties(manifest, files, programs_of)]


def main() -> int:
    count, kinds = (int(word) for word in (*sys.argv[1:], "1000", "10")[:2])
    fixtures = [
        json.dumps({f"key {key}": [number, key, "value " * 5] for key in range(20)}).encode()
        for number in range(count)
    ]
    sources = [SOURCE.format(number=number).encode() for number in range(kinds)]
    with tempfile.TemporaryDirectory() as folder:
        ours, answers = cpu_of(lambda: lane(sources, fixtures, Path(folder)))
    theirs, expected = cpu_of(lambda: bare(sources, fixtures))
    assert answers == expected == [True] * kinds, "the sides do not agree"  # noqa: S101
    calls = count * kinds
    print(f"{count} fixtures of {len(fixtures[0])} bytes x {kinds} properties")
    print(f"lane {ours:.2f} s CPU, {ours / calls * 1e6:.0f} us a call; bare loop {theirs:.2f} s, "
          f"{theirs / calls * 1e6:.0f} us a call")  # fmt: skip
    print(f"ratio {ours / theirs:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
