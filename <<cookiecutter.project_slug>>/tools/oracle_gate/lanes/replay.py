"""The replay lane: do pinned inputs still give the same observable results? (article A; design, section 7)"""

from __future__ import annotations

import dataclasses
import difflib
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from ..core.corpus import Row
from ..core.packet import ReplayRow, ReplayStatus
from ..runner.trial import Replayer, Trial

#: After so many misbehaving rows that the base passes, the rest is not run: bad patches hang.
_ENOUGH = 2
#: Rows that run again in another envelope: this many, or this part of them if that is more.
_SAMPLE, _SAMPLE_PART = 3, 0.05
_ENVELOPES = ("usual", "elsewhere")
#: Bounds of the diff shown to the human: lines, characters a line.
_DIFF_LINES, _DIFF_WIDTH = 40, 200


@dataclass(frozen=True)
class Replayers:
    """The patch; the patch once more, in another tree with another worker; the base.

    `serve` is false where a service cannot be isolated: rows with a request are not run then.
    """

    patch: Replayer
    again: Replayer
    base: Replayer
    serve: bool = True


@dataclass(frozen=True)
class Pinned:
    """The pins, and how many lines noise rules dropped from each row when it was pinned."""

    digests: Mapping[str, str]
    noise_lines: Mapping[str, int]


def replay(rows: Sequence[Row], pinned: Pinned, replayers: Replayers) -> Iterator[ReplayRow]:
    """The rows in corpus order, then the pins that have no row any more."""
    pins = pinned.digests
    judged = [row for row in rows if row.id in pins and (row.request is None or replayers.serve)]
    ids = {row.id for row in judged}
    outcomes = _judge_all(judged, pinned, replayers)
    for row in rows:
        if row.id in ids:
            yield next(outcomes)
        else:
            yield ReplayRow(
                row.id, "unisolated" if row.id in pins else "unpinned", expected=pins.get(row.id, "")
            )
    for missing in sorted(pins.keys() - {row.id for row in rows}):
        yield ReplayRow(missing, "missing", expected=pins[missing])


def replay_elsewhere(
    rows: Sequence[Row],
    judged: Sequence[ReplayRow],
    excused: Collection[str],
    changed: Collection[str],
    seed: int,
    here: Replayers,
    elsewhere: Replayers,
) -> tuple[ReplayRow, ...]:
    """Rows that are right once more, by replayers in another envelope; returns all rows judged.

    A program that recognises the gate by its paths or variables gives something else there. All rows that a
    statement approved or whose pin `changed` are run, and a sample of the others. `excused` rows depend on
    the envelope by themselves, as the base says, and so do those of which the base gives something else as
    well: neither counts. A base that misbehaves there holds, as it does anywhere.
    """
    right = {item.id: item for item in judged if item.status in ("match", "approved")}
    certain = {name for name, item in right.items() if name in changed or item.status == "approved"}
    others = [row for row in rows if row.id in right.keys() - certain and row.id not in excused]
    number = min(len(others), max(_SAMPLE, round(len(others) * _SAMPLE_PART)))
    sample = random.Random(seed).sample(others, number)  # noqa: S311  (a seed that the patch does not know)
    found = {}
    for row in (*(row for row in rows if row.id in certain), *sample):
        trial, item = _once(elsewhere.patch, row), right[row.id]
        if trial.result == ("exited", item.observed):
            continue
        base = _once(elsewhere.base, row)
        usual = _once(here.base, row).result if row.id in certain else ("exited", item.expected)
        if base.status != "exited" or base.result == usual:
            found[row.id] = _judge_elsewhere(item, trial, base, here, elsewhere)
    return tuple(found.get(item.id, item) for item in judged)


def _judge_elsewhere(
    item: ReplayRow, trial: Trial, base: Trial, here: Replayers, elsewhere: Replayers
) -> ReplayRow:
    """A row that is right here and not there."""

    def outcome(status: ReplayStatus, detail: str, diff: tuple[str, ...] = ()) -> ReplayRow:
        detail = " ".join(filter(None, (detail, "in another envelope")))
        return ReplayRow(item.id, status, item.expected, trial.digest, detail, diff)

    if base.status != "exited":
        return outcome("base_mismatch", f"the base {_describe(base)}")
    again, usual = _once(elsewhere.again, trial.row), _once(here.again, trial.row)
    if again.result != trial.result:
        return outcome("unstable", "two runs of the patch differ", _diff(usual, again, _ENVELOPES))
    if trial.status != "exited":
        return outcome("misbehaved", trial.status)
    return outcome("drift", "", _diff(usual, again, _ENVELOPES))


def _judge_all(rows: list[Row], pinned: Pinned, replayers: Replayers) -> Iterator[ReplayRow]:
    misbehaved = done = 0
    with closing(replayers.patch.run(rows)) as trials:
        for trial in trials:
            row = trial.row.id
            judged = _judge(trial, pinned.digests[row], replayers)
            before = pinned.noise_lines.get(row, 0)
            if judged.status == "match" and trial.noise_lines != before:
                judged = dataclasses.replace(judged, noise=f"{before} -> {trial.noise_lines}")
            misbehaved += judged.status == "misbehaved"
            done += 1
            yield judged
            if misbehaved == _ENOUGH:
                break
    for left in rows[done:]:
        yield ReplayRow(left.id, "not_run", expected=pinned.digests[left.id])


def _judge(trial: Trial, expected: str, replayers: Replayers) -> ReplayRow:
    """Tells a drift of the patch from a drift of the machine (design, section 7)."""
    row, pinned = trial.row, ("exited", expected)

    def outcome(status: ReplayStatus, detail: str = "", diff: tuple[str, ...] = ()) -> ReplayRow:
        return ReplayRow(row.id, status, expected, trial.digest, detail, diff)

    if trial.result == pinned:
        return outcome("match")
    base = _once(replayers.base, row)
    if base.result != pinned:
        return outcome("base_mismatch", f"the base {_describe(base)}")
    again = _once(replayers.again, row)
    if again.result != trial.result:
        if any(_once(replayers.base, row).result != pinned for _ in range(3)):
            return outcome("base_mismatch", "the base gives now one result, now another")
        return outcome("unstable", "two runs of the patch differ, the base is steady", _diff(base, again))
    if trial.status != "exited":
        return outcome("misbehaved", trial.status)
    emptied = "noise rules drop all of a stream" if trial.digest == "" else ""
    return outcome("drift", emptied, _diff(base, again))


def _once(replayer: Replayer, row: Row) -> Trial:
    with closing(replayer.run([row], frames=True)) as trials:
        return next(trials)


def _describe(trial: Trial) -> str:
    return "gives another digest" if trial.status == "exited" else f"misbehaves: {trial.status}"


def _diff(one: Trial, other: Trial, names: tuple[str, str] = ("base", "patch")) -> tuple[str, ...]:
    """A bounded line diff of the canonical frames."""
    before, after = dict(one.frames), dict(other.frames)
    lines: list[str] = []
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        if old != new:
            lines += difflib.unified_diff(
                _lines(old), _lines(new), f"{names[0]} {name}", f"{names[1]} {name}", n=1, lineterm=""
            )
    if len(lines) > _DIFF_LINES:
        lines = [*lines[:_DIFF_LINES], f"… {len(lines) - _DIFF_LINES} more lines"]
    return tuple(line if len(line) <= _DIFF_WIDTH else line[:_DIFF_WIDTH] + "…" for line in lines)


def _lines(data: bytes | None) -> list[str]:
    """Printable lines, none of an absent frame; what is not UTF-8 or not printable is escaped."""
    if data is None:
        return []
    text = data.decode("utf-8", "backslashreplace")
    shown = ("".join(c if c.isprintable() else repr(c)[1:-1] for c in line) for line in text.split("\n"))
    return list(shown)
