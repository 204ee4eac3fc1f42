"""Counterexamples of sealed properties: shrunk bytes on the replay host, and nowhere else (article B)."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ..core.decode import to_json
from ..core.packet import Property
from ..lanes.properties import Judged, short_note
from ..runner.asking import Ask, Opener
from ..runner.claims import Answer
from .output import refuse_links, write_whole
from .shrink import shrink


def clear(folder: Path) -> None:
    """Removes the counterexamples of an earlier run."""
    refuse_links(folder)
    shutil.rmtree(folder, ignore_errors=True)


def write_counterexample(
    folder: Path, judged: Judged, inputs: Mapping[str, bytes], base: Opener, deadline: float
) -> Property:
    """The property's row, with the name of the file that now holds its first failing fixture, shrunk.

    Raises GateError when a component of `folder` is a link.
    """
    failed = judged.row.failed_fixtures
    if judged.programs is None or not failed:  # nothing was asked
        return judged.row
    answer, data = judged.wrong[failed[0]], inputs[failed[0]]
    shrunk = _shrunk(data, answer, judged.programs.judged, base, deadline)
    refuse_links(folder)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{len(list(folder.glob('*.bin'))) + 1:03}"
    facts = {"property": judged.row.id, "fixture": failed[0], "answer": answer.kind, "note": answer.note,
             "failed_fixtures": failed, "fixture_bytes": len(data), "shrunk_bytes": len(shrunk)}  # fmt: skip
    write_whole(folder / f"{name}.bin", shrunk)
    write_whole(folder / f"{name}.json", to_json(facts))
    return replace(judged.row, counterexample=f"{name}.bin")


def _shrunk(data: bytes, answer: Answer, judged: Opener, base: Opener, deadline: float) -> bytes:
    """Leaves out what the same answer does not need; while the base answers True, it has to go on so."""
    if answer.kind in ("crashed", "timeout"):
        return data  # each further try would cost a process or a time limit
    with ExitStack() as stack:
        ask, ask_base = stack.enter_context(judged()), stack.enter_context(base())
        if isinstance(ask, Answer) or isinstance(ask_base, Answer):
            return data
        base_is_true = _is_true(ask_base, data)

        def fails(rest: bytes) -> bool:
            told = next(ask([rest]))
            same = (told.kind, short_note(told)) == (answer.kind, short_note(answer))
            return same and (not base_is_true or _is_true(ask_base, rest))

        return shrink(data, fails, deadline)


def _is_true(ask: Ask, data: bytes) -> bool:
    return next(ask([data])).kind == "true"
