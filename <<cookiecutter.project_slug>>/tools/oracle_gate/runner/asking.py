"""Asks a sealed property about fixtures (design, section 9).

`holds(fixture_bytes, run)` runs in a ClaimHost; the program it runs is a job of the pool. Article B's
`holds(fixture_bytes)` imports the program, so it runs inside the sandbox, where patched code can forge the
answer: such a property is labelled `in_process`.
"""

from __future__ import annotations

import ast
import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ..core.observation import Observation
from ..sandbox.layer import Inside
from .claims import Answer, ClaimHost, Run, read_answer
from .job import Job
from .pool import Pool

FUNCTION = "holds"
#: Asks a property about fixtures: an answer for each, up to one that ends its process.
Ask = Callable[[Iterable[bytes]], Iterator[Answer]]
#: Opens a property on one program: gives how to ask it, or why it does not load.
Opener = Callable[[], AbstractContextManager[Ask | Answer]]


def parameters(source: bytes) -> int:
    """How many arguments the `holds` of a property file takes, read without running it; 0 if it has none."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    found = [
        len(item.args.posonlyargs) + len(item.args.args)
        for item in body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == FUNCTION
    ]
    return found[-1] if found else 0


@contextmanager
def asked_outside(claim: Path, view: Path, run: Run, timeout_s: float) -> Iterator[Ask | Answer]:
    """A two-argument property, in a process of its own for all fixtures; `view` is its working directory."""
    with ClaimHost(view, timeout_s) as host:
        loaded = host.load(claim)
        if isinstance(loaded, Answer):
            yield Answer(loaded.kind, f"does not load: {loaded.note}")
        elif FUNCTION not in loaded or loaded[FUNCTION].parameters != 2:
            yield Answer("error", "has no holds(fixture_bytes, run)")
        else:
            yield lambda fixtures: host.call_each(FUNCTION, run, fixtures)


@contextmanager
def asked_inside(claim: Path, pool: Pool, timeout_s: float) -> Iterator[Ask | Answer]:
    """A one-argument property, in the pool's sandbox, a process and a case folder for each fixture."""
    driver, source = Path(__file__).with_name("claim_host.py").read_bytes(), claim.read_bytes()

    def reduce(job: Job, observation: Observation, _inside: Inside) -> Answer:
        if observation.status == "timeout":
            return Answer("timeout", f"no answer within {timeout_s:g} s")
        if observation.status != "exited":
            return Answer("crashed", f"ended as {observation.status}")
        return _told(b"".join(observation.stdout.chunks()), job.stdin or b"")

    def job(number: int, fixture: bytes) -> Job:
        token = secrets.token_bytes(16).hex().encode()
        files: dict[str, bytes | str] = {"ask.py": driver, "claim.py": source, "fixture": fixture}
        argv = ("python", "ask.py", "claim.py", "fixture")
        return Job(str(number), argv, stdin=token, files=files, timeout_s=timeout_s)

    def ask(fixtures: Iterable[bytes]) -> Iterator[Answer]:
        for _, answer in pool.run((job(*item) for item in enumerate(fixtures)), reduce):
            yield answer

    yield ask


def _told(output: bytes, token: bytes) -> Answer:
    """The answer behind the token; everything else on standard output is no answer."""
    try:
        message = json.loads(output.removeprefix(token)) if output.startswith(token) else None
    except (ValueError, RecursionError):
        message = None
    return read_answer(message if isinstance(message, dict) else {})
