"""Starts a program, waits for it, and leaves no process of it alive."""

from __future__ import annotations

import errno
import os
import select
import signal
import time
from collections.abc import Mapping, Sequence

#: What a program's helpers may take to end by themselves after it. A resource tracker needs 10 ms and a
#: daemon never ends, so that the limit is far from both and the answer is always the same one.
GRACE_SECONDS = 0.5
#: What killed processes may take to be gone.
KILL_SECONDS = 5.0
_MODES = (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)
#: Shortages of the machine, no fault of the program.
_SHORTAGES = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)


def open_listing() -> int:
    """The kernel's list of this process's children, open, for the functions below.

    It can still be read when the process has shut itself in and /proc cannot be opened any more.
    """
    return os.open("/proc/thread-self/children", os.O_RDONLY)


def execute(
    program: str,
    argv: list[str],
    env: Mapping[str, str],
    streams: Sequence[str],
    timeout_s: float,
    listing: int,
) -> tuple[str, int]:
    """Runs `program` in the current folder with the files `streams` as its descriptors 0 to 2.

    The files are opened anew: position, flags and locks are the program's own. posix_spawn, because a
    fork costs several times as much. Returns a status of core/observation.py and the exit code, the
    negated number for a signal. Raises OSError when the machine is short of processes or memory.
    """
    files = [os.open(path, mode) for path, mode in zip(streams, _MODES, strict=True)]
    actions = [(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate(files)]
    try:
        child = os.posix_spawn(program, argv, env, file_actions=actions, setsid=True, setsigmask=(),
                               setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))  # fmt: skip
    except OSError as error:
        if error.errno in _SHORTAGES:
            raise
        return "no_program", 127
    except ValueError:  # a NUL byte, an "=" in a variable's name, or half a surrogate pair
        return "no_program", 127
    finally:
        for file in files:
            os.close(file)
    ended = _wait(child, timeout_s)
    if not ended:
        os.killpg(child, signal.SIGKILL)
    exit_code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = end_children(GRACE_SECONDS if ended else 0, listing)
    if not ended:
        return "timeout", exit_code
    return ("left_process" if left else "exited"), exit_code


def _wait(child: int, seconds: float) -> bool:
    """Whether the child ends within `seconds`; it is not reaped yet."""
    handle = os.pidfd_open(child)
    try:
        poller = select.poll()
        poller.register(handle, select.POLLIN)
        return bool(poller.poll(seconds * 1000))
    finally:
        os.close(handle)


def end_children(grace: float, listing: int) -> bool:
    """Gives all children `grace` seconds to end by themselves, then kills until none is left.

    A subreaper inherits whatever daemonised below it, so that this ends daemons too. Returns whether
    something had to be killed; raises RuntimeError when something cannot be.
    """
    patience = time.monotonic() + grace
    killed = False
    while _reap():
        now = time.monotonic()
        if now > patience + KILL_SECONDS:
            raise RuntimeError("killed processes do not end")
        if now >= patience:
            killed = True
            for child in _children(listing):
                _kill(child)
        time.sleep(0.001)
    return killed


def _reap() -> bool:
    """Reaps every child that has ended; whether another one is still alive."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _children(listing: int) -> list[int]:
    """The children of this process, which has one thread; orphans that came to it included.

    A list cut short is no harm: the next round shows the rest.
    """
    return [int(number) for number in os.pread(listing, 1 << 16, 0).split(b" ")[:-1]]


def _kill(child: int) -> None:
    """Kills a child and its process group at once: killing one by one, a fork bomb might win.

    The number stays the child's own until it is reaped, and a program cannot join a group outside its
    session, so that no stranger is hit.
    """
    group = os.getpgid(child)
    os.kill(child, signal.SIGKILL)
    if group != os.getpgrp():
        os.killpg(group, signal.SIGKILL)
