"""The worker process: runs programs for the gate, one at a time (design, section 13).

Two processes: the guard and, below it, the worker. A program that kills its worker leaves the guard to
kill the program; when the gate lets go of the life pipe, if only by dying, the guard ends everything.

`main` takes the numbers of inherited descriptors: the memory files for stdin, stdout, stderr and file
changes, which the gate reads, and the life pipe. Requests arrive on descriptor 0, JSON preceded by its
length in four bytes; the first one is the setup. Answers leave on descriptor 1: ANSWER, then UTF-8 text
for the user if a job cannot be run.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import stat
import struct
from typing import Any, NamedTuple

from .case import Laid, TooMuch, lay_out, report_changes
from .confine import confine
from .programs import end_children, execute, open_listing
from .scratch import Scratch
from .service import serve_once

LENGTH = struct.Struct(">I")
#: A status, the exit code, and the bytes of the text that follows; all of it arrives in one piece.
ANSWER = struct.Struct(">BiH")
STATUSES = (
    "ready", "refused", "exited", "timeout", "output_limit", "left_process", "no_program", "killed_service",
)  # fmt: skip
_DUMPABLE, _CHILD_SUBREAPER, _NO_NEW_PRIVILEGES = 4, 36, 38


class Box(NamedTuple):
    """What the worker works with: the setup's values, open files, and the files of programs' streams."""

    tree: str
    env: dict[str, str]
    output_bytes: int
    scratch: Scratch
    stdout: int
    stderr: int
    changes: int
    listing: int
    with_stdin: tuple[str, str, str]
    without_stdin: tuple[str, str, str]


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
    end_children(0, open_listing())


def _serve(files: list[int]) -> None:
    """Answers requests until the gate closes their pipe."""
    requests, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    setup = _read(requests)
    if setup is None:
        return
    os.umask(0o022)
    _heed_signals()
    _set_limits(setup["limits"])
    box = _box(setup, files)
    if setup["confinement"] is not None:
        confine(**setup["confinement"])
    os.write(answers, _answer("ready"))
    while (job := _read(requests)) is not None:
        os.write(answers, _run(box, job))


def _box(setup: dict[str, Any], files: list[int]) -> Box:
    stdin, stdout, stderr, changes = files
    paths = [f"/proc/self/fd/{file}" for file in (stdin, stdout, stderr)]
    return Box(
        tree=setup["tree"],
        env=setup["env"],
        output_bytes=setup["output_bytes"],
        scratch=Scratch(setup["scratch"], setup["emptied"]),
        stdout=stdout,
        stderr=stderr,
        changes=changes,
        listing=open_listing(),
        with_stdin=(paths[0], paths[1], paths[2]),
        without_stdin=(os.devnull, paths[1], paths[2]),
    )


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


def _run(box: Box, job: dict[str, Any]) -> bytes:
    """Runs one program; returns the answer."""
    for file in (box.stdout, box.stderr, box.changes):
        _renew(file)
    try:
        laid = _enter(box, job["files"])
        env = {name: value for name, value in {**box.env, **job["env"]}.items() if value is not None}
        status, exit_code = _start(box, job, env)
    except OSError as error:
        answer = _answer("refused", detail=f"{error.filename or 'start of the program'}: {error.strerror}")
    else:
        over = any(os.fstat(out).st_size > box.output_bytes for out in (box.stdout, box.stderr))
        if over or exit_code == -signal.SIGXFSZ or not _report(box, laid):
            status = "output_limit"
        answer = _answer(status, exit_code)
    box.scratch.clear()
    return answer


def _start(box: Box, job: dict[str, Any], env: dict[str, str]) -> tuple[str, int]:
    program, argv, timeout_s = job["program"], job["argv"], job["timeout_s"]
    if job["request"] is not None:
        outputs, limit = (box.stdout, box.stderr), box.output_bytes
        return serve_once(program, argv, env, job["request"], timeout_s, outputs, limit, box.listing)
    streams = box.with_stdin if job["stdin"] else box.without_stdin
    return execute(program, argv, env, streams, timeout_s, box.listing)


def _renew(file: int) -> None:
    """An empty memory file that programs may open, whatever the last one did to it."""
    info = os.fstat(file)
    if info.st_size:
        os.ftruncate(file, 0)
    if stat.S_IMODE(info.st_mode) != 0o777:
        os.fchmod(file, 0o777)


def _answer(status: str, exit_code: int = 0, detail: str = "") -> bytes:
    text = detail.encode(errors="replace")[:1000]
    return ANSWER.pack(STATUSES.index(status), exit_code, len(text)) + text


def _enter(box: Box, files: dict[str, dict[str, str]] | None) -> Laid | None:
    """Goes to the tree, or to a case folder with copies of `files`; returns what is laid out there."""
    if files is None:
        os.chdir(box.tree)
        return None
    case = box.scratch.make_case()
    try:
        os.chdir(case)
        return lay_out(files, box.tree, case)
    finally:
        os.close(case)


def _report(box: Box, laid: Laid | None) -> bool:
    """Writes the changes in the case folder; none and False when they are more than the output limit."""
    if laid is None:
        return True
    os.chdir("/")
    case = box.scratch.find_case()
    os.lseek(box.changes, 0, os.SEEK_SET)
    try:
        report_changes(case, laid, box.changes, box.output_bytes)
    except TooMuch:
        os.ftruncate(box.changes, 0)
        return False
    finally:
        os.close(case)
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
    request: dict[str, Any] = json.loads(_read_exactly(descriptor, LENGTH.unpack(head)[0]).decode())
    return request


def _read_exactly(descriptor: int, size: int) -> bytes:
    """`size` bytes, or fewer at the end of the stream."""
    data = bytearray()
    while len(data) < size and (piece := os.read(descriptor, size - len(data))):
        data += piece
    return bytes(data)
