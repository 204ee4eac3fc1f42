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
from .null_controls import Measured, measure_rows
from .replayers import bench, sufficient

Rows = Sequence[corpus.Row]


def measure(
    context: Context, oracle: Oracle, tree: Entries, new: Rows, kept: Mapping[str, str], workers: int | None
) -> Measured:
    """The trials of every row: `new` ones pass the null controls, `kept` ones give their pin again.

    Raises GateError (hold), with every row named on stderr, when a row is no evidence.
    """
    old = [row for row in oracle.rows if row.id in kept]
    place = bench(context, oracle, tree, workers, sufficient(context, oracle))
    served = next((row for row in new if row.request is not None), None)
    if served is not None and place.layer.name == "landlock":
        where = f"{corpus.PATH}:{served.line}"
        raise GateError(
            "a row with a request cannot be isolated here", where=where, todo="install bubblewrap"
        )
    prepared = place.prepare(tree)
    if prepared.failure:
        raise GateError(prepared.failure, where="[subject] setup", todo="repair the build")
    found = measure_rows(place, context.store, prepared, new, old)
    first = found.first
    refusals: list[tuple[str, Rows, Callable[[corpus.Row], str]]] = [
        (
            "moved",
            [r for r in old if first[r.id].result != ("exited", kept[r.id])],
            lambda _: "misses its pin",
        ),
        ("misbehaving", [r for r in new if first[r.id].status != "exited"], lambda r: first[r.id].status),
        ("emptied", [r for r in new if not first[r.id].digest], lambda _: "noise rules drop all of a stream"),
        ("unstable", [r for r in new if found.unsteady(r)], lambda r: found.differing_lines[r.id]),
        (
            "inert",
            [r for r in new if found.inert(r)],
            lambda _: (
                "says nothing that an empty program would not; pair it with input that the program speaks about"
            ),
        ),
    ]
    for kind, rows, say in refusals:
        _refuse(kind, rows, say)
    _warn(oracle, new, found)
    return found


def _refuse(kind: str, rows: Rows, say: Callable[[corpus.Row], str]) -> None:
    for row in rows:
        print(f"gate: {corpus.PATH}:{row.line}: {kind}:{row.id}: {say(row)}", file=sys.stderr)
    if rows:
        todo = "make the rows steady evidence or remove them; nothing was pinned"
        raise GateError(f"{len(rows)} {kind} row(s)", where=corpus.PATH, todo=todo, exit_code=Exit.HOLD)


def _warn(oracle: Oracle, rows: Rows, found: Measured) -> None:
    """What a reviewer should know of the corpus, with counts (design, section 8)."""
    trials = [found.first[row.id] for row in rows]
    forms = [(trial.row.id, trial.canonical) for trial in trials if trial.canonical]
    seen: dict[str, str] = {}
    same = [trial.row.id for trial in trials if seen.setdefault(trial.digest, trial.row.id) != trial.row.id]
    _count("show stack frames", [row for row, form in forms if form.has_stack_frames])
    _count("end with a failure", [trial.row.id for trial in trials if _failed(trial)])
    _count("give the same as an earlier row", same)
    _count("depend on the hash seed", [row.id for row in rows if found.seed_sensitive(row)])
    _count(
        "give something else in another envelope", [row.id for row in rows if found.envelope_sensitive(row)]
    )
    _count("say json and are not", [row for row, form in forms if form.not_json])
    # Collapsed stack frames are named above, and no format keeps them but bytes.
    respelt = [row for row, form in forms if form.changed_more_than_roots and not form.has_stack_frames]
    _count('are judged without their spelling (a row about formatting wants "format": "text")', respelt)
    hits = {
        index for trial in found.first.values() if trial.canonical for index in trial.canonical.noise_hits
    }
    for index, rule in enumerate(oracle.noise.rules):
        if index not in hits:
            warn(f"oracle/noise.txt:{rule.line}: unused noise rule")


def _failed(trial: Trial) -> bool:
    """A service fails with a status of 400 or more, a program with any other exit code than 0."""
    return trial.exit_code >= 400 if trial.row.request else trial.exit_code != 0


def _count(what: str, rows: list[str]) -> None:
    if rows:
        warn(f"{len(rows)} row(s) {what}: {', '.join(rows[:5])}{' …' if len(rows) > 5 else ''}")


def write_pins(context: Context, oracle: Oracle, reviewer: str, found: Measured) -> None:
    """Writes digests.json and provenance.json; a kill in between leaves each of them whole.

    The provenance comes first: pins of another corpus than it names would hold as stale.
    """
    trials = found.first
    known = oracle.provenance.envelope_sensitive if oracle.provenance else ()
    sensitive = {row for row in known if row in trials and row not in found.elsewhere}
    sensitive |= {row for row in found.elsewhere if found.envelope_sensitive(trials[row].row)}
    provenance = Provenance(
        canonical=canonical.VERSION,
        base=context.launch.base,
        corpus_sha256=oracle.digests_of["corpus"],
        noise_sha256=oracle.digests_of["noise"],
        settings_sha256=oracle.digests_of["settings"],
        platform=this_platform(),
        python=this_python(),
        reviewer=reviewer,
        noise_lines={row: trial.noise_lines for row, trial in trials.items() if trial.noise_lines},
        envelope_sensitive=tuple(sorted(sensitive)),
    )
    contents = {
        pins.PROVENANCE: to_json(provenance),
        pins.DIGESTS: to_json({row: trial.digest for row, trial in trials.items()}),
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
