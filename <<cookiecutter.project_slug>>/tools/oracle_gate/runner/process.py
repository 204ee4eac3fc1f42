"""One worker as the gate sees it: its process, its pipes and the memory files they share."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from ..core.errors import GateError
from ..core.observation import Observation, Status
from ..sandbox.layer import Launch
from .inside.case import write_all
from .inside.worker import ANSWER, LENGTH, STATUSES
from .memory import read_changes, whole

_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from inside.worker import main; main(sys.argv[2:])"
#: `-S`: the files of a site-packages folder may hold code (.pth).
_FLAGS = ("-I", "-S", "-B", "-X", "utf8", "-c", _BOOT)
_START_SECONDS = 60.0
#: More than the guard takes to kill what does not want to die.
_END_SECONDS = 8.0


@dataclass(frozen=True)
class Answer:
    """What a worker says about one job: a Status, or `refused` with a detail for the user."""

    status: str
    exit_code: int
    detail: str


class WorkerProcess:
    """A started worker; `close` must be called. Raises GateError when it does not start."""

    def __init__(
        self, launch: Launch, interpreter: str, setup: Mapping[str, object], user: int | None = None
    ) -> None:
        self._descriptors: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._stdin, self._stdout, self._stderr, self._changes, self._diagnostics = (
                self._keep(os.memfd_create(name))
                for name in ("stdin", "stdout", "stderr", "changes", "diagnostics")
            )
            self._spawn(launch, interpreter, user)
            self._send(setup)
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise

    def _keep(self, descriptor: int) -> int:
        self._descriptors.append(descriptor)
        return descriptor

    def _spawn(self, launch: Launch, interpreter: str, user: int | None) -> None:
        """Starts the process; the gate keeps its ends of three pipes: requests, answers, life."""
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        life, self._life = os.pipe()
        for descriptor in (self._requests, self._answers, self._life):
            self._keep(descriptor)
        inherited = (self._stdin, self._stdout, self._stderr, self._changes, life)
        try:
            self._process = subprocess.Popen(
                (*launch.prefix, interpreter, *_FLAGS, launch.inside.code, *map(str, inherited)),
                stdin=requests,
                stdout=answers,
                stderr=self._diagnostics,
                pass_fds=inherited,
                cwd="/",
                env={"LC_ALL": "C.UTF-8", **launch.env},
                start_new_session=True,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
            )
        except OSError as error:
            raise GateError(f"cannot start a worker: {error}", todo="see `gate.py doctor`") from None
        finally:
            for descriptor in (requests, answers, life):
                os.close(descriptor)
        self._handle = self._keep(os.pidfd_open(self._process.pid))

    def _wait_until_ready(self) -> None:
        readable, _, _ = select.select([self._answers], [], [], _START_SECONDS)
        if not readable or self.answer() is None:
            raise GateError(f"a worker does not start: {self._complaint()}", todo="see `gate.py doctor`")

    def _complaint(self) -> str:
        """The last line that the worker or its launcher wrote for a human."""
        size = os.fstat(self._diagnostics).st_size
        lines = os.pread(self._diagnostics, 2000, max(0, size - 2000)).decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it says nothing")

    def fileno(self) -> int:
        """Readable when an answer has come or everything is dead."""
        return self._answers

    def start(self, job: Mapping[str, object], stdin: bytes | None) -> bool:
        """Hands a job to the idle worker; False when the worker is dead."""
        if stdin is not None:
            os.ftruncate(self._stdin, 0)
            os.lseek(self._stdin, 0, os.SEEK_SET)
            write_all(self._stdin, stdin)
        return self._send(job)

    def _send(self, message: Mapping[str, object]) -> bool:
        body = json.dumps(message).encode()
        try:
            write_all(self._requests, LENGTH.pack(len(body)) + body)
        except BrokenPipeError:
            return False
        return True

    def answer(self) -> Answer | None:
        """The answer, once `fileno` is readable; None when the worker is dead or talks nonsense."""
        data = os.read(self._answers, 1 << 16)
        if len(data) < ANSWER.size:
            return None
        status, exit_code, size = ANSWER.unpack_from(data)
        text = data[ANSWER.size :]
        if status >= len(STATUSES) or size != len(text):
            return None
        return Answer(STATUSES[status], exit_code, text.decode(errors="replace"))

    def observation(self, status: Status, exit_code: int) -> Observation:
        """What the last row showed, valid until the next `start` or `close`."""
        try:
            changes = read_changes(self._changes)
        except ValueError:
            status, changes = "killed_worker", ()
        return Observation(status, exit_code, whole(self._stdout), whole(self._stderr), changes)

    def kill(self) -> None:
        """Ends the worker and everything below it; its last observation stays valid.

        The guard does it when the life pipe closes; one that was stopped is woken. If a program killed
        or blocked the guard, the worker is still there and killed with its group.
        """
        if self._process is None:
            return
        if self._life in self._descriptors:
            self._descriptors.remove(self._life)
            os.close(self._life)
        if self._process.returncode is None:
            # Until it is reaped, the number of its group is nobody else's.
            os.killpg(self._process.pid, signal.SIGCONT)
            select.select([self._handle], [], [], _END_SECONDS)
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def close(self) -> None:
        """Ends everything and gives the descriptors back."""
        try:
            self.kill()
        finally:
            for descriptor in self._descriptors:
                os.close(descriptor)
            self._descriptors.clear()
