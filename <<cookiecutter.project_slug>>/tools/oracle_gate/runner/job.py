"""What the pool is asked to run."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..core.corpus import Format
from ..core.errors import GateError


@dataclass(frozen=True)
class Job:
    """One run of one program.

    `argv` as a row writes it: `python` is the subject's interpreter, a name is looked up on the
    subject's PATH, a path is relative to the tree. `stdin` None is /dev/null. With `files` (destination
    -> bytes, or a path relative to the tree) it runs in a case folder of its own that holds just these
    copies, else in the tree. `timeout_s` None is the pool's limit. `format` is for the reducer.
    With `request` the program is a service that is asked once (inside/service.py has the keys).
    """

    id: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes | None = None
    files: Mapping[str, bytes | str] | None = None
    timeout_s: float | None = None
    request: Mapping[str, object] | None = None
    format: Format = "auto"


@dataclass(frozen=True)
class Limits:
    """What one program may use: seconds, bytes of each stream and each file, and resource limits.

    After `timeout_s` and another `margin_s` without an answer the worker itself is killed. `processes` may
    run besides those that the worker's user has already: a fork bomb ends there, not with the machine.
    """

    timeout_s: float = 10.0
    output_bytes: int = 8 << 20
    open_files: int = 1024
    processes: int = 4096
    memory_bytes: int | None = None
    margin_s: float = 30.0

    def seconds(self, job: Job) -> float:
        """The time limit of one job."""
        return self.timeout_s if job.timeout_s is None else job.timeout_s

    def resources(self, running: int) -> dict[str, int]:
        """The limits of the operating system by their name without RLIMIT_; `running` is the user's tasks.

        A byte more than the output limit can be written: exactly the limit is not yet too much.
        """
        limits = {"CORE": 0, "FSIZE": self.output_bytes + 1, "NOFILE": self.open_files,
                  "NPROC": running + self.processes}  # fmt: skip
        if self.memory_bytes is not None:
            limits["AS"] = self.memory_bytes
        return limits


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class TreeSource:
    """The tree that programs run in.

    `materialise` writes it into an empty folder; `verify` returns the paths below a folder that are no
    longer what `materialise` wrote.
    """

    materialise: Callable[[Path], None]
    verify: Callable[[Path], Sequence[bytes]]


def encode_files(job: Job) -> dict[str, dict[str, str]] | None:
    """`files` as the worker reads them. Raises GateError for a path that is no path below its folder."""
    if job.files is None:
        return None
    encoded = {}
    for destination, source in job.files.items():
        for path in (destination, source):
            if isinstance(path, str) and not _is_below(path):
                raise GateError(
                    f"row {job.id!r}: {path!r} is no path below its folder", todo='correct its "files"'
                )
        if isinstance(source, bytes):
            encoded[destination] = {"base64": base64.b64encode(source).decode()}
        else:
            encoded[destination] = {"path": source}
    return encoded


def _is_below(path: str) -> bool:
    """Whether a path names something below the folder it is relative to, and can be a path at all."""
    try:
        encoded = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return b"\0" not in encoded and not any(part in ("", ".", "..") for part in path.split("/"))
