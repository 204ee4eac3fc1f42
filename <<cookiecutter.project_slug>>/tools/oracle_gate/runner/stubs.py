"""Stub programs: what a claim must reject before it counts as evidence (design, section 8)."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping

from .claims import ProgramResult, Run


def _empty(_argv: tuple[str, ...], _data: bytes) -> ProgramResult:
    return ProgramResult("exited", 0)


def _echo(_argv: tuple[str, ...], data: bytes) -> ProgramResult:
    return ProgramResult("exited", 0, data)


def _constant(_argv: tuple[str, ...], _data: bytes) -> ProgramResult:
    return ProgramResult("exited", 0, b"constant\n")


def _crash(_argv: tuple[str, ...], _data: bytes) -> ProgramResult:
    return ProgramResult("exited", 70, b"", b"stub: crash\n")


def random_stub() -> Run:
    """Another output at each call; the same sequence each time, so that a verdict can be repeated."""
    numbers = itertools.count()

    def run(_argv: tuple[str, ...], _data: bytes) -> ProgramResult:
        text = hashlib.sha256(b"%d" % next(numbers)).hexdigest()
        return ProgramResult("exited", 0, text.encode() + b"\n")

    return run


def stubs() -> Mapping[str, Run]:
    """Name -> stub, fresh."""
    return {"empty": _empty, "echo": _echo, "constant": _constant, "random": random_stub(), "crash": _crash}
