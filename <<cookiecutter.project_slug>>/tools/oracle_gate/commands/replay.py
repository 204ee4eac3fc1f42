"""`replay`: runs the corpus and compares with the pins; says what differs, gives no verdict."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path

from ..core.errors import Exit, GateError
from ..core.gitdb import Entries
from ..core.oracle import Oracle, read_oracle
from .context import Context, workers
from .replayers import opened_tree


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tree", metavar="DIR or REF", help="what to run (default: the work tree)")
    parser.add_argument("--workers", type=workers, help="worker processes (default: [replay] workers)")
    parser.add_argument("--verbose", action="store_true", help="name ids under CI as well")


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Prints one line a row, under CI their numbers alone; exit 1 when a pinned row does not give its digest."""
    oracle = read_oracle(context.store, context.base_entries)
    entries = _tree(context, oracle, arguments.tree)
    counts: Counter[str] = Counter()
    with opened_tree(context, oracle, context.base_entries, entries, arguments.workers) as replayer:
        for trial in replayer.run(oracle.rows):
            expected = oracle.pins.get(trial.row.id)
            same = trial.result == ("exited", expected)
            state = "unpinned" if expected is None else "match" if same else "differs"
            counts[state] += 1
            if not os.environ.get("CI") or arguments.verbose:
                print(f"{state:9} {trial.row.id} {trial.digest[:16] or trial.status}")
    if os.environ.get("CI"):
        print(", ".join(f"{number} {state}" for state, number in sorted(counts.items())))
    return Exit.BLOCK if counts["differs"] else Exit.OK


def _tree(context: Context, oracle: Oracle, name: str | None) -> Entries:
    if name is None or Path(name).is_dir():
        return context.work_tree(oracle.denied, Path(name) if name else None).after
    commit = context.repository.resolve(name)
    if commit is None:
        raise GateError(f"{name!r} is neither a folder nor a commit here", todo="name one of the two")
    return context.store.entries(context.store.tree_of(commit))
