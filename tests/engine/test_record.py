"""record pins all rows or none: what it refuses, what it asks, and that a refusal leaves no trace."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from support.engine import Outcome, run_engine, state
from support.engine import record as record_now
from support.gate import REVIEWER, Gate
from support.gitenv import commit_all, git, git_env
from support.quick import ROWS, rows_text

DIGESTS, PROVENANCE, ROWS_FILE = "oracle/digests.json", "oracle/provenance.json", "corpus/inputs.jsonl"


@pytest.fixture
def unarmed(quick: Gate) -> Gate:
    """The quick repository before its first pins."""
    quick.write(DIGESTS, "{}\n")
    quick.write(PROVENANCE, "{}\n")
    commit_all(quick.root, "Unarmed")
    return quick


def untouched(root: Path) -> dict[str, tuple[bytes, int]]:
    return state(root / "oracle") | state(root / "corpus")


def refused(gate: Gate, run: Callable[[], Outcome], code: int, said: str) -> Outcome:
    """Runs, and demands this refusal, whose last line says this, and that nothing has moved."""
    before = untouched(gate.root)
    done = run()
    assert done.code == code, done
    assert untouched(gate.root) == before
    assert said in done.stderr.splitlines()[-1]
    assert all(line.startswith("gate: ") for line in done.stderr.splitlines())
    return done


def test_pins_and_where_they_come_from(unarmed: Gate, quick_source: Path) -> None:
    done = record_now(unarmed.root)
    assert done.code == 0, done
    assert done.stdout.startswith("record: pinned 4 row(s), 0 reproduced")
    assert "allowed_signers is empty" in done.stderr
    pins = json.loads((unarmed.root / DIGESTS).read_bytes())
    assert pins == json.loads((quick_source / DIGESTS).read_bytes())
    assert pins.keys() == {row["id"] for row in ROWS}
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in pins.values())
    made = json.loads((unarmed.root / PROVENANCE).read_bytes())
    assert made["base"] == git(unarmed.root, "rev-parse", "HEAD").decode().strip()
    assert (made["canonical"], made["reviewer"]) == ("canonical-v1", REVIEWER)
    assert made["python"] == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert made["corpus_sha256"] == run_engine(unarmed.root, "record", "--print-digest").stdout.strip()
    assert git(unarmed.root, "status", "--porcelain").split() == [
        b"M",
        DIGESTS.encode(),
        b"M",
        PROVENANCE.encode(),
    ]


def test_the_printed_digest_is_that_of_the_corpus_alone(unarmed: Gate) -> None:
    first = run_engine(unarmed.root, "record", "--print-digest")
    assert (first.code, first.stderr) == (0, "")
    unarmed.write("oracle/noise.txt", "# other\n")
    assert run_engine(unarmed.root, "record", "--print-digest").stdout == first.stdout
    (unarmed.root / "corpus/data/text").chmod(0o755)
    other = run_engine(unarmed.root, "record", "--print-digest").stdout
    assert re.fullmatch("[0-9a-f]{64}\n", other)
    assert other != first.stdout
    assert untouched(unarmed.root)[DIGESTS.partition("/")[2]][0] == b"{}\n"


def test_an_armed_oracle_is_not_recorded_again(quick: Gate) -> None:
    refused(quick, lambda: record_now(quick.root), 2, f"{DIGESTS}: already has pins; ")


@pytest.mark.parametrize("kept", [{}, {"upper": "0" * 64}])
@pytest.mark.parametrize("words", [(), ("--add",)])
def test_a_deleted_pin_is_not_measured_anew(
    quick: Gate, kept: dict[str, str], words: tuple[str, ...]
) -> None:
    """Else emptying the file by hand would re-pin what a patch changed."""
    quick.write(DIGESTS, json.dumps(kept))
    fitting = bool(kept) == bool(words)
    gone = sorted(str(row["id"]) for row in ROWS if row["id"] not in kept)
    said = f"{DIGESTS}: pins of HEAD are gone: {', '.join(gone)}; " if fitting else DIGESTS
    refused(quick, lambda: record_now(quick.root, *words), 2, said)


@pytest.mark.parametrize("value", ["true", "1", "false"])
def test_ci_records_nothing(unarmed: Gate, value: str) -> None:
    """avajs/ava#1585, r-lib/testthat#1461: a new row in CI fails and leaves the oracle as it is."""
    before = untouched(unarmed.root)
    done = unarmed.run(
        "record", "--reviewed-by", REVIEWER, "--corpus-sha256", "0" * 64, env={"CI": value}, check=2
    )
    assert done.stderr.startswith("gate: CI is set; ")
    assert done.stderr.count("\n") == 1
    assert untouched(unarmed.root) == before


@pytest.mark.parametrize(
    "reviewer", ["", "A B", "<a@b.example>", "A B <a.b.example>", "A B <a@b> <c@d>", "A\nB <a@b>", " <a@b>"]
)
def test_no_pin_without_a_reviewer(unarmed: Gate, reviewer: str) -> None:
    digest = run_engine(unarmed.root, "record", "--print-digest").stdout.strip()
    words = ["record", "--corpus-sha256", digest, *(["--reviewed-by", reviewer] if reviewer else [])]
    refused(unarmed, lambda: run_engine(unarmed.root, *words), 2, "no reviewer; pass --reviewed-by")


def test_no_pin_without_a_review(unarmed: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal the digest of what was reviewed stands for the review."""
    digest = run_engine(unarmed.root, "record", "--print-digest").stdout.strip()
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        words = ("record", "--reviewed-by", REVIEWER)
        done = refused(unarmed, lambda: run_engine(unarmed.root, *words), 2, f"pass --corpus-sha256 {digest}")
    assert [line.split("\t")[0] for line in done.stdout.splitlines()[:4]] == [row["id"] for row in ROWS]
    assert done.stdout.splitlines()[4] == f"corpus digest {digest}"
    stated = (*words, "--corpus-sha256", digest)
    unarmed.write("corpus/data/text", "changed after the review\n")
    refused(unarmed, lambda: run_engine(unarmed.root, *stated), 2, f"not {digest}; review it again")


def test_a_row_cannot_hide_from_its_reviewer(unarmed: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    with_row(unarmed, {"id": "bad", "argv": ["rm", "-rf", "\x1b[2K\r\u202egpj.x\n"]})
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        shown = run_engine(unarmed.root, "record", "--reviewed-by", REVIEWER).stdout
    assert r"bad	rm -rf \x1b[2K\r\u202egpj.x\n	auto" in shown.splitlines()


def answered(gate: Gate, answer: bytes) -> tuple[int, str]:
    """Runs record on a terminal and answers its question; exit code and everything shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(gate.root / "tools/gate.py"), "record", "--reviewed-by", REVIEWER],
        env=git_env(), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown, end = b"", time.monotonic() + 120
    try:
        while b"[y/N]" not in shown and time.monotonic() < end:
            shown += os.read(ours, 4096)
        os.write(ours, answer)
        while time.monotonic() < end:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            shown += piece
            if not piece:
                break
        return process.wait(60), shown.decode()
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.parametrize(
    ("answer", "code"), [(b"y\n", 0), (b"n\n", 2), (b"\n", 2), (b"\x04", 2)], ids=["y", "n", "enter", "end"]
)
def test_a_human_at_a_terminal_is_asked(unarmed: Gate, answer: bytes, code: int) -> None:
    before = untouched(unarmed.root)
    found, shown = answered(unarmed, answer)
    assert found == code, shown
    assert "Traceback" not in shown
    assert "upper-more\tsrc/prog.sh upper\tauto" in shown
    assert (untouched(unarmed.root) == before) is (code != 0)
    assert ("gate: not confirmed; nothing was pinned" in shown) is (code != 0)


def test_a_tree_that_differs_from_head_is_not_recorded(unarmed: Gate) -> None:
    """Pins are of a commit's program: one that is nowhere cannot be the base."""
    edits: list[Callable[[], None]] = [
        lambda: unarmed.edit("src/prog.sh", "esac", "esac #"), lambda: unarmed.write("new.txt", "x"),
        lambda: unarmed.write("tools/oracle_gate/x.pyc", "x"), lambda: (unarmed.root / "README.md").unlink(),
    ]  # fmt: skip
    for edit in edits:
        edit()
        refused(unarmed, lambda: record_now(unarmed.root), 2, "the work tree differs from HEAD in ")
        git(unarmed.root, "clean", "--quiet", "-fdx", "tools", "new.txt")
        git(unarmed.root, "reset", "--quiet", "--hard")
    unarmed.write(".gate/x", "x")
    unarmed.write("src/x.pyc", "ignored")
    unarmed.write("oracle/notes.md", "x")
    assert record_now(unarmed.root).code == 0


def test_links_in_the_corpus_are_not_recorded(unarmed: Gate) -> None:
    (unarmed.root / "corpus/data/link").symlink_to("text")
    refused(unarmed, lambda: record_now(unarmed.root), 2, "corpus/data/link: is a symbolic link")


def with_row(gate: Gate, row: Mapping[str, object]) -> None:
    gate.write(ROWS_FILE, rows_text(*ROWS, row))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"argv": ["no-such-program"]}, "misbehaving:bad: no_program"),
        ({"argv": ["src/absent.sh"]}, "misbehaving:bad: no_program"),
        ({"argv": ["sleep", "20"], "timeout_s": 0.2}, "misbehaving:bad: timeout"),
        ({"argv": ["sh", "-c", "sleep 20 & . src/prog.sh"]}, "misbehaving:bad: left_process"),
        ({"argv": ["sh", "-c", "cat src/prog.sh; date +%N; echo $$"]}, "unstable:bad: "),
        ({"argv": ["echo", "constant"]}, "inert:bad: "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_row_that_is_no_evidence_pins_nothing(unarmed: Gate, row: dict[str, object], said: str) -> None:
    with_row(unarmed, {"id": "bad", **row})
    done = refused(unarmed, lambda: record_now(unarmed.root), 4, "nothing was pinned")
    assert f"gate: {ROWS_FILE}:5: {said}" in done.stderr


def test_no_rows_no_pins(unarmed: Gate) -> None:
    unarmed.write(ROWS_FILE, "\n\n")
    refused(unarmed, lambda: record_now(unarmed.root), 2, f"{ROWS_FILE}: has no row; ")


def test_a_disk_that_fills_leaves_whole_files(unarmed: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    before = untouched(unarmed.root)
    replace, calls = Path.replace, []

    def fails_later(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) > 1:
            raise OSError(28, "No space left on device", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fails_later)
    done = record_now(unarmed.root)
    assert done.code == 2
    assert "No space left on device" in done.stderr
    assert len(calls) == 2
    after = untouched(unarmed.root)
    assert after.keys() == before.keys()  # nothing written aside is left
    assert after["digests.json"] == before["digests.json"]
    # Provenance without its pins says nothing: the oracle is as unarmed as before.
    monkeypatch.undo()
    assert run_engine(unarmed.root, "judge").code == 4


def test_added_rows_are_pinned_when_all_others_reproduce(quick: Gate) -> None:
    pins = json.loads((quick.root / DIGESTS).read_bytes())
    with_row(quick, {"id": "new", "argv": ["src/prog.sh", "upper"], "stdin": "new\n"})
    done = record_now(quick.root, "--add")
    assert (done.code, done.stdout.split(";")[0]) == (0, "record: pinned 1 row(s), 4 reproduced")
    found = json.loads((quick.root / DIGESTS).read_bytes())
    assert found.pop("new")
    assert found == pins
    refused(quick, lambda: record_now(quick.root, "--add"), 2, "every row has a pin")
    found["upper"] = "0" * 64
    quick.write(DIGESTS, json.dumps(found))
    done = refused(quick, lambda: record_now(quick.root, "--add"), 4, "nothing was pinned")
    assert f"gate: {ROWS_FILE}:1: moved:upper: misses its pin" in done.stderr


def test_pins_of_removed_rows_are_dropped_by_name(quick: Gate) -> None:
    quick.write(ROWS_FILE, rows_text(*ROWS[1:]))
    refused(quick, lambda: record_now(quick.root, "--add"), 2, "pins without a row: upper; pass --remove")
    refused(quick, lambda: record_now(quick.root, "--remove", "count"), 2, "'count' still has a row")
    refused(quick, lambda: record_now(quick.root, "--remove", "absent"), 2, "'absent' has no pin")
    assert record_now(quick.root, "--remove", "upper").code == 0
    assert json.loads((quick.root / DIGESTS).read_bytes()).keys() == {"count", "write", "upper-more"}


def test_amending_needs_pins(unarmed: Gate) -> None:
    refused(unarmed, lambda: record_now(unarmed.root, "--add"), 2, f"{DIGESTS}: has no pins yet; ")
