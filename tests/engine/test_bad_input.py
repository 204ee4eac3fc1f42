"""Requests that make no sense end in one line and exit 2; an oracle that does not fit together never passes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.engine import Outcome, run_engine, state
from support.gate import Gate
from support.gitenv import commit_all
from support.patch_forms import edit, new
from support.quick import ROWS, rows_text

ROWS_FILE, DIGESTS = "corpus/inputs.jsonl", "oracle/digests.json"


def one_line(done: Outcome, said: str) -> None:
    assert done.code == 2, done
    assert done.stdout == ""
    assert done.stderr.startswith("gate: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert "; " in done.stderr  # what to do


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["jugde"], "invalid choice: 'jugde'"),
        (["judge", "--pach", "x"], "unrecognized arguments: --pach x"),
        (["judge", "x"], "unrecognized arguments: x"),
        (["judge", "--patch", "/proc/nothing/x.patch"], "/proc/nothing/x.patch: No such file or directory"),
        (["judge", "--patch", "/"], "/: Is a directory"),
        (["judge", "--patch", "x", "--tree", "y"], "not allowed with argument"),
        (["judge", "--tree", "/proc/nothing"], "/proc/nothing: no such folder"),
        (["judge", "--head", "nonsense"], "--head nonsense is no commit here"),
        (["judge", "--workers", "0"], "argument --workers"),
        (["judge", "--workers", "-1"], "argument --workers"),
        (["judge", "--workers", "many"], "argument --workers"),
        (["judge", "--workers", "65"], "argument --workers"),
        (["judge", "--now", "yesterday"], "argument --now"),
        (["judge", "--sandbox", "weak"], "argument --sandbox"),
        (["judge", "--approval", "/proc/nothing"], "/proc/nothing"),
        (["replay", "--tree", "nonsense"], "'nonsense' is neither a folder nor a commit here"),
        (["explain", "replay.nonsense"], "no rule 'replay.nonsense'"),
        (["verdict", "/proc/nothing"], "/proc/nothing: No such file or directory"),
        (["record", "--add"], "no reviewer"),
    ],
)
def test_a_request_that_makes_no_sense(quick: Gate, words: Sequence[str], said: str) -> None:
    before = state(quick.root / "oracle")
    one_line(run_engine(quick.root, *words), said)
    assert state(quick.root / "oracle") == before
    assert not (quick.root / ".gate/merge_packet.json").exists()


@pytest.mark.parametrize(
    ("patch", "detail"),
    [
        (b"no diff at all\n", "holds no diff"),
        (
            edit("README.md", "quick", "x")[: -len("+x\n")],
            "line 6 hunk that is not as long as its header says",
        ),
        (edit("README.md", "not there", "x"), "README.md: patch does not apply"),
        (new("src/x").partition(b"@@")[0] + b"@@ -0,0", "line 6 hunk header that cannot be read"),
        (b"\x00\xff\xfe" * 50, "holds no diff"),
    ],
)
def test_a_patch_that_cannot_be_read_blocks(quick: Gate, tmp_path: Path, patch: bytes, detail: str) -> None:
    file = tmp_path / "x.patch"
    file.write_bytes(patch)
    done = run_engine(quick.root, "judge", "--patch", str(file))
    assert (done.code, done.stderr) == (1, "")
    packet = quick.packet()
    assert {reason["rule"] for reason in packet["reasons"]} == {"intake.rejected"}
    assert any(detail in f"{reason['subject']} {reason['detail']}" for reason in packet["reasons"]), packet[
        "reasons"
    ]
    assert packet["replay"] == []


def verdict(quick: Gate, code: int) -> dict[str, list[str]]:
    """The reasons' rules with their subjects, when README.md has changed."""
    (quick.root / "README.md").write_text("changed\n")
    done = run_engine(quick.root, "judge")
    assert (done.code, done.stderr) == (code, "")
    found: dict[str, list[str]] = {}
    for reason in quick.packet()["reasons"]:
        found.setdefault(reason["rule"], []).append(reason["subject"])
    return found


def test_a_row_without_a_pin_holds(quick: Gate) -> None:
    quick.write(ROWS_FILE, rows_text(*ROWS, {"id": "new", "argv": ["src/prog.sh"]}))
    commit_all(quick.root, "A row by hand")
    assert verdict(quick, 4) == {"replay.unpinned": ["new"], "replay.stale_pins": ["oracle/provenance.json"]}
    statuses = {row["id"]: row["status"] for row in quick.packet()["replay"]}
    assert (statuses["new"], statuses["upper"]) == ("unpinned", "match")


def test_a_pin_without_a_row_blocks(quick: Gate) -> None:
    quick.write(ROWS_FILE, rows_text(*ROWS[1:]))
    commit_all(quick.root, "A row less")
    assert verdict(quick, 1) == {"replay.missing": ["upper"], "replay.stale_pins": ["oracle/provenance.json"]}


def test_no_row_at_all_blocks(quick: Gate) -> None:
    quick.write(ROWS_FILE, "")
    commit_all(quick.root, "No rows")
    assert verdict(quick, 1).keys() == {"replay.missing", "replay.stale_pins", "replay.empty"}


def test_an_unarmed_base_holds_and_runs_nothing(quick: Gate) -> None:
    quick.write(DIGESTS, "{}\n")
    quick.edit("src/prog.sh", "esac", "esac; exit 3")
    commit_all(quick.root, "Unarmed")
    assert verdict(quick, 4) == {"oracle.unarmed": [DIGESTS]}
    assert quick.packet()["replay"] == []


def test_a_denylist_of_comments_holds(quick: Gate) -> None:
    quick.write("oracle/denylist.txt", "# nothing\n")
    commit_all(quick.root, "Nothing is denied")
    assert verdict(quick, 4) == {"oracle.vacuous": ["oracle/denylist.txt"]}
    quick.write("corpus/data/x", "still denied")
    assert "denylist.hit" in verdict(quick, 1)


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"canonical": "canonical-v0"}, "canonical form canonical-v0"),
        ({"corpus_sha256": "0" * 64}, "another corpus digest"),
        (None, "provenance.json is empty"),
    ],
)
def test_pins_of_another_corpus_or_form_hold(quick: Gate, change: dict[str, str] | None, detail: str) -> None:
    file = quick.root / "oracle/provenance.json"
    made = json.loads(file.read_bytes())
    file.write_text(json.dumps({} if change is None else {**made, **change}))
    commit_all(quick.root, "Other provenance")
    assert verdict(quick, 4) == {"replay.stale_pins": ["oracle/provenance.json"]}
    assert quick.packet()["stale_pins"] == [detail]


def test_pins_of_another_machine_are_a_warning(quick: Gate) -> None:
    file = quick.root / "oracle/provenance.json"
    file.write_text(json.dumps({**json.loads(file.read_bytes()), "platform": "plan9-mips", "python": "3.99"}))
    commit_all(quick.root, "Made elsewhere")
    done = run_engine(quick.root, "judge")
    assert done.code == 0
    assert done.stderr.startswith("gate: warning: pins were recorded on plan9-mips, Python 3.99; this is ")
    assert done.stderr.count("\n") == 1


def test_a_corpus_file_that_is_missing_is_named_with_its_row(quick: Gate) -> None:
    (quick.root / "corpus/data/text").unlink()
    commit_all(quick.root, "No data")
    one_line(
        run_engine(quick.root, "judge"),
        f"{ROWS_FILE}:3: row 'write' names corpus/data/text, which is no file",
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"id": "upper", "argv": ["x"]}', "5: duplicate id 'upper', first on line 1"),
        ('{"id": "x", "argv": ["x"], "argv": ["y"]}', "5: duplicate key 'argv'"),
        ('{"id": "x", "argv": ["x"], "time": 3}', "5: unknown key 'time'"),
        ('{"id": "x", "argv": "x"}', "5: argv is not a list"),
        ('\n\n{"id": "x", "argv": [""]}', "7: needs one of"),
        (
            '{"id": "x", "argv": ["x"], "stdin": "a", "stdin_file": "corpus/data/text"}',
            "5: stdin and stdin_file",
        ),
        (
            '{"id": "x", "argv": ["x"], "files": {"../a": "corpus/data/text"}}',
            "5: '../a' is not a path inside",
        ),
        (
            '{"id": "x", "argv": ["x"], "stdin_file": "oracle/digests.json"}',
            "5: 'oracle/digests.json' is not a data file below corpus/",
        ),
        ('{"id": "x", "argv": ["x"], "timeout_s": 1e9}', "5: timeout_s is not between 0 and 3600"),
        ('{"id": "x", "argv": ["a\\u0000b"]}', "5: argv"),
        ('{"id": "x", "argv": ["\\ud800"]}', "5: "),
        ('{"id": "x", "argv": ["x"], "env": {"A=B": ""}}', "5: env"),
    ],
)
def test_a_bad_row_is_named_with_its_line(quick: Gate, row: str, said: str) -> None:
    with (quick.root / ROWS_FILE).open("a") as file:
        file.write(row + "\n")
    commit_all(quick.root, "A bad row")
    one_line(run_engine(quick.root, "judge"), f"{ROWS_FILE}:{said}")
