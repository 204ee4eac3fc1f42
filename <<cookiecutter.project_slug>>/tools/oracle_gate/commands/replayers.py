"""Wires the runner for the commands that replay."""

from __future__ import annotations

from ..core.gitdb import Entries
from ..core.oracle import Oracle
from ..runner.replayer import Bench, subject_of, worker_count
from ..sandbox.plain import Plain
from .context import Context


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
