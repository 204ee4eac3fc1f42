"""The worker process: runs programs for the gate, one at a time (design, section 13).

Two processes: the guard and, below it, the worker. A program that kills its worker leaves the guard to
kill the program; when the gate lets go of the life pipe, if only by dying, the guard ends everything.

`main` takes the numbers of inherited descriptors: the memory files for stdin, stdout, stderr and file
changes, which the gate reads, and the life pipe. Requests arrive on descriptor 0, answers leave on 1:
JSON, each preceded by its length in four bytes. The first request is the setup.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import stat
import struct
from typing import Any, NamedTuple

from .case import Laid, TooMuch, lay_out, report_changes, write_all
from .folders import OPEN_FOLDER, empty, open_folder
from .programs import end_children, execute

LENGTH = struct.Struct(">I")
#: HOME and TMPDIR, sorted.
_SCRATCH = ["home", "tmp"]
_PRIVATE = stat.S_IFDIR | 0o700
_DUMPABLE, _CHILD_SUBREAPER, _NO_NEW_PRIVILEGES = 4, 36, 38


class Box(NamedTuple):
    """What the worker works with: the setup's values and open descriptors."""

    tree: str
    scratch_path: str
    env: dict[str, str]
    output_bytes: int
    scratch: int
    emptied: tuple[int, ...]
    null: int
    stdin: int
    stdout: int
    stderr: int
    changes: int


def main(arguments: list[str]) -> None:
    *files, life = (int(argument) for argument in arguments)
    for descriptor in (*files, life):
        os.set_inheritable(descriptor, False)
    _prctl(_DUMPABLE, 0)
    _prctl(_NO_NEW_PRIVILEGES, 1)
    _prctl(_CHILD_SUBREAPER, 1)
    worker = os.fork()
    if worker:
        _guard(worker, life)
    else:
        os.close(life)
        _prctl(_CHILD_SUBREAPER, 1)
        _serve(files)


def _guard(worker: int, life: int) -> None:
    """Waits for the end of the worker or of the life pipe, then leaves no process behind.

    The guard keeps the answer pipe open, so that for the gate its end means that all are dead.
    """
    os.close(0)
    poller = select.poll()
    poller.register(os.pidfd_open(worker), select.POLLIN)
    poller.register(life, select.POLLIN)
    poller.poll()
    os.kill(worker, signal.SIGKILL)
    end_children(0)


def _serve(files: list[int]) -> None:
    """Answers requests until the gate closes their pipe."""
    requests, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(null, 1)
    setup = _read(requests)
    if setup is None:
        return
    os.umask(0o022)
    _heed_signals()
    _set_limits(setup["limits"])
    scratch = os.open(setup["scratch"], OPEN_FOLDER)
    emptied = tuple(os.open(path, OPEN_FOLDER) for path in setup["emptied"])
    box = Box(
        setup["tree"], setup["scratch"], setup["env"], setup["output_bytes"], scratch, emptied, null, *files
    )
    _clear(box)
    _write(answers, {"status": "ready", "exit_code": 0, "detail": ""})
    while (job := _read(requests)) is not None:
        _write(answers, _run(box, job))


def _heed_signals() -> None:
    """Programs inherit what is ignored: nothing, not even under nohup.

    SIGPIPE and SIGXFSZ are errors in this process, and given back to programs when they start.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _set_limits(limits: dict[str, int]) -> None:
    """Resource limits by name, for this process and, without a way back, for every program."""
    for name, wanted in limits.items():
        number = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(number)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(number, (value, value))


def _run(box: Box, job: dict[str, Any]) -> dict[str, object]:
    """Runs one program; the answer holds its status and exit code, or why it cannot be run."""
    for descriptor in (box.stdout, box.stderr, box.changes):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
    os.lseek(box.stdin, 0, os.SEEK_SET)
    streams = (box.stdin if job["stdin"] else box.null, box.stdout, box.stderr)
    try:
        laid = _enter(box, job["files"])
        env = {**box.env, **job["env"]}
        status, exit_code = execute(job["program"], job["argv"], env, streams, job["timeout_s"])
    except OSError as error:
        status, exit_code, laid = "refused", 0, None
        detail = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    else:
        detail = ""
        over = any(os.fstat(out).st_size > box.output_bytes for out in (box.stdout, box.stderr))
        if over or exit_code == -signal.SIGXFSZ or not _report(box, laid):
            status = "output_limit"
    os.chdir("/")
    _clear(box)
    return {"status": status, "exit_code": exit_code, "detail": detail[:500]}


def _enter(box: Box, files: dict[str, dict[str, str]] | None) -> Laid | None:
    """Goes to the tree, or to a case folder with copies of `files`; returns what is laid out there."""
    if files is None:
        os.chdir(box.tree)
        return None
    os.mkdir("case", 0o700, dir_fd=box.scratch)
    case = os.open("case", OPEN_FOLDER, dir_fd=box.scratch)
    try:
        os.chdir(case)
        return lay_out(files, box.tree, case)
    finally:
        os.close(case)


def _report(box: Box, laid: Laid | None) -> bool:
    """Writes the changes in the case folder; none and False when they are more than the output limit."""
    if laid is None:
        return True
    case = _open_case(box)
    try:
        report_changes(case, laid, box.changes, box.output_bytes)
    except TooMuch:
        os.ftruncate(box.changes, 0)
        return False
    finally:
        os.close(case)
    return True


def _open_case(box: Box) -> int:
    """The case folder after the program; an empty one if it is gone, or a link or file is in its place."""
    with contextlib.suppress(FileNotFoundError):
        info = os.stat("case", dir_fd=box.scratch, follow_symlinks=False)
        if stat.S_ISDIR(info.st_mode):
            return open_folder("case", info, box.scratch)
        os.unlink("case", dir_fd=box.scratch)
    os.mkdir("case", 0o700, dir_fd=box.scratch)
    return os.open("case", OPEN_FOLDER, dir_fd=box.scratch)


def _clear(box: Box) -> None:
    """An empty scratch with HOME and TMPDIR; raises when a program moved the scratch away.

    Works on the folder that was opened at the start: its path may meanwhile lead anywhere. Folders that
    are as they should be stay: making them anew costs more than a program where a disk keeps a journal.
    """
    held, found = os.fstat(box.scratch), os.lstat(box.scratch_path)
    if (held.st_dev, held.st_ino) != (found.st_dev, found.st_ino):
        raise FileNotFoundError("the scratch was moved")
    for folder in box.emptied:
        empty(folder)
    if not _is_clean(box.scratch, held):
        empty(box.scratch)
        for name in _SCRATCH:
            os.mkdir(name, 0o700, dir_fd=box.scratch)


def _is_clean(scratch: int, info: os.stat_result) -> bool:
    """Whether the scratch holds HOME and TMPDIR, both empty and nothing else."""
    if info.st_mode != _PRIVATE or sorted(os.listdir(scratch)) != _SCRATCH:
        return False
    for name in _SCRATCH:
        if os.stat(name, dir_fd=scratch, follow_symlinks=False).st_mode != _PRIVATE:
            return False
        folder = os.open(name, OPEN_FOLDER, dir_fd=scratch)
        try:
            if os.listdir(folder):  # noqa: PTH208
                return False
        finally:
            os.close(folder)
    return True


def _prctl(option: int, value: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _read(descriptor: int) -> dict[str, Any] | None:
    """The next request; None when the gate has closed the pipe."""
    head = _read_exactly(descriptor, LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    request: dict[str, Any] = json.loads(_read_exactly(descriptor, LENGTH.unpack(head)[0]))
    return request


def _read_exactly(descriptor: int, size: int) -> bytes:
    """`size` bytes, or fewer at the end of the stream."""
    data = bytearray()
    while len(data) < size and (piece := os.read(descriptor, size - len(data))):
        data += piece
    return bytes(data)


def _write(descriptor: int, answer: dict[str, object]) -> None:
    """An answer is short enough to arrive in one piece (PIPE_BUF)."""
    body = json.dumps(answer).encode()
    write_all(descriptor, LENGTH.pack(len(body)) + body)
