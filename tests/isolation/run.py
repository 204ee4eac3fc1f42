"""`nox -s isolation`: every attack under every layer, as root and as an ordinary user, in one table.

    python tests/isolation/run.py [--allow-unavailable LAYER …] [--layer LAYER --rows FILE]

Ends non-zero when an attack got anything, survived, ended in another status than documented, or changed
what a harmless program gives; also when a layer is not available, unless that is allowed by name.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "<<cookiecutter.project_slug>>/tools"), str(ROOT / "tests")]

from isolation.attacks import ATTACKS, PRELUDE, Attack  # noqa: E402
from oracle_gate.core.errors import GateError  # noqa: E402
from oracle_gate.core.observation import Observation  # noqa: E402
from oracle_gate.runner.environment import Subject  # noqa: E402
from oracle_gate.runner.job import Job, Limits, TreeSource  # noqa: E402
from oracle_gate.runner.pool import Pool  # noqa: E402
from oracle_gate.runner.subject import interpreter_paths  # noqa: E402
from oracle_gate.sandbox.choice import candidates  # noqa: E402
from oracle_gate.sandbox.layer import Inside, Layer  # noqa: E402

LAYERS = ("bubblewrap", "landlock")
LIMITS = Limits(timeout_s=3.0, output_bytes=1 << 20)
NOBODY = 65534


@dataclass(frozen=True)
class Victim:
    """What attacks go for, and how to see whether they got it."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]
    datagrams: socket.socket
    token: str

    def arguments(self) -> tuple[str, ...]:
        return str(self.folder), str(self.port), str(self.process.pid), self.token

    def harm(self) -> str:
        """What changed outside; empty when nothing did."""
        listing = sorted(path.name for path in self.folder.iterdir())
        if listing != ["secret", "socket"] or (self.folder / "secret").read_text() != "treasure":
            return f"the folder was changed: {listing}"
        if self.process.poll() is not None:
            return "the victim is dead"
        with contextlib.suppress(BlockingIOError):
            self.datagrams.recv(64)
            return "a datagram arrived"
        return ""


@contextlib.contextmanager
def victim() -> Iterator[Victim]:
    """A folder with a secret, listening sockets, a sleeping process with a secret in its environment."""
    token = f"isolation-{os.getpid()}"
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        (folder / "secret").write_text("treasure")
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = server.getsockname()[1]
        datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", port))
        datagrams.setblocking(False)
        for address in (str(folder / "socket"), "\0" + token):
            local = stack.enter_context(socket.socket(socket.AF_UNIX))
            local.bind(address)
            local.listen()
        environment = {"GATE_SECRET": "1"}
        command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
        process = subprocess.Popen(command, env=environment, cwd=folder, start_new_session=True)
        try:
            yield Victim(folder, port, process, datagrams, token)
        finally:
            process.kill()
            process.wait()


def survivors(token: str) -> list[int]:
    """Processes whose command line holds the token, this one apart."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if token.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def reduce(_job: Job, observation: Observation, _inside: Inside) -> tuple[str, bytes]:
    head = next(observation.stdout.chunks(), b"") if observation.status != "output_limit" else b""
    return observation.status, head[:200]


def attempt(pool: Pool, attack: Attack, target: Victim) -> str:
    """What is wrong after one attack; empty when it failed as it should."""
    argv = (sys.executable, "-I", "-S", "-c", PRELUDE + attack.source, *target.arguments())
    harmless = (sys.executable, "-I", "-S", "-c", "print('harmless')")
    jobs = [Job("attack", argv, timeout_s=attack.timeout_s), Job("after", harmless)]
    (_, (status, output)), (_, after) = pool.run(jobs, reduce)
    if b"BREACH" in output:
        return output.decode(errors="replace").strip()
    if status not in attack.statuses:
        return f"ended as {status}, not {' or '.join(attack.statuses)}"
    if after != ("exited", b"harmless\n"):
        return f"the next program gave {after}"
    if survivors(target.token):
        return "a process survived"
    return target.harm()


def run_layer(layer: Layer) -> dict[str, str]:
    """Attack -> what is wrong."""
    python = Path(sys.executable)
    subject = Subject(python, read_only=interpreter_paths(python))
    with victim() as target:
        results = {}
        tree = TreeSource(lambda folder: (folder / "file").touch(), lambda _folder: [])
        with Pool(tree, layer, subject, limits=LIMITS) as pool:
            for attack in ATTACKS:
                results[attack.name] = attempt(pool, attack, target)
        return results


def inner(layer: str, rows: Path) -> int:
    """One column of the table, as the calling user; `rows` gets the results as JSON."""
    os.environ["GATE_SECRET"] = "1"  # noqa: S105  (bait)
    found = next(candidates(layer))
    try:
        results = {"unavailable": str(found)} if isinstance(found, GateError) else run_layer(found)
    except GateError as error:
        results = {"unavailable": str(error)}
    rows.write_text(json.dumps(results))
    return 0


def columns() -> list[tuple[str, str, list[str]]]:
    """Layer, user and the command that begins the column."""
    me = "root" if os.getuid() == 0 else "ordinary user"
    found = [(layer, me, [sys.executable]) for layer in LAYERS]
    if os.getuid() == 0:
        python = "/usr/bin/python3"  # one that an ordinary user reaches
        drop = [
            "setpriv",
            f"--reuid={NOBODY}",
            f"--regid={NOBODY}",
            "--clear-groups",
            "--inh-caps=-all",
            python,
        ]
        found += [(layer, "ordinary user", drop) for layer in LAYERS]
    return found


def run_column(layer: str, start: list[str]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as name:
        rows = Path(name) / "rows.json"
        Path(name).chmod(0o777)
        if not shutil.which(start[-1]):
            return {"unavailable": f"{start[-1]} is missing"}
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8"}
        command = [*start, __file__, "--layer", layer, "--rows", str(rows)]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        if done.returncode or not rows.is_file():
            return {"unavailable": done.stderr.strip().split("\n")[-1][:200] or "the column gave nothing"}
        results: dict[str, str] = json.loads(rows.read_text())
        return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--allow-unavailable", action="append", default=[], choices=LAYERS)
    parser.add_argument("--layer", choices=LAYERS)
    parser.add_argument("--rows", type=Path)
    arguments = parser.parse_args()
    if arguments.layer:
        return inner(arguments.layer, arguments.rows)
    wrong = 0
    for layer, user, start in columns():
        results = run_column(layer, start)
        missing = results.pop("unavailable", "")
        if missing:
            wrong += layer not in arguments.allow_unavailable
            print(f"{layer:11} {user:14} unavailable: {missing}")
            continue
        for name, problem in results.items():
            print(f"{layer:11} {user:14} {name:32} {problem or 'blocked'}", flush=True)
            wrong += bool(problem)
    print(f"{len(ATTACKS)} attacks, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
