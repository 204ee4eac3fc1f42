"""A bench on the interpreter of the tests, for lanes that run pytest."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from oracle_gate.commands.evidence import TestEvidence as Evidence
from oracle_gate.core.gitdb import ObjectStore
from oracle_gate.core.noise import parse_noise
from oracle_gate.core.settings import Public, Settings
from oracle_gate.runner.environment import Subject
from oracle_gate.runner.replayer import Bench
from oracle_gate.sandbox.plain import Plain

from support.objects import change, entries, opened

Tree = Mapping[str, bytes | str]


def bench_on(store: ObjectStore, python: Path, **changes: Any) -> Bench:
    """A bench without sandbox; `changes` are settings."""
    settings = replace(Settings(public=Public(timeout_s=30.0)), **changes)
    return Bench(store, settings, parse_noise(b""), {}, Plain(), Subject(python), 1)


@contextmanager
def evidence(
    folder: Path, before: Tree, after: Tree, *, python: Path = Path(sys.executable), **changes: Any
) -> Iterator[Evidence]:
    """What the test lanes share about the change from one tree to another."""
    with opened(folder / "store") as store:
        trees = [entries(store, tree) for tree in (after, before)]
        yield Evidence(bench_on(store, python, **changes), change(store, before, after), *trees)
