"""The replay lane with replayers that follow a script: every branch, drift of the patch told from the machine's."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from oracle_gate.core.canonical import Digested
from oracle_gate.core.corpus import Row
from oracle_gate.core.observation import Status
from oracle_gate.core.packet import ReplayRow
from oracle_gate.lanes.replay import Pinned, Replayers, replay
from oracle_gate.runner.trial import Trial

GOOD, BAD, OTHER = "a" * 64, "b" * 64, "c" * 64


@dataclass
class Scripted:
    """Gives the results of its script, row by row; the last one of a row is repeated.

    A result is a digest, or the status of a row that misbehaves. `asked` lists the rows, `closed` counts.
    """

    script: Mapping[str, Sequence[str]] = field(default_factory=dict)
    noise: dict[str, int] = field(default_factory=dict)
    frames: dict[str, tuple[tuple[str, bytes], ...]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    started: list[Generator[Trial, None, None]] = field(default_factory=list)
    closed: int = 0

    def run(self, rows: Iterable[Row], *, frames: bool = False) -> Generator[Trial, None, None]:
        self.started.append(self._trials(rows, frames))  # kept: only an explicit end ends it
        return self.started[-1]

    def _trials(self, rows: Iterable[Row], frames: bool) -> Generator[Trial, None, None]:
        try:
            for row in rows:
                self.asked.append(row.id)
                yield self.trial(row, frames)
        finally:
            self.closed += 1

    def trial(self, row: Row, frames: bool) -> Trial:
        script = self.script.get(row.id, (GOOD,))
        result = script[min(self.asked.count(row.id), len(script)) - 1]
        if len(result) not in (0, 64):
            statuses: dict[str, Status] = {
                "timeout": "timeout",
                "flood": "output_limit",
                "left": "left_process",
            }
            return Trial(row, statuses[result])
        emptied = result == ""
        digested = Digested(result or GOOD, self.noise.get(row.id, 0), frozenset(), emptied, False, False)
        return Trial(row, "exited", canonical=digested, frames=self.frames.get(row.id, ()) if frames else ())


def rows(*ids: str) -> list[Row]:
    return [Row(name, ("program",), line=number) for number, name in enumerate(ids, 1)]


def pinned(*ids: str, **noise: int) -> Pinned:
    return Pinned(dict.fromkeys(ids, GOOD), noise)


def judged(
    patch: Mapping[str, Sequence[str]], again: Mapping[str, Sequence[str]] | None = None,
    base: Mapping[str, Sequence[str]] | None = None,
) -> list[ReplayRow]:  # fmt: skip
    """The rows a to e, all pinned to GOOD."""
    replayers = Replayers(Scripted(patch), Scripted(patch if again is None else again), Scripted(base or {}))
    return list(replay(rows(*"abcde"), pinned(*"abcde"), replayers))


def statuses(found: Iterable[ReplayRow]) -> str:
    return " ".join(row.status for row in found)


def test_rows_that_give_their_pins_match_and_the_base_is_not_asked() -> None:
    patch, base = Scripted(), Scripted()
    found = list(replay(rows("b", "a"), pinned("a", "b"), Replayers(patch, Scripted(), base)))
    assert found == [ReplayRow("b", "match", GOOD, GOOD), ReplayRow("a", "match", GOOD, GOOD)]
    assert (patch.asked, base.asked) == (["b", "a"], [])


def test_a_steady_other_result_is_drift() -> None:
    found = judged({"b": [BAD]})
    assert statuses(found) == "match drift match match match"
    assert (found[1].expected, found[1].observed) == (GOOD, BAD)


def test_a_base_that_misses_its_own_pin_is_the_machines_fault() -> None:
    found = judged({"b": [BAD]}, base={"b": [BAD]})
    assert statuses(found) == "match base_mismatch match match match"
    assert found[1].detail == "the base gives another digest"
    found = judged({"b": [BAD], "c": ["timeout"]}, base={"b": [OTHER], "c": ["timeout"]})
    assert statuses(found) == "match base_mismatch base_mismatch match match"
    assert found[2].detail == "the base misbehaves: timeout"


def test_a_patch_that_wavers_over_a_steady_base_is_unstable() -> None:
    base = Scripted()
    replayers = Replayers(Scripted({"a": [BAD]}), Scripted({"a": [OTHER]}), base)
    found = list(replay(rows("a"), pinned("a"), replayers))
    assert statuses(found) == "unstable"
    assert base.asked == ["a"] * 4  # once to tell drift from the machine's, three times for its steadiness
    assert statuses(judged({"a": [BAD]}, again={"a": [GOOD]})) == "unstable match match match match"
    assert statuses(judged({"a": ["timeout"]}, again={"a": [BAD]})) == "unstable match match match match"
    assert statuses(judged({"a": [BAD]}, again={"a": ["left"]})) == "unstable match match match match"


@pytest.mark.parametrize("wavers_at", [2, 3, 4])
def test_a_base_that_wavers_as_well_is_the_machines_fault(wavers_at: int) -> None:
    base = [GOOD] * (wavers_at - 1) + [BAD]
    found = judged({"a": [BAD]}, again={"a": [OTHER]}, base={"a": base})
    assert statuses(found) == "base_mismatch match match match match"
    assert "now one result, now another" in found[0].detail


def test_misbehaviour_is_named() -> None:
    found = judged({"b": ["flood"]})
    assert statuses(found) == "match misbehaved match match match"
    assert (found[1].detail, found[1].observed) == ("output_limit", "")


@pytest.mark.parametrize("bad", ["timeout", "flood", "left"])
def test_after_two_misbehaving_rows_the_rest_is_not_run(bad: str) -> None:
    patch = Scripted({"b": [bad], "c": [bad]})
    replayers = Replayers(patch, Scripted({"b": [bad], "c": [bad]}), Scripted())
    found = list(replay(rows(*"abcde"), pinned(*"abcde"), replayers))
    assert statuses(found) == "match misbehaved misbehaved not_run not_run"
    assert patch.asked == ["a", "b", "c"]
    assert patch.closed == 1
    assert [row.expected for row in found] == [GOOD] * 5


def test_rows_that_the_base_misbehaves_on_do_not_stop_the_rest() -> None:
    hang = {"a": ["timeout"], "b": ["timeout"], "d": ["timeout"]}
    assert statuses(judged(hang, base={"a": ["timeout"], "b": ["timeout"]})) == (
        "base_mismatch base_mismatch match misbehaved match"
    )


def test_drift_does_not_stop_the_rest() -> None:
    assert statuses(judged(dict.fromkeys("abcde", (BAD,)))) == "drift drift drift drift drift"


def test_rows_without_a_pin_are_not_run_and_pins_without_a_row_are_told() -> None:
    patch = Scripted()
    replayers = Replayers(patch, Scripted(), Scripted())
    found = list(replay(rows("new", "a", "newer"), pinned("z", "a", "gone"), replayers))
    assert [(row.id, row.status) for row in found] == [
        ("new", "unpinned"), ("a", "match"), ("newer", "unpinned"), ("gone", "missing"), ("z", "missing"),
    ]  # fmt: skip
    assert patch.asked == ["a"]
    assert found[3].expected == GOOD


def test_unpinned_rows_stay_in_their_place_when_the_rest_is_not_run() -> None:
    bad = {"a": ["timeout"], "b": ["timeout"]}
    replayers = Replayers(Scripted(bad), Scripted(bad), Scripted())
    found = list(replay(rows("a", "b", "new", "c"), pinned(*"abc"), replayers))
    assert [(row.id, row.status) for row in found] == [
        ("a", "misbehaved"), ("b", "misbehaved"), ("new", "unpinned"), ("c", "not_run"),
    ]  # fmt: skip


def test_no_rows_and_no_pins() -> None:
    replayers = Replayers(Scripted(), Scripted(), Scripted())
    assert list(replay([], pinned(), replayers)) == []
    assert statuses(replay([], pinned("a"), replayers)) == "missing"


def test_another_number_of_noise_lines_is_told_on_a_match_alone() -> None:
    patch = Scripted({"c": [BAD]}, noise={"a": 3, "b": 1, "c": 9})
    found = list(replay(rows(*"abcd"), pinned(*"abcd", b=1, d=2), Replayers(patch, patch, Scripted())))
    assert [(row.status, row.noise) for row in found] == [
        ("match", "0 -> 3"), ("match", ""), ("drift", ""), ("match", "2 -> 0"),
    ]  # fmt: skip


def test_output_that_is_noise_alone_gives_no_pin() -> None:
    found = judged({"a": [""]})
    assert (found[0].status, found[0].observed) == ("drift", "")
    assert "noise" in found[0].detail


def diff(base: dict[str, bytes], patch: dict[str, bytes]) -> tuple[str, ...]:
    again = Scripted({"a": [BAD]}, frames={"a": tuple(patch.items())})
    replayers = Replayers(Scripted({"a": [BAD]}), again, Scripted(frames={"a": tuple(base.items())}))
    return next(replay(rows("a"), pinned("a"), replayers)).diff


def test_the_diff_shows_the_frames_that_differ_base_against_patch() -> None:
    base = {
        "exit": b"0",
        "stdout": b"expected 6 but found 8\n",
        "stderr": b"same\n",
    }
    patch = {
        "exit": b"1",
        "stdout": b"expected 6but found 8\n",
        "stderr": b"same\n",
        "file": b"new",
    }
    assert diff(base, patch) == (
        "--- base exit", "+++ patch exit", "@@ -1 +1 @@", "-0", "+1",
        "--- base stdout", "+++ patch stdout", "@@ -1,2 +1,2 @@", "-expected 6 but found 8", "+expected 6but found 8",
        " ", "--- base file", "+++ patch file", "@@ -0,0 +1 @@", "+new",
    )  # fmt: skip


def test_a_file_that_is_empty_is_told_from_no_file() -> None:
    created = 'file created file "y"'
    assert diff({}, {created: b""}) == (f"--- base {created}", f"+++ patch {created}", "@@ -0,0 +1 @@", "+")
    assert diff({created: b"x"}, {})[2:] == ("@@ -1 +0,0 @@", "-x")
    assert diff({created: b""}, {created: b""}) == ()


def test_the_diff_is_bounded_and_printable() -> None:
    shown = diff({"stdout": b"x" * 5000 + b"\n" + b"\n".join(b"%d" % n for n in range(9000))},
                 {"stdout": b"\x1b[31m\xff\xe2\x80\xae\0" + b"y" * 60000})  # fmt: skip
    assert len(shown) == 41
    assert re.fullmatch(r"… \d+ more lines", shown[-1])
    assert max(map(len, shown)) == 201
    assert all(line.isprintable() for line in shown)
    red = diff({"stdout": b"a"}, {"stdout": b"\x1b[31m\xff\xe2\x80\xae\r"})
    assert red[-1] == r"+\x1b[31m\xff\u202e\r"
