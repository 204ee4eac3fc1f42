"""Claims (sealed properties, relations) and the process that they run in (design, section 9).

The gate never runs a claim itself: a crash, a hang or an `os._exit` of a claim is an answer too.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..core.observation import Observation
from ..sandbox.layer import Inside
from .claim_host import LENGTH
from .environment import STANDARD, Envelope
from .job import Job
from .pool import Pool

#: Fixtures and bytes that one message to the process of a claim may hold; a larger fixture goes alone.
_GROUP, _GROUP_BYTES = 64, 1 << 20
#: `true`, `false` and `none` are what the function returned, `broken` an AssertionError or Broken; `error`
#: is anything else that is no answer; `crashed` and `timeout` end the process.
Kind = Literal["true", "false", "none", "broken", "error", "crashed", "timeout"]


@dataclass(frozen=True)
class Answer:
    """How a claim answered, with one line for the human."""

    kind: Kind
    note: str = ""


@dataclass(frozen=True)
class Function:
    """A function of a loaded claim."""

    doc: str
    parameters: int


@dataclass(frozen=True)
class ProgramResult:
    """What `run` gave: status as in observation.Status, and the program's output."""

    status: str
    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""


#: Runs the program under judgement, or a stub in its place.
Run = Callable[[tuple[str, ...], bytes], ProgramResult]


def run_in(pool: Pool, envelope: Envelope = STANDARD) -> Run:
    """`run` as a job of the pool."""

    def reduce(_job: Job, observation: Observation, _inside: Inside) -> ProgramResult:
        streams = (b"".join(stream.chunks()) for stream in (observation.stdout, observation.stderr))
        return ProgramResult(observation.status, observation.exit_code, *streams)

    def run(argv: tuple[str, ...], data: bytes) -> ProgramResult:
        ((_, result),) = pool.run([Job("run", argv, stdin=data)], reduce, envelope)
        return result

    return run


def read_answer(message: Mapping[str, Any] | Answer) -> Answer:
    """The answer of a call as claim_host.py words it; anything else is a crash. The note is one safe line."""
    if isinstance(message, Answer):
        return message
    kind, note = message.get("answer"), str(message.get("note", ""))[:300]
    if kind not in ("true", "false", "none", "broken", "error"):
        return Answer("crashed", "the claim's process gave no answer")
    return Answer(kind, "".join(char if char.isprintable() else " " for char in note))


def _groups(fixtures: Iterable[bytes]) -> Iterator[list[str]]:
    """The fixtures as messages hold them, so many together that a message's own cost is small."""
    group: list[str] = []
    size = 0
    for data in fixtures:
        group.append(base64.b64encode(data).decode())
        size += len(data)
        if len(group) == _GROUP or size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


class ClaimHost:
    """The process of one claim; a context manager. `directory` is its working directory."""

    def __init__(self, directory: Path, timeout_s: float) -> None:
        self._directory, self._timeout_s = directory, timeout_s
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ClaimHost:
        theirs, self._requests = os.pipe()
        self._answers, ours = os.pipe()
        script = Path(__file__).with_name("claim_host.py")
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-X", "utf8", str(script), str(theirs), str(ours)],
                cwd=self._directory, env={"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=(theirs, ours), start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(theirs)
            os.close(ours)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._requests)
        os.close(self._answers)
        self._kill()

    def load(self, path: Path) -> Mapping[str, Function] | Answer:
        """The module's functions, or why it does not load."""
        message = self._ask({"load": str(path)}, None)
        if isinstance(message, Answer):
            return message
        if "error" in message:
            return Answer("error", message["error"])
        return {
            name: Function(item["doc"], item["parameters"]) for name, item in message["functions"].items()
        }

    def call(self, function: str, run: Run) -> Answer:
        """Calls a function of the loaded module with `run`."""
        return read_answer(self._ask({"call": function}, run))

    def call_each(self, function: str, run: Run, fixtures: Iterable[bytes]) -> Iterator[Answer]:
        """Calls a function with each fixture and `run`; ends with the process.

        Fixtures are sent in groups. Closing the iterator amid one ends the process.
        """
        waiting = 0
        try:
            for group in _groups(fixtures):
                request: dict[str, Any] | None = {"call": function, "fixtures": group}
                waiting = len(group)
                while waiting:
                    answer = read_answer(self._ask(request, run))
                    request, waiting = None, waiting - 1
                    yield answer
                    if self._process is None:
                        return
        finally:
            if waiting:
                self._kill()

    def _ask(self, request: Mapping[str, Any] | None, run: Run | None) -> dict[str, Any] | Answer:
        """Sends a request, if there is one, and serves `run` until an answer comes."""
        deadline = time.monotonic() + self._timeout_s
        message = self._exchange(request, deadline)
        while run and not isinstance(message, Answer) and "run" in message:
            started = time.monotonic()
            result = self._result(message, run)
            deadline += time.monotonic() - started  # the program has a limit of its own
            message = self._exchange(result, deadline)
        return message

    @staticmethod
    def _result(message: Mapping[str, Any], run: Run) -> dict[str, Any]:
        result = run(tuple(message["run"]), base64.b64decode(message["input"]))
        encoded = {name: base64.b64encode(getattr(result, name)).decode() for name in ("stdout", "stderr")}
        return {"status": result.status, "exit_code": result.exit_code, **encoded}

    def _exchange(self, message: Mapping[str, Any] | None, deadline: float) -> dict[str, Any] | Answer:
        body = json.dumps(message).encode() if message else b""
        try:
            rest = memoryview(LENGTH.pack(len(body)) + body if body else b"")
            while rest:
                rest = rest[os.write(self._requests, rest) :]
            head = self._read(LENGTH.size, deadline)
            answer = self._read(LENGTH.unpack(head)[0], deadline)
            decoded = json.loads(answer)
            if not isinstance(decoded, dict):
                raise EOFError
        except TimeoutError:
            self._kill()
            return Answer("timeout", f"no answer within {self._timeout_s:g} s")
        except (OSError, EOFError, ValueError):
            self._kill()
            return Answer("crashed", "the claim's process ended")
        return decoded

    def _read(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._answers], [], [], left)[0]:
                raise TimeoutError
            piece = os.read(self._answers, size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def _kill(self) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None
