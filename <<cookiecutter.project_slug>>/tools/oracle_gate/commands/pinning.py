"""Measures the rows that are to be pinned, with the checks of design section 8, and writes the pins."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from ..core import canonical, corpus, pins
from ..core.decode import to_json
from ..core.errors import Exit, GateError
from ..core.gitdb import Entries
from ..core.oracle import Oracle
from ..core.pins import Provenance, this_platform, this_python
from ..runner.trial import Trial
from .context import Context, warn
from .replayers import opened_tree

Rows = Sequence[corpus.Row]


def measure(
    context: Context, oracle: Oracle, tree: Entries, new: Rows, kept: Mapping[str, str], workers: int | None
) -> dict[str, Trial]:
    """A trial for every row: `new` ones run twice, `kept` ones must give their pin again.

    Raises GateError (hold), with every row named on stderr, when a row is no evidence.
    """
    old = [row for row in oracle.rows if row.id in kept]
    with opened_tree(context, oracle, tree, tree, workers) as replayer:
        first = {trial.row.id: trial for trial in replayer.run([*new, *old])}
        # The second run: another worker, another scratch, the other order.
        second = {trial.row.id: trial for trial in replayer.run(new[::-1])}
    _refuse(
        "moved",
        [row for row in old if first[row.id].result != ("exited", kept[row.id])],
        lambda _: "misses its pin",
    )
    _refuse(
        "misbehaving",
        [row for row in new if first[row.id].status != "exited"],
        lambda row: first[row.id].status,
    )
    _refuse(
        "emptied",
        [row for row in new if not first[row.id].digest],
        lambda _: "noise rules drop all of a stream",
    )
    _refuse(
        "unstable",
        [row for row in new if first[row.id].result != second[row.id].result],
        lambda _: "two runs differ",
    )
    _warn(oracle, new, first)
    return first


def _refuse(kind: str, rows: Rows, say: Callable[[corpus.Row], str]) -> None:
    for row in rows:
        print(f"gate: {corpus.PATH}:{row.line}: {kind}:{row.id}: {say(row)}", file=sys.stderr)
    if rows:
        todo = "make the rows steady or remove them; nothing was pinned"
        raise GateError(f"{len(rows)} {kind} row(s)", where=corpus.PATH, todo=todo, exit_code=Exit.HOLD)


def _warn(oracle: Oracle, rows: Rows, found: Mapping[str, Trial]) -> None:
    """What a reviewer should know of the corpus, with counts (design, section 8)."""
    forms = [(row, form) for row in rows if (form := found[row.id].canonical)]
    _count("say json and are not", [row.id for row, form in forms if form.not_json])
    respelt = [row.id for row, form in forms if form.changed_more_than_roots]
    _count('are judged without their spelling (a row about formatting wants "format": "text")', respelt)
    hits = {index for trial in found.values() if trial.canonical for index in trial.canonical.noise_hits}
    for index, rule in enumerate(oracle.noise.rules):
        if index not in hits:
            warn(f"oracle/noise.txt:{rule.line}: unused noise rule")


def _count(what: str, rows: list[str]) -> None:
    if rows:
        warn(f"{len(rows)} row(s) {what}: {', '.join(rows[:5])}{' …' if len(rows) > 5 else ''}")


def write_pins(context: Context, oracle: Oracle, reviewer: str, found: Mapping[str, Trial]) -> None:
    """Writes digests.json and provenance.json; a kill in between leaves each of them whole.

    The provenance comes first: pins of another corpus than it names would hold as stale.
    """
    provenance = Provenance(
        canonical=canonical.VERSION,
        base=context.launch.base,
        corpus_sha256=oracle.digests_of["corpus"],
        noise_sha256=oracle.digests_of["noise"],
        settings_sha256=oracle.digests_of["settings"],
        platform=this_platform(),
        python=this_python(),
        reviewer=reviewer,
        noise_lines={row: trial.noise_lines for row, trial in found.items() if trial.noise_lines},
    )
    contents = {
        pins.PROVENANCE: to_json(provenance),
        pins.DIGESTS: to_json({row: trial.digest for row, trial in found.items()}),
    }
    asides = {name: context.root / f"{name}.{os.getpid()}" for name in contents}
    try:
        for name, data in contents.items():
            asides[name].write_bytes(data)
        for name, aside in asides.items():
            aside.replace(context.root / name)
    finally:
        for aside in asides.values():
            aside.unlink(missing_ok=True)
