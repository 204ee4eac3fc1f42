"""The replay lane: do pinned inputs still give the same observable results? (article A; design, section 7)"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from ..core.corpus import Row
from ..core.packet import ReplayRow, ReplayStatus
from ..runner.trial import Replayer, Trial

#: After so many misbehaving rows that the base passes, the rest is not run: bad patches hang.
_ENOUGH = 2
#: Bounds of the diff shown to the human: lines, characters a line.
_DIFF_LINES, _DIFF_WIDTH = 40, 200


def replay(
    rows: Sequence[Row], pins: Mapping[str, str], patch: Replayer, base: Replayer
) -> Iterator[ReplayRow]:
    """The rows in corpus order, then the pins that have no row any more."""
    pinned = [row for row in rows if row.id in pins]
    judged = _judge_all(pinned, pins, patch, base)
    for row in rows:
        yield next(judged) if row.id in pins else ReplayRow(row.id, "unpinned")
    for missing in sorted(pins.keys() - {row.id for row in rows}):
        yield ReplayRow(missing, "missing", expected=pins[missing])


def _judge_all(
    rows: list[Row], pins: Mapping[str, str], patch: Replayer, base: Replayer
) -> Iterator[ReplayRow]:
    misbehaved = position = 0
    with closing(patch.run(rows)) as trials:
        for position, trial in enumerate(trials, 1):
            judged = _judge(trial, pins[trial.row.id], patch, base)
            misbehaved += judged.status == "misbehaved"
            yield judged
            if misbehaved == _ENOUGH:
                break
    for row in rows[position:]:
        yield ReplayRow(row.id, "not_run", expected=pins[row.id])


def _judge(trial: Trial, expected: str, patch: Replayer, base: Replayer) -> ReplayRow:
    """Tells a drift of the patch from a drift of the machine."""
    row = trial.row

    def outcome(status: ReplayStatus, detail: str = "", diff: tuple[str, ...] = ()) -> ReplayRow:
        return ReplayRow(row.id, status, expected, trial.digest, detail, diff)

    pinned = ("exited", expected)
    if trial.result == pinned:
        return outcome("match")
    on_base = _once(base, row)
    if on_base.result != pinned:
        return outcome("base_mismatch", f"the base {_describe(on_base)}")
    again = _once(patch, row)
    if again.result != trial.result:
        wavers = any(_once(base, row).result != pinned for _ in range(3))
        if wavers:
            return outcome("base_mismatch", "the base gives now one result, now another")
        return outcome("unstable", "two runs of the patch differ, the base is steady", _diff(on_base, again))
    if trial.status != "exited":
        return outcome("misbehaved", trial.status)
    return outcome("drift", "", _diff(on_base, again))


def _once(replayer: Replayer, row: Row) -> Trial:
    with closing(replayer.run([row], frames=True)) as trials:
        return next(trials)


def _describe(trial: Trial) -> str:
    return "gives another digest" if trial.status == "exited" else f"misbehaves: {trial.status}"


def _diff(base: Trial, patch: Trial) -> tuple[str, ...]:
    """A bounded line diff of the canonical frames, base against patch."""
    before, after = dict(base.frames), dict(patch.frames)
    lines: list[str] = []
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name, b""), after.get(name, b"")
        if old != new or (name in before) != (name in after):
            lines += difflib.unified_diff(
                _lines(old), _lines(new), f"base {name}", f"patch {name}", n=1, lineterm=""
            )
    if len(lines) > _DIFF_LINES:
        lines = [*lines[:_DIFF_LINES], f"… {len(lines) - _DIFF_LINES} more lines"]
    return tuple(line if len(line) <= _DIFF_WIDTH else line[:_DIFF_WIDTH] + "…" for line in lines)


def _lines(data: bytes) -> list[str]:
    """Printable lines; what is not UTF-8 or not printable is escaped."""
    text = data.decode("utf-8", "backslashreplace")
    shown = ("".join(c if c.isprintable() else repr(c)[1:-1] for c in line) for line in text.split("\n"))
    return list(shown)
