"""Small trees, pools on them, and observations that stay valid."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from oracle_gate.core.observation import Observation
from oracle_gate.runner.environment import Subject
from oracle_gate.runner.job import Job, Limits, TreeSource
from oracle_gate.runner.pool import Pool
from oracle_gate.sandbox.layer import Inside, Layer
from oracle_gate.sandbox.plain import Plain

Change = tuple[bytes, str, str, bytes]


@dataclass(frozen=True)
class Seen:
    """An observation, read into memory; each change is path, state, kind, content."""

    status: str
    exit_code: int
    stdout: bytes
    stderr: bytes
    files: tuple[Change, ...] = ()


def see(_job: Job, observation: Observation, _inside: Inside) -> Seen:
    """The reducer of most tests."""
    files = tuple((c.path, c.state, c.kind, b"".join(c.content.chunks())) for c in observation.files)
    out, err = (b"".join(source.chunks()) for source in (observation.stdout, observation.stderr))
    assert (len(out), len(err)) == (observation.stdout.size, observation.stderr.size)
    return Seen(observation.status, observation.exit_code, out, err, files)


def tree_of(files: Mapping[str, bytes], executable: tuple[str, ...] = ()) -> TreeSource:
    """A tree with these files."""

    def materialise(folder: Path) -> None:
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o755 if name in executable else 0o644)

    def verify(folder: Path) -> list[bytes]:
        found = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        return [name.encode() for name in sorted(found.keys() | files) if found.get(name) != files.get(name)]

    return TreeSource(materialise, verify)


def pool_on(
    files: Mapping[str, bytes] | TreeSource = {},  # noqa: B006 (never written)
    *,
    workers: int = 1,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    layer: Layer = Plain(),  # noqa: B008 (frozen)
    tools: tuple[Path, ...] = (),
) -> Pool:
    """A pool whose subject is the interpreter of the tests."""
    source = files if isinstance(files, TreeSource) else tree_of(files)
    return Pool(source, layer, Subject(Path(sys.executable), tools), workers=workers, limits=limits)


def run(pool: Pool, *jobs: Job) -> list[Seen]:
    """What each job shows, in the order of the jobs."""
    results = list(pool.run(jobs, see))
    assert [job for job, _ in results] == list(jobs)
    return [seen for _, seen in results]


def shell(script: str, id: str = "row", **fields: object) -> Job:
    """A job that runs a shell script."""
    return Job(id, ("sh", "-c", script), **fields)  # type: ignore[arg-type]


def python(code: str, *arguments: str, id: str = "row", **fields: object) -> Job:
    """A job that runs Python code."""
    return Job(id, ("python", "-c", code, *arguments), **fields)  # type: ignore[arg-type]


def processes(mark: str) -> list[int]:
    """Living processes with `mark` in their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            dead = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")
        except OSError:
            continue
        if mark.encode() in command and not dead:
            found.append(int(folder.name))
    return found


def soon(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Whether `condition` comes true within `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fails when the block takes longer."""
    start = time.monotonic()
    yield
    took = time.monotonic() - start
    assert took < seconds, f"took {took:.2f} s"
