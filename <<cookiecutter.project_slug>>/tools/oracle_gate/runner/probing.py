"""Runs the probes through a layer and watches their effects from outside (design, section 13)."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import GateError
from ..core.observation import Observation
from ..sandbox.layer import Inside, Layer
from ..sandbox.probes import SCRIPT, states
from .environment import Subject
from .folders import temporary_folder
from .job import Job, Limits, TreeSource
from .pool import Pool

_NO_TREE = TreeSource(lambda _folder: None, lambda _folder: [])
_LIMITS = Limits(timeout_s=20.0, output_bytes=1 << 16)


def probe(layer: Layer, subject: Subject) -> dict[str, str]:
    """The state of each probe under this layer; GateError when no program can be started through it."""
    with temporary_folder() as folder, _listening(folder) as port, _sleeper() as sleeper:
        (folder / "secret").write_text("secret")
        argv = (sys.executable, "-I", "-S", "-c", SCRIPT, str(folder), str(port), str(sleeper.pid))
        with Pool(_NO_TREE, layer, subject, limits=_LIMITS) as pool:
            ((_, (status, opened)),) = pool.run([Job("probe", argv)], _reduce)
        if status not in ("exited", "left_process"):
            raise GateError(f"the probes ended as {status}", where=layer.name)
        if (folder / "written").exists():
            opened.append("write_outside")
        if sleeper.poll() is not None:
            opened.append("signal")
    return states(opened)


def _reduce(_job: Job, observation: Observation, _inside: Inside) -> tuple[str, list[str]]:
    # A daemon that was found and killed is one that did not survive.
    return observation.status, b"".join(observation.stdout.chunks()).decode(errors="replace").split()


@contextlib.contextmanager
def _listening(folder: Path) -> Iterator[int]:
    """A TCP port of the loopback, and a socket file, that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(os.fspath(folder / "socket"))
        local.listen()
        yield server.getsockname()[1]


@contextlib.contextmanager
def _sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process outside that has done nothing wrong."""
    command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        process.wait()
