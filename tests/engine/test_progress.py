"""Long work says how far it is, on a terminal alone, and leaves nothing of that behind."""

from __future__ import annotations

import json

from support.engine import Outcome, record, run_engine
from support.gate import Gate
from support.gitenv import commit_all
from support.quick import ROWS, rows_text

CLEAR = "\r\x1b[K"


def shown(done: Outcome) -> list[str]:
    """The lines that replaced each other; the last thing on a screen must have been cleared."""
    before, *lines = done.stderr.split(CLEAR)
    assert before == ""
    assert lines[-1] == "" or lines[-1].endswith("\n")
    return lines


def test_a_judgement_counts_its_rows(quick: Gate) -> None:
    quick.edit("src/prog.sh", "esac", "esac # as before")
    done = run_engine(quick.root, "judge", screen=True)
    lines = shown(done)
    assert lines[0] == "judging: sandbox"
    assert [line for line in lines if "rep" in line] == [
        "judging: replay", *(f"judging: replay: {number} of 4" for number in (1, 2, 3, 4)),
    ]  # fmt: skip
    assert "judging: public" in lines
    assert (done.code, "judging" in done.stdout) == (0, False)
    assert run_engine(quick.root, "judge", "--quiet", screen=True).stderr == ""
    assert run_engine(quick.root, "judge").stderr == ""


def test_an_error_stands_on_its_own_line(quick: Gate) -> None:
    quick.edit("oracle/gate.toml", 'require = "plain"', 'require = "plain"\n[service]\nargv = "x"')
    commit_all(quick.root, "Broken settings")
    lines = shown(run_engine(quick.root, "judge", screen=True))
    assert lines[-1].startswith("gate: oracle/gate.toml")


def test_record_counts_its_runs(quick: Gate) -> None:
    quick.write("corpus/inputs.jsonl", rows_text(*ROWS[:2]))
    quick.write("oracle/digests.json", json.dumps({}))
    quick.write("oracle/provenance.json", json.dumps({}))
    commit_all(quick.root, "Not armed")
    done = record(quick.root, screen=True)
    assert done.code == 0, done.stderr
    lines = shown(done)
    for run in (
        "first run",
        "second run",
        "with another hash seed",
        "in another envelope",
        "without the program",
    ):
        assert [line for line in lines if line.startswith(run)] == [f"{run}: 1 of 2", f"{run}: 2 of 2"]
