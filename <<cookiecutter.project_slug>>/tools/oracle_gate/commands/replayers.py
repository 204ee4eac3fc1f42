"""Wires the runner for the commands that replay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..core.errors import GateError
from ..core.gitdb import Entries
from ..core.oracle import Oracle
from ..runner.replayer import Bench, TreeReplayer, subject_of, worker_count
from ..sandbox.plain import Plain
from .context import Context


@contextmanager
def opened_tree(
    context: Context, oracle: Oracle, corpus: Entries, entries: Entries, workers: int | None
) -> Iterator[TreeReplayer]:
    """A replayer on one tree, for commands that judge nothing; GateError when setup fails."""
    place = bench(context, oracle, corpus, workers)
    built = place.prepare(entries)
    if built.failure:
        raise GateError(built.failure, where="[subject] setup", todo="repair the build")
    with place.replayer(built.entries) as replayer:
        yield replayer


def bench(context: Context, oracle: Oracle, corpus: Entries, workers: int | None) -> Bench:
    """A bench on the strongest layer that there is; `corpus` is the tree whose corpus data rows read."""
    return Bench(
        store=context.store,
        settings=oracle.settings,
        noise=oracle.noise,
        corpus=corpus,
        layer=Plain(),
        subject=subject_of(context.own, oracle.settings, oracle.requirements),
        workers=worker_count(oracle.settings, workers),
    )
