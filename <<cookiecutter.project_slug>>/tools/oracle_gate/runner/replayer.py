"""Rows of a corpus in one tree: each becomes a job of the pool, each observation a digest."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..core.canonical import Tokens, canonical_frames, digest
from ..core.corpus import Row
from ..core.decode import encode
from ..core.errors import GateError
from ..core.gitdb import Entries, ObjectStore
from ..core.noise import NoiseRules
from ..core.observation import Observation
from ..core.settings import Replay, Service, Settings
from ..core.trees import differences, materialise
from ..core.view import replayed
from ..sandbox.choice import moved
from ..sandbox.layer import Inside, Layer
from .environment import STANDARD, Envelope, Subject, another_envelope
from .job import Job, Limits, TreeSource
from .pool import Pool
from .setup import Builder, Built
from .subject import interpreter, interpreter_paths
from .trial import Trial

#: Bytes of each frame that are kept for a diff.
_FRAME_LIMIT = 64 << 10
_MOST_WORKERS = 8


@dataclass(frozen=True)
class TreeReplayer:
    """Runs rows in the tree of an open pool."""

    pool: Pool
    store: ObjectStore
    tree: Entries
    noise: NoiseRules
    replay: Replay
    service: Service
    envelope: Envelope = STANDARD

    def run(self, rows: Iterable[Row], *, frames: bool = False) -> Generator[Trial, None, None]:
        """One trial a row, in the order of the rows."""
        waiting: dict[str, Row] = {}
        jobs = self._jobs(rows, waiting)
        reduce = partial(self._reduce, waiting=waiting, frames=frames)
        results = self.pool.run(jobs, reduce, self.envelope)
        with closing(results):  # type: ignore[type-var]
            for _, trial in results:
                del waiting[trial.row.id]
                yield trial

    def _jobs(self, rows: Iterable[Row], waiting: dict[str, Row]) -> Iterator[Job]:
        for row in rows:
            waiting[row.id] = row
            stdin = row.stdin.encode("utf-8", "surrogatepass") if row.stdin is not None else None
            if row.stdin_file is not None:
                stdin = self.store.read(self.tree[row.stdin_file.encode()].oid, "blob")
            argv, request = row.argv or (*self.replay.file_argv, str(row.file)), None
            if row.request is not None:
                argv, request = self.service.argv, {**encode(row.request), **_service(self.service)}
            yield Job(row.id, argv, row.env, stdin, row.files, row.timeout_s, request, row.format)

    def _reduce(
        self, job: Job, observation: Observation, inside: Inside, *, waiting: dict[str, Row], frames: bool
    ) -> Trial:
        row = waiting[job.id]
        if observation.status != "exited":
            return Trial(row, observation.status)
        tokens = Tokens(((os.fsencode(inside.tree), "ROOT"), (os.fsencode(inside.scratch), "TMP")))
        found = digest(observation, row.format, tokens, self.noise)
        kept = canonical_frames(observation, row.format, tokens, self.noise, _FRAME_LIMIT) if frames else []
        return Trial(row, "exited", observation.exit_code, found, tuple(kept))


def _service(service: Service) -> dict[str, object]:
    """What the worker has to know of the service besides the row's request."""
    return {
        "ready_path": service.ready_path,
        "ready_timeout_s": service.ready_timeout_s,
        "observed_headers": service.headers,
    }


@dataclass(frozen=True)
class Bench:
    """All that replaying needs besides a tree: the base's settings, noise and corpus, a layer, a subject."""

    store: ObjectStore
    settings: Settings
    noise: NoiseRules
    corpus: Entries
    layer: Layer
    subject: Subject
    workers: int
    envelope: Envelope = STANDARD

    def elsewhere(self, hash_seed: int) -> Bench:
        """The same in another envelope: other paths, another hash seed, no SOURCE_DATE_EPOCH."""
        return replace(self, layer=moved(self.layer), envelope=another_envelope(hash_seed))

    def prepare(self, entries: Entries) -> Built:
        """The tree that rows of `entries` run in: its view, the corpus's data, and what setup makes of it."""
        tree = replayed(entries, self.corpus, self.settings.view.hidden)
        subject = self.settings.subject
        builder = Builder(self.store, self.layer, self.subject, subject.setup, subject.setup_timeout_s)
        return builder.build(tree)

    @contextmanager
    def replayer(self, tree: Entries, *, workers: int | None = None) -> Iterator[TreeReplayer]:
        """Opens a pool on a prepared tree."""
        source = TreeSource(partial(materialise, self.store, tree), partial(differences, self.store, tree))
        limits = Limits(self.settings.replay.timeout_s, self.settings.replay.output_bytes)
        with Pool(source, self.layer, self.subject, workers=workers or self.workers, limits=limits) as pool:
            yield TreeReplayer(
                pool, self.store, tree, self.noise, self.settings.replay, self.settings.service, self.envelope
            )


def subject_of(own: Path, settings: Settings, requirements: bytes) -> Subject:
    """The judged programs' surroundings; GateError when their environment is not built."""
    python = interpreter(own, settings, requirements)
    tools, data = (tuple(map(Path, paths)) for paths in (settings.subject.tools, settings.subject.data))
    for folder in (*tools, *data):
        if not (folder.is_absolute() and folder.is_dir()):
            raise GateError(
                "is not an absolute folder here", where=str(folder), todo="correct [subject] tools or data"
            )
    return Subject(python, tools, settings.subject.path, (*interpreter_paths(python), *data))


def worker_count(settings: Settings, wanted: int | None) -> int:
    """`wanted`, else `[replay] workers`, else the usable CPUs up to 8."""
    usable = min(len(os.sched_getaffinity(0)), _MOST_WORKERS)
    return wanted or settings.replay.workers or usable
