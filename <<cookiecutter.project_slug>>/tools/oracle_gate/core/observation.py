"""What a run of one row showed: the input of the canonical form and the output of a runner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

#: `exited` is the only status with a digest; every other one is a misbehaved row (design, section 7).
Status = Literal[
    "exited", "timeout", "output_limit", "left_process", "changed_tree", "no_program", "killed_worker",
    "killed_service",
]  # fmt: skip
FileState = Literal["created", "changed", "deleted"]
FileKind = Literal["file", "executable", "symlink", "directory", "other"]


class ByteSource(Protocol):
    """Bytes that may be too many for memory; can be read more than once."""

    @property
    def size(self) -> int:
        """Length in bytes."""

    def chunks(self) -> Iterator[bytes]:
        """The bytes from the start, in pieces of at most 1 MiB."""


@dataclass(frozen=True)
class InMemory:
    """A small ByteSource."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def chunks(self) -> Iterator[bytes]:
        for start in range(0, len(self.data), 1 << 20):
            yield self.data[start : start + (1 << 20)]


@dataclass(frozen=True)
class FileChange:
    """A file that a row with "files" created, changed or deleted in its case folder.

    `path` is relative to the case folder; `content` is the file's bytes, a symlink's target,
    or empty for a deleted path, a directory or a special file.
    """

    path: bytes
    state: FileState
    kind: FileKind
    content: ByteSource


@dataclass(frozen=True)
class Observation:
    """One run of one row. A negative exit code is the number of the signal that ended the program.

    Valid only while the runner's callback runs: the byte sources are reused for the next row.
    """

    status: Status
    exit_code: int
    stdout: ByteSource
    stderr: ByteSource
    files: tuple[FileChange, ...] = ()
