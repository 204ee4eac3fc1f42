"""The pool: runs jobs on several workers and hands results back in the order of the jobs.

Which worker runs a job, and what ran there before, does not show in its result.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..sandbox.layer import Layer
from .environment import STANDARD, Envelope, Subject
from .folders import copy_code, temporary_folder
from .identity import identity
from .job import DEFAULT_LIMITS, Job, Limits, TreeSource
from .schedule import Reduce, Schedule, Slot, T
from .workplace import Workplace, write_tree


class Pool:
    """Workers for one tree; a context manager that leaves no process and no folder behind.

    `run` may be called several times, one call after the other. Workers start when there is a job for
    them, each with a tree of its own unless the layer protects it.
    """

    def __init__(
        self,
        tree: TreeSource,
        layer: Layer,
        subject: Subject,
        *,
        workers: int = 1,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._source = tree
        self._layer = layer
        self._subject = subject
        self._workers = workers
        self._limits = limits
        self._user = identity(subject).user if layer.name != "plain" else None
        self._open: list[Workplace] = []
        self._idle: list[Workplace] = []
        self._opened = 0
        self._shared_tree: Path | None = None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Pool:
        with contextlib.ExitStack() as stack:
            self._base = stack.enter_context(temporary_folder())
            if self._user is not None:
                self._base.chmod(0o711)
            copy_code(self._base / "code")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._idle.clear()
        for place in self._open:
            self._stack.callback(self._close_place, place)
        self._stack.close()

    def run(
        self, jobs: Iterable[Job], reduce: Reduce[T], envelope: Envelope = STANDARD
    ) -> Iterator[tuple[Job, T]]:
        """Yields (job, reduce(job, observation, paths as seen inside)) in the order of `jobs`.

        `jobs` is read lazily; `reduce` is called in this process while the observation is valid, and
        again for a job that runs again. Closing the iterator ends what still runs. Raises GateError when
        no worker can be started, and for a job that cannot be run, such as one whose files are missing.
        """
        slots: list[Slot[T]] = [Slot() for _ in range(self._workers)]
        for slot in slots:
            slot.place = self._idle.pop() if self._idle else None
        schedule = Schedule(jobs, reduce, envelope, self._limits, slots, self._open_place,
                            self._close_place, self._layer.protects_tree)  # fmt: skip
        try:
            yield from schedule.results()
        finally:
            for slot in slots:
                if slot.place is not None and slot.settled and slot.place in self._open:
                    self._idle.append(slot.place)
                elif slot.place is not None:
                    self._close_place(slot.place)

    def _open_place(self) -> Workplace:
        self._opened += 1
        if self._layer.protects_tree and self._shared_tree is None:
            # Not before a job needs it: most judgements never run the base.
            self._shared_tree = write_tree(self._source, self._base / "tree")
        # Names of one length: a path's length must not tell the workers apart.
        folder = self._base / f"{self._opened:06}"
        place = Workplace(folder, self._base / "code", self._shared_tree, self._source, self._layer,
                          self._subject, self._limits, self._user)  # fmt: skip
        self._open.append(place)
        return place

    def _close_place(self, place: Workplace) -> None:
        if place in self._open:
            self._open.remove(place)
            place.close()
