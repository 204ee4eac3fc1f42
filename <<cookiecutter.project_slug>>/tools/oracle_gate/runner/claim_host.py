"""The process in which sealed properties and relations run: one stdlib file, started by claims.py.

It holds the base's claims and no expected digest. It talks over two inherited descriptors: JSON, each
message preceded by its length in four bytes. `run` is answered by the gate, which runs the program in
the sandbox; what a claim prints goes nowhere.

A one-argument property imports the judged program, so for it this file itself runs inside the sandbox
(asking.py), for one call, with the judged program's modules in its own process.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import struct
import sys
import types
from collections import namedtuple

# One such process for each property and each stub: typing and inspect would double its start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LENGTH = struct.Struct(">I")

#: What `run` gives a claim: an int and two times bytes.
Ran = namedtuple("Ran", ("returncode", "stdout", "stderr"))


class ProgramMisbehaved(Exception):
    """The program did not exit by itself within its limits."""


def main(requests: int, answers: int) -> None:
    channel = Channel(requests, answers)
    module: Any = None
    while (message := channel.read()) is not None:
        if "load" in message:
            module, answer = _load(message["load"])
            channel.write(answer)
        elif "fixtures" in message:
            for text in message["fixtures"]:
                channel.write(_call(module, message["call"], base64.b64decode(text), channel.run))
        else:
            channel.write(_call(module, message["call"], channel.run))


class Channel:
    """Both directions of the talk with the gate."""

    def __init__(self, requests: int, answers: int) -> None:
        self.requests, self.answers = requests, answers

    def read(self) -> dict[str, Any] | None:
        head = self._exactly(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        message: dict[str, Any] = json.loads(self._exactly(LENGTH.unpack(head)[0]))
        return message

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size and (piece := os.read(self.requests, size - len(data))):
            data += piece
        return bytes(data)

    def write(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        rest = memoryview(LENGTH.pack(len(body)) + body)
        while rest:
            rest = rest[os.write(self.answers, rest) :]

    def run(self, argv: list[str], input: bytes = b"") -> Ran:
        """Runs the judged program; article A's and B's `run`."""
        self.write({"run": [str(word) for word in argv], "input": base64.b64encode(input).decode()})
        answer = self.read()
        if answer is None or answer["status"] != "exited":
            raise ProgramMisbehaved(answer["status"] if answer else "the gate is gone")
        out, err = (base64.b64decode(answer[name]) for name in ("stdout", "stderr"))
        return Ran(answer["exit_code"], out, err)


def _load(path: str) -> tuple[Any, dict[str, Any]]:
    """The module at `path` and the functions it defines, each with its docstring and parameter count."""
    try:
        spec = importlib.util.spec_from_file_location("claim", path)
        if spec is None or spec.loader is None:
            return None, {"error": "not a Python module"}
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except BaseException as error:
        return None, {"error": _describe(error)}
    functions = {
        name: {"doc": (function.__doc__ or "").strip(), "parameters": _parameters(function)}
        for name, function in vars(module).items()
        if isinstance(function, types.FunctionType)
    }
    return module, {"functions": functions}


def _parameters(function: Any) -> int:
    while hasattr(function, "__wrapped__"):  # by a decorator
        function = function.__wrapped__
    return int(function.__code__.co_argcount + function.__code__.co_kwonlyargcount)


def _call(module: Any, name: str, *arguments: Any) -> dict[str, Any]:
    try:
        result = getattr(module, name)(*arguments)
    except BaseException as error:
        broken = isinstance(error, AssertionError) or type(error).__name__ == "Broken"
        return {"answer": "broken" if broken else "error", "note": _describe(error)}
    if result is True or result is False or result is None:
        return {"answer": {True: "true", False: "false", None: "none"}[result], "note": ""}
    return {"answer": "error", "note": f"answered with a {type(result).__name__}"}


def call_once(claim: str, fixture: str) -> None:
    """Calls `holds(fixture_bytes)`; the answer goes to standard output, behind the token from standard input.

    The token tells the answer from what the judged program prints by accident; it is no secret from it.
    """
    token = sys.stdin.read()
    with os.fdopen(os.open(fixture, os.O_RDONLY), "rb") as file:
        data = file.read()
    answers, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    module, answer = _load(claim)
    if "error" in answer:
        answer = {"answer": "error", "note": f"does not load: {answer['error']}"}
    else:
        answer = _call(module, "holds", data)
    os.write(answers, f"{token}{json.dumps(answer)}".encode())


def _describe(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return " ".join(text.split())[:300]


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    if sys.argv[1].isdigit():
        main(int(sys.argv[1]), int(sys.argv[2]))
    else:
        call_once(sys.argv[1], sys.argv[2])
