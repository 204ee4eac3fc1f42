"""Which worker runs which job when, and when a result is final.

Where programs could have written the tree, a result counts only once the tree was found unchanged after
it. If it was changed, everything since the last check runs again on a fresh tree, with a check after
each job, so that the guilty one is found and the others are not hurt (design, section 7).
"""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar, cast

from ..core.errors import GateError
from ..core.observation import Observation, Status
from ..sandbox.layer import Inside
from .environment import Envelope
from .job import Job, Limits
from .process import Answer
from .workplace import Workplace

T = TypeVar("T")
#: Makes a small result of an observation while that is valid; called again when a job runs again.
Reduce = Callable[[Job, Observation, Inside], T]

#: How many jobs may be ahead of the oldest one without a final result.
_LOOK_AHEAD = 256
#: Trees are checked at most this often, and for at most a tenth of the time.
_CHECK_SECONDS = 0.1
_DEAD = Answer("killed_worker", -9, "")


@dataclass(frozen=True)
class Task:
    """A job and its number in the order. A suspect is checked by itself."""

    number: int
    job: Job
    suspect: bool = False


class Queue(Generic[T]):
    """Gives jobs out in order, read lazily; gives final results back in the same order."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._jobs = enumerate(jobs)
        self._next = next(self._jobs, None)
        self._final: dict[int, tuple[Job, T]] = {}
        self._given_back = 0

    @property
    def exhausted(self) -> bool:
        return self._next is None

    def has_task(self) -> bool:
        """Whether there is one now: jobs must not run too far ahead of the oldest one without a result."""
        return self._next is not None and self._next[0] - self._given_back < _LOOK_AHEAD

    def take(self) -> Task | None:
        if self._next is None or not self.has_task():
            return None
        task = Task(*self._next)
        self._next = next(self._jobs, None)
        return task

    def accept(self, task: Task, value: T) -> None:
        self._final[task.number] = (task.job, value)

    def ready(self) -> Iterator[tuple[Job, T]]:
        while self._given_back in self._final:
            result = self._final.pop(self._given_back)
            self._given_back += 1
            yield result


@dataclass(frozen=True, eq=False)
class Running:
    """A task at work; `deadline` is the monotonic time at which its worker is given up."""

    task: Task
    place: Workplace
    deadline: float


@dataclass
class Slot(Generic[T]):
    """Where one worker works: its task, the results that wait for a check, the tasks to run again."""

    place: Workplace | None = None
    running: Running | None = None
    unchecked: list[tuple[Task, T]] = field(default_factory=list)
    suspects: deque[Task] = field(default_factory=deque)
    next_check: float = 0.0

    @property
    def settled(self) -> bool:
        """Whether its worker is as good as new."""
        return self.running is None and not self.unchecked and not self.suspects


class Schedule(Generic[T]):
    """One call of Pool.run."""

    def __init__(
        self, jobs: Iterable[Job], reduce: Reduce[T], envelope: Envelope, limits: Limits,
        slots: list[Slot[T]], open_place: Callable[[], Workplace], close_place: Callable[[Workplace], None],
        protected: bool,
    ) -> None:  # fmt: skip
        self._queue: Queue[T] = Queue(jobs)
        self._reduce = reduce
        self._envelope = envelope
        self._limits = limits
        self._slots = slots
        self._open_place = open_place
        self._close_place = close_place
        self._protected = protected

    def results(self) -> Iterator[tuple[Job, T]]:
        """Every job's result in order. Stops early only by an exception."""
        while True:
            for slot in self._slots:
                if slot.running is None:
                    self._feed(slot)
            yield from self._queue.ready()
            busy = {slot.running: slot for slot in self._slots if slot.running is not None}
            if not busy and self._queue.exhausted:
                return
            for running, answer in _wait(list(busy)):
                self._finish(busy[running], running, answer)
                busy[running].running = None

    def _feed(self, slot: Slot[T]) -> None:
        """Gives an idle slot something to do, if there is anything."""
        due = time.monotonic() >= slot.next_check
        if slot.unchecked and (due or slot.suspects or not self._queue.has_task()):
            self._check(slot)
        task = slot.suspects.popleft() if slot.suspects else self._queue.take()
        if task is not None:
            self._start(slot, task)

    def _start(self, slot: Slot[T], task: Task) -> None:
        place = slot.place = slot.place or self._open_place()
        if not place.start(task.job, self._envelope):
            # It died while idle, nobody knows of what: first check what it ran.
            self._check(slot)
            self._drop(slot)
            place = slot.place = self._open_place()
            if not place.start(task.job, self._envelope):
                raise GateError("a worker ends before its first row", todo="see `gate.py doctor`")
        deadline = time.monotonic() + self._limits.seconds(task.job) + self._limits.margin_s
        slot.running = Running(task, place, deadline)

    def _finish(self, slot: Slot[T], running: Running, answer: Answer | None) -> None:
        """Takes what a worker says about its task: an answer, or None from a dead or silent one."""
        task, place = running.task, running.place
        if answer is None:
            place.worker.kill()
            answer = _DEAD
        if answer.status == "refused":
            if task.suspect or self._protected or place.is_intact():
                raise GateError(f"row {task.job.id!r} cannot be run: {answer.detail}", todo="correct the row")
            self._suspect(slot, [task])
            return
        intact = not task.suspect or place.is_intact()
        status = cast(Status, answer.status) if intact else "changed_tree"
        value = self._reduce(task.job, place.worker.observation(status, answer.exit_code), place.inside)
        if task.suspect or self._protected:
            self._queue.accept(task, value)
        else:
            slot.unchecked.append((task, value))
        if answer is _DEAD:
            self._check(slot)
        if answer is _DEAD or not intact:
            self._drop(slot)

    def _check(self, slot: Slot[T]) -> None:
        """Makes the waiting results final, or their jobs suspects."""
        if not slot.unchecked or slot.place is None:
            return
        start = time.monotonic()
        if slot.place.is_intact():
            for task, value in slot.unchecked:
                self._queue.accept(task, value)
            slot.unchecked.clear()
        else:
            self._suspect(slot, [])
        now = time.monotonic()
        slot.next_check = now + max(_CHECK_SECONDS, 10 * (now - start))

    def _suspect(self, slot: Slot[T], more: list[Task]) -> None:
        """All jobs since the last check run again, on a fresh tree."""
        tasks = [task for task, _ in slot.unchecked] + more
        slot.suspects.extend(replace(task, suspect=True) for task in tasks)
        slot.unchecked.clear()
        self._drop(slot)

    def _drop(self, slot: Slot[T]) -> None:
        if slot.place is not None:
            place, slot.place = slot.place, None
            self._close_place(place)


def _wait(busy: list[Running]) -> Iterator[tuple[Running, Answer | None]]:
    """The tasks that are done, each with the worker's answer; without one if it is dead or too late."""
    if not busy:
        return
    poller = select.poll()
    for running in busy:
        poller.register(running.place.worker, select.POLLIN)
    patience = min(running.deadline for running in busy) - time.monotonic()
    readable = {descriptor for descriptor, _ in poller.poll(max(0.0, patience) * 1000)}
    now = time.monotonic()
    for running in busy:
        if running.place.worker.fileno() in readable:
            yield running, running.place.worker.answer()
        elif now > running.deadline:
            yield running, None
