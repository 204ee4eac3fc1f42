"""A row with a request: the program is started as a service, asked once over HTTP, and ended.

Each row has a service of its own: what an earlier row left in one would show in a later row's result,
and differently with each number of workers.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from typing import Any

from .programs import end_children

_LOOPBACK = "127.0.0.1"
_PAUSE_S = 0.02


def serve_once(
    program: str, argv: list[str], env: dict[str, str], request: dict[str, Any], timeout_s: float,
    outputs: tuple[int, int], limit: int, listing: int,
) -> tuple[str, int]:  # fmt: skip
    """Starts `program` with PORT in its environment and sends the request once it is ready.

    The body goes to the first of `outputs`, the declared headers to the second; the exit code is the
    HTTP status. `timeout` when it is not ready in time or does not answer, `killed_service` when it ends
    before it answered or by answering.
    """
    port = _free_port()
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, number) for number in range(3)]
    variables = {**env, "PORT": str(port)}
    try:
        child = os.posix_spawn(program, argv, variables, file_actions=actions, setsid=True, setsigmask=(),
                               setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))  # fmt: skip
    except OSError:
        return "no_program", 127
    finally:
        os.close(null)
    try:
        ready = _wait_until_ready(port, request, child)
        if ready != "ready":
            return ready, 0
        status, code = _ask(port, request, timeout_s, outputs, limit)
        # A service that an answer ends would be missing to the next caller.
        after = _wait_until_ready(port, request, child) if status == "exited" else "ready"
        return (status, code) if after == "ready" else (after, 0)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        end_children(0, listing)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(port: int, request: dict[str, Any], child: int) -> str:
    """`ready` once the ready path answers with anything below 500."""
    path, deadline = request["ready_path"], time.monotonic() + request["ready_timeout_s"]
    while time.monotonic() < deadline:
        # Not reaped yet: the number of its group must stay its own until the group is killed.
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return "killed_service"
        with contextlib.suppress(OSError, ValueError):
            if _exchange(port, "GET", path, {}, b"", 1.0)[0] < 500:
                return "ready"
        time.sleep(_PAUSE_S)
    return "timeout"


def _ask(
    port: int, request: dict[str, Any], timeout_s: float, outputs: tuple[int, int], limit: int
) -> tuple[str, int]:
    body = str(request["body"] or "").encode("utf-8", "surrogatepass")
    try:
        with _deadline(timeout_s):
            status, headers, answer = _exchange(
                port, request["method"], request["path"], request["headers"], body, timeout_s, limit
            )
    except TimeoutError:
        return "timeout", 0
    except (OSError, ValueError):
        return "killed_service", 0
    declared = [name.lower() for name in request["observed_headers"]]
    lines = [f"{name}: {value}\n" for wanted in declared for name, value in headers if name == wanted]
    _write(outputs[0], answer)
    _write(outputs[1], "".join(lines).encode("latin-1", "replace"))
    return "exited", status


def _exchange(
    port: int,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes,
    timeout_s: float,
    limit: int = 1 << 16,
) -> tuple[int, Sequence[tuple[str, str]], bytes]:
    """One request on a new connection; reads one byte more than `limit`. Raises OSError or ValueError, also
    when the answer's framing is not what a client could rely on."""
    import http.client  # only workers that serve pay for it

    connection = http.client.HTTPConnection(_LOOPBACK, port, timeout=timeout_s)
    try:
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        answer = response.read(limit + 1)
        if len(answer) <= limit and (response.length or response.headers.defects):
            raise ValueError("shorter than it says, or with malformed headers")
        return response.status, [(name.lower(), value) for name, value in response.getheaders()], answer
    except http.client.HTTPException as error:
        raise ValueError(str(error)) from None
    finally:
        connection.close()


@contextlib.contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Raises TimeoutError when the block is not done in time: a socket's own limit is for each read."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _write(file: int, data: bytes) -> None:
    at = 0
    while at < len(data):
        at += os.pwrite(file, data[at:], at)
