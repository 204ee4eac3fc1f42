"""Null controls of corpus rows: a row counts only after it was shown to be steady and to be able to fail
(design, section 8; article A, "If you cannot canonicalize a subsystem, do not put it in the corpus")."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..core.corpus import Row
from ..core.gitdb import Entry, ObjectStore
from ..core.settings import Settings
from ..runner.environment import Envelope
from ..runner.replayer import Bench, TreeReplayer
from ..runner.setup import Built
from ..runner.trial import Trial
from .progress import counted, progress

#: Between the two runs of a row, so that a clock that shows seconds shows another one.
_CLOCK_S = 1.1
_OTHER_SEED = 4_242
_LINE = 120


@dataclass(frozen=True)
class Measured:
    """The trials of the rows that are to be pinned, by id. `emptied` ran on a tree without sources."""

    first: Mapping[str, Trial]
    second: Mapping[str, Trial]
    seeded: Mapping[str, Trial]
    elsewhere: Mapping[str, Trial]
    emptied: Mapping[str, Trial]
    differing_lines: Mapping[str, str]

    def unsteady(self, row: Row) -> bool:
        """Two runs differ."""
        return self.first[row.id].result != self.second[row.id].result

    def inert(self, row: Row) -> bool:
        """The row gives the same without the program: it does not run this tree, or says nothing of it."""
        return self.first[row.id].result == self.emptied[row.id].result

    def seed_sensitive(self, row: Row) -> bool:
        """The order of a set shows: steady only because the gate fixes the hash seed."""
        return self.first[row.id].result != self.seeded[row.id].result

    def envelope_sensitive(self, row: Row) -> bool:
        """In another envelope (path, hash seed, no SOURCE_DATE_EPOCH) the row gives something else."""
        return self.first[row.id].result != self.elsewhere[row.id].result


def measure_rows(
    bench: Bench, store: ObjectStore, prepared: Built, new: Sequence[Row], old: Sequence[Row]
) -> Measured:
    """Runs `new` rows two times, with another hash seed, in another envelope, without sources; `old` rows once."""
    with bench.replayer(prepared.entries) as replayer:
        started = time.monotonic()
        first = _by_id(replayer.run([*new, *old]), "first run", len(new) + len(old))
        time.sleep(max(0.0, started + _CLOCK_S - time.monotonic()))
        # Another worker, another scratch, the other order.
        second = _by_id(replayer.run(new[::-1]), "second run", len(new))
        reseeded = replace(replayer, envelope=Envelope(_OTHER_SEED))
        seeded = _by_id(reseeded.run(new), "with another hash seed", len(new))
        unsteady = [row for row in new if first[row.id].result != second[row.id].result]
        lines = {row.id: _first_difference(replayer, row) for row in unsteady}
    with bench.elsewhere(_OTHER_SEED).replayer(prepared.entries) as replayer:
        elsewhere = _by_id(replayer.run(new), "in another envelope", len(new))
    with bench.replayer(without_sources(store, prepared, bench.settings)) as replayer:
        emptied = _by_id(replayer.run(new), "without the program", len(new))
    progress("")
    return Measured(first, second, seeded, elsewhere, emptied, lines)


def _by_id(trials: Iterable[Trial], what: str, total: int) -> dict[str, Trial]:
    return {trial.row.id: trial for trial in counted(trials, what, total)}


def without_sources(store: ObjectStore, prepared: Built, settings: Settings) -> dict[bytes, Entry]:
    """The tree with every file on `[subject] path`, and everything that setup made, emptied."""
    empty = store.write("blob", b"")
    folders = [path.strip("/").encode() + b"/" for path in settings.subject.path]

    def is_source(path: bytes) -> bool:
        inside = any(folder == b"./" or path.startswith(folder) for folder in folders)
        return path in prepared.made or (inside and not path.startswith(b"corpus/"))

    entries = prepared.entries.items()
    return {path: Entry(entry.mode, empty) if is_source(path) else entry for path, entry in entries}


def _first_difference(replayer: TreeReplayer, row: Row) -> str:
    """The first line in which two more runs differ; empty when they happen to agree."""
    one, other = (next(iter(replayer.run([row], frames=True))) for _ in range(2))
    for (name, left), (_, right) in zip(one.frames, other.frames, strict=False):
        for before, after in zip(left.split(b"\n"), right.split(b"\n"), strict=False):
            if before != after:
                shown = (line.decode("utf-8", "backslashreplace")[:_LINE] for line in (before, after))
                return f"{name}: {' / '.join(map(repr, shown))}"
    return ""
