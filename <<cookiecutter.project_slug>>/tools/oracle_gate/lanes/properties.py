"""The properties lane: what the sealed claims say of the judged program (article B; design, sections 8 and 9).

Only `True` is true. `False` rejects the program; every other way of not answering, such as None, 1, "False",
a coroutine, an exception, the end of the process or no answer in time, means that the property did not run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..core.manifest import Manifest, SealedProperty
from ..core.packet import Property
from ..runner.asking import Opener
from ..runner.claims import Answer


@dataclass(frozen=True)
class Programs:
    """What one property is asked about: the judged program, and null controls by name."""

    judged: Opener
    controls: Mapping[str, Opener]


@dataclass(frozen=True)
class Judged:
    """A property's row, its programs, and its answers to the fixtures that it did not answer True to."""

    row: Property
    programs: Programs | None = None
    wrong: Mapping[str, Answer] = field(default_factory=dict)


def properties(
    manifest: Manifest,
    files: Mapping[str, bytes],
    programs_of: Callable[[SealedProperty, bytes], Programs],
) -> Iterator[Judged]:
    """Judges every listed property; `files` are the plain files of the sealed folder."""
    intact = {
        item.id: files[item.path]
        for item in manifest.fixtures
        if item.path in files and hashlib.sha256(files[item.path]).hexdigest() == item.sha256
    }
    for item in manifest.properties:
        inputs = {f.id: intact[f.id] for f in manifest.fixtures_of(item) if f.id in intact}
        complaint = _complaint(manifest, item, files.get(item.path), inputs)
        if complaint:
            yield Judged(Property(item.id, False, (), False, complaint, in_process=item.in_process))
        else:
            yield _judge(item, inputs, programs_of(item, files[item.path]))


def failed_elsewhere(row: Property, patch: Opener, base: Opener, inputs: Mapping[str, bytes]) -> Property:
    """The row of a property that holds here, after it was asked once more in another envelope.

    A fixture fails there when the property is true of the base and not of the patch.
    """
    wrong = [id for id, answer in _answers(patch, inputs).items() if answer.kind != "true"]
    right = {id for id, answer in _answers(base, inputs).items() if answer.kind == "true"} if wrong else set()
    failed = tuple(id for id in wrong if id in right)
    return replace(row, ok=False, failed_fixtures=failed, note="in another envelope") if failed else row


def _complaint(
    manifest: Manifest, item: SealedProperty, source: bytes | None, inputs: Mapping[str, bytes]
) -> str:
    """Why a property must not run; empty when nothing is wrong with it."""
    if source is None:
        return "is missing"
    if not item.sha256:
        return "was never sealed"
    if hashlib.sha256(source).hexdigest() != item.sha256:
        return "has other bytes than were sealed"
    if not inputs or len(inputs) < len(manifest.fixtures_of(item)):
        return "has a fixture that is not what was sealed" if manifest.fixtures_of(item) else "has no fixture"
    return ""


def _judge(item: SealedProperty, inputs: Mapping[str, bytes], programs: Programs) -> Judged:
    answers = _answers(programs.judged, inputs)
    wrong = {id: answer for id, answer in answers.items() if answer.kind != "true"}
    note = next((short_note(answer) for answer in wrong.values() if answer.kind != "false"), "")
    row = Property(
        id=item.id,
        ran=not note,
        failed_fixtures=tuple(id for id in wrong if id),
        ok=not wrong,
        note=note,
        accepts=accepted(programs.controls, inputs),
        in_process=item.in_process,
    )
    return Judged(row, programs, wrong)


def _answers(opened: Opener, inputs: Mapping[str, bytes]) -> dict[str, Answer]:
    """The answers by fixture, up to the first that is none; that of no fixture says why it does not load."""
    answers = {}
    with opened() as ask:
        if isinstance(ask, Answer):
            return {"": ask}
        for id, answer in zip(inputs, ask(inputs.values()), strict=False):
            answers[id] = answer
            if answers[id].kind not in ("true", "false"):
                break
    return answers


def accepted(controls: Mapping[str, Opener], inputs: Mapping[str, bytes]) -> tuple[str, ...]:
    """The null controls if the property accepts every one of them, else nothing: one rejection is enough."""
    return tuple(controls) if all(_holds(opened, inputs) for opened in controls.values()) else ()


def _holds(opened: Opener, inputs: Mapping[str, bytes]) -> bool:
    with opened() as ask:
        return not isinstance(ask, Answer) and all(answer.kind == "true" for answer in ask(inputs.values()))


def short_note(answer: Answer) -> str:
    """How a property did not answer, without what an exception says: that may be text of a fixture."""
    return "returned None" if answer.kind == "none" else answer.note.partition(":")[0] or answer.kind
