"""What a patched program can do to a row, seen through the command line and the packet."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from support.engine import run_engine
from support.gate import Gate
from support.gitenv import commit_all, git
from support.quick import PROGRAM, ROWS, rows_text

UPPER, COUNT = "upper) tr a-z A-Z ;;", """count) wc -l < "$2" | tr -d ' ' ;;"""


def judged(quick: Gate, code: int, *words: str) -> dict[str, dict[str, Any]]:
    """Judges the work tree without a sandbox; the packet's rows by id."""
    done = run_engine(quick.root, "judge", "--sandbox", "plain", *words)
    assert (done.code, done.stderr) == (code, ""), done
    return {row["id"]: row for row in quick.packet()["replay"]}


def statuses(rows: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: row["status"] for name, row in rows.items()}


def rules(quick: Gate) -> dict[str, int]:
    found: dict[str, int] = {}
    for reason in quick.packet()["reasons"]:
        found[reason["rule"]] = found.get(reason["rule"], 0) + 1
    return found


@pytest.fixture
def short(quick: Gate) -> Gate:
    """A base with little patience: 2 seconds and 64 KiB a row."""
    quick.edit("oracle/gate.toml", "workers = 2", "workers = 2\ntimeout_s = 2\noutput_bytes = 65536")
    commit_all(quick.root, "Short limits")
    return quick


def test_drift_is_shown_on_its_rows_alone(quick: Gate) -> None:
    quick.edit("src/prog.sh", UPPER, "upper) tr a-z A-Z; echo more ;;")
    rows = judged(quick, 1)
    assert statuses(rows) == {"upper": "drift", "count": "match", "write": "match", "upper-more": "drift"}
    assert rules(quick) == {"replay.drift": 2}
    assert rows["upper"]["diff"] == [
        "--- base stdout",
        "+++ patch stdout",
        "@@ -1,2 +1,3 @@",
        " ABC",
        "+more",
        " ",
    ]
    assert rows["upper"]["expected"] != rows["upper"]["observed"] != ""


def test_drift_of_a_file_of_an_exit_code_and_of_stderr(quick: Gate) -> None:
    quick.edit("src/prog.sh", "> out.txt", "> out2.txt")
    quick.edit("src/prog.sh", UPPER, "upper) tr a-z A-Z; exit 3 ;;")
    quick.edit("src/prog.sh", COUNT, COUNT.replace("count)", "count) echo oops >&2;"))
    rows = judged(quick, 1)
    assert set(statuses(rows).values()) == {"drift"}
    assert rows["upper"]["diff"] == ["--- base exit", "+++ patch exit", "@@ -1 +1 @@", "-0", "+3"]
    assert '+++ patch file created file "out2.txt"' in rows["write"]["diff"]
    assert rows["count"]["diff"][:2] == ["--- base stderr", "+++ patch stderr"]


def test_a_diff_is_bounded(quick: Gate) -> None:
    quick.edit("src/prog.sh", UPPER, "upper) i=0; while [ $i -lt 900 ]; do echo line $i; i=$((i+1)); done ;;")
    quick.edit("src/prog.sh", COUNT, "count) printf '%05000d' 0; printf '\\033[2J\\377' ;;")
    rows = judged(quick, 1)
    assert len(rows["upper"]["diff"]) == 41
    assert rows["upper"]["diff"][-1].endswith("more lines")
    assert max(map(len, rows["count"]["diff"])) == 201
    assert all(line.isprintable() for row in rows.values() for line in row["diff"])


def test_what_wavers_is_unstable(quick: Gate) -> None:
    quick.edit("src/prog.sh", UPPER, "upper) tr a-z A-Z; date +%s%N ;;")
    assert statuses(judged(quick, 1)) == {
        "upper": "unstable", "count": "match", "write": "match", "upper-more": "unstable",
    }  # fmt: skip
    assert rules(quick) == {"replay.unstable": 2}


def test_two_rows_that_hang_stop_the_rest(short: Gate) -> None:
    short.edit(
        "src/prog.sh", PROGRAM.splitlines()[1], 'case "$1" in upper|count) sleep 60 ;; esac\ncase "$1" in'
    )
    start = time.monotonic()
    rows = judged(short, 1)
    assert statuses(rows) == {
        "upper": "misbehaved",
        "count": "misbehaved",
        "write": "not_run",
        "upper-more": "not_run",
    }
    assert {rows["upper"]["detail"], rows["count"]["detail"]} == {"timeout"}
    assert rules(short) == {"replay.misbehaved": 2}
    assert time.monotonic() - start < 50


def test_one_row_that_floods_does_not_stop_the_rest(short: Gate) -> None:
    short.edit("src/prog.sh", COUNT, "count) yes ;;")
    rows = judged(short, 1)
    assert statuses(rows) == {
        "upper": "match",
        "count": "misbehaved",
        "write": "match",
        "upper-more": "match",
    }
    assert rows["count"]["detail"] == "output_limit"


def test_a_process_that_outlives_its_row_is_ended(quick: Gate, tmp_path: Path) -> None:
    quick.edit("src/prog.sh", COUNT, f"count) sleep 300 & echo $! >> {tmp_path}/pids; {COUNT[6:]}")
    rows = judged(quick, 1)
    assert (rows["count"]["status"], rows["count"]["detail"]) == ("misbehaved", "left_process")
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    for pid in pids:
        state = Path(f"/proc/{pid}/stat")
        assert not state.exists() or "sleep" not in state.read_text()


def test_a_program_that_writes_to_its_tree_misbehaves(quick: Gate) -> None:
    """Its result, and what ran after it in that tree, does not count; the work tree is untouched."""
    quick.edit("src/prog.sh", COUNT, f"count) chmod u+w src; echo x > src/planted; {COUNT[6:]}")
    rows = judged(quick, 1)
    assert statuses(rows) == {
        "upper": "match",
        "count": "misbehaved",
        "write": "match",
        "upper-more": "match",
    }
    assert rows["count"]["detail"] == "changed_tree"
    assert not (quick.root / "src/planted").exists()


def test_a_base_that_misses_its_pin_holds_and_is_told_from_drift(quick: Gate) -> None:
    """The digest was changed on the base; the same patch drifts on another row."""
    pins = json.loads((quick.root / "oracle/digests.json").read_bytes())
    quick.write("oracle/digests.json", json.dumps({**pins, "count": "0" * 64}))
    commit_all(quick.root, "A pin by hand")
    quick.edit("README.md", "quick", "changed")
    rows = judged(quick, 4)
    assert statuses(rows) == {
        "upper": "match",
        "count": "base_mismatch",
        "write": "match",
        "upper-more": "match",
    }
    assert rules(quick) == {"replay.base_mismatch": 1}
    quick.edit("src/prog.sh", UPPER, "upper) tr a-w A-W ;;")
    quick.edit("src/prog.sh", COUNT, COUNT.replace("wc -l", "wc -c"))
    assert statuses(judged(quick, 1)) == {
        "upper": "match", "count": "base_mismatch", "write": "match", "upper-more": "drift",
    }  # fmt: skip


def test_a_self_check_finds_a_base_that_does_not_give_its_pins(quick: Gate) -> None:
    quick.edit("src/prog.sh", UPPER, "upper) cat ;;")
    commit_all(quick.root, "Drift on the base")
    assert statuses(judged(quick, 4))["upper"] == "base_mismatch"
    assert quick.packet()["mode"] == "self-check"


def test_a_base_that_is_not_deterministic_holds(quick: Gate) -> None:
    quick.edit("src/prog.sh", UPPER, "upper) date +%s%N ;;")
    commit_all(quick.root, "A random base")
    quick.edit("README.md", "quick", "changed")
    assert statuses(judged(quick, 4)) == {
        "upper": "base_mismatch", "count": "match", "write": "match", "upper-more": "base_mismatch",
    }  # fmt: skip


def test_another_number_of_noise_lines_is_to_be_inspected(quick: Gate) -> None:
    quick.write("oracle/noise.txt", "^took [0-9]+ ms$\n")
    commit_all(quick.root, "Noise")
    quick.edit("src/prog.sh", UPPER, "upper) tr a-z A-Z; echo took 3 ms ;;")
    rows = judged(quick, 5)
    assert (rows["upper"]["status"], rows["upper"]["noise"]) == ("match", "0 -> 1")
    assert rules(quick) == {"noise.changed": 2}


def test_rows_do_not_see_the_callers_environment(quick: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "GITHUB_ACTIONS",
        "COLORTERM",
        "FORCE_COLOR",
        "PYTHONPATH",
        "SECRET_TOKEN",
        "HOME",
        "LD_LIBRARY_PATH",
    ):
        monkeypatch.setenv(name, "/nothing")
    quick.edit("src/prog.sh", UPPER, "upper) env; pwd; id -u >/dev/null; tr a-z A-Z ;;")
    rows = judged(quick, 1)
    shown = "\n".join(rows["upper"]["diff"])
    assert rows["upper"]["status"] == "drift"
    for hidden in (
        "GITHUB_ACTIONS",
        "COLORTERM",
        "SECRET_TOKEN",
        "/nothing",
        str(quick.root),
        os.environ["PATH"],
    ):
        assert hidden not in shown
    for given in (
        "+LC_ALL=C.UTF-8",
        "+TZ=UTC",
        "+COLUMNS=80",
        "+NO_COLOR=1",
        "+TERM=dumb",
        "+$ROOT",
        "+SOURCE_DATE_EPOCH=0",
    ):
        assert given in shown


def test_replay_compares_and_gives_no_verdict(quick: Gate) -> None:
    quick.edit("src/prog.sh", UPPER, "upper) cat ;;")
    done = run_engine(quick.root, "replay")
    assert done.code == 1
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["differs", "upper"], ["match", "count"], ["match", "write"], ["differs", "upper-more"],
    ]  # fmt: skip
    assert run_engine(quick.root, "replay", "--tree", "HEAD").code == 0
    git(quick.root, "worktree", "add", "--quiet", "--detach", str(quick.root.parent / "other"))
    assert run_engine(quick.root, "replay", "--tree", str(quick.root.parent / "other")).code == 0
    quick.write("corpus/inputs.jsonl", rows_text(*ROWS, {"id": "new", "argv": ["src/prog.sh"]}))
    commit_all(quick.root, "A row")
    assert "unpinned  new" in run_engine(quick.root, "replay", "--tree", "HEAD~1").stdout
    assert not (quick.root / ".gate/merge_packet.json").exists()


def test_replay_names_no_row_under_ci_unless_asked(quick: Gate) -> None:
    quick.edit("src/prog.sh", "a-z A-Z", "a-y A-Y")
    done = quick.run("replay", env={"CI": "true"}, check=0)
    assert done.stdout == "4 match\n"
    quick.edit("src/prog.sh", "upper) tr a-y A-Y ;;", "upper) cat ;;")
    assert quick.run("replay", env={"CI": "true"}, check=1).stdout == "2 differs, 2 match\n"
    assert "upper-more" in quick.run("replay", "--verbose", env={"CI": "true"}, check=1).stdout
