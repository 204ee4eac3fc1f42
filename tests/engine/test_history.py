"""oracle/approvals/ as the history of every behaviour change, in `report --history` and in report.html."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from oracle_gate.core.history import Past
from oracle_gate.core.statements import FOLDER, Repinned, Statement
from oracle_gate.render import html
from support.approving import NEW, OLD, Keys, make_keys, put
from support.engine import run_engine
from support.gate import Gate
from support.gitenv import commit_all, git, git_env
from support.reported import HOSTILE, packet

DRIFT = Statement("drift", "Counts bytes", "c" * 64, ids={"count": Repinned(OLD, NEW)})
ACCEPT = Statement("accept", "Two tests were one\x1b[31m", "c" * 64, rules=("tests.lost",))


def commit(root: Path, day: str) -> None:
    git(root, "add", "--all")
    dated = git_env() | {"GIT_COMMITTER_DATE": f"{day}T23:30:00-02:00"}
    subprocess.run(["git", "commit", "--quiet", "-m", "A statement"], cwd=root, env=dated, check=True)


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return make_keys(tmp_path / "keys")


def test_the_history_of_a_repository(quick: Gate, keys: Keys) -> None:
    assert run_engine(quick.root, "report", "--history").stdout == ""
    put(quick.root, DRIFT, keys)
    commit(quick.root, "2026-02-03")
    put(quick.root, ACCEPT, keys)
    quick.write(f"{FOLDER}{'0' * 16}.json", "{}\n")
    commit(quick.root, "2026-03-04")
    commit_all(quick.root, "Something else")
    quick.run("report", "--history", check=0)
    lines = run_engine(quick.root, "report", "--history").stdout.splitlines()
    # In UTC it was the day after; the newest first.
    assert sorted(lines[:2]) == [
        f"2026-03-05 {'0' * 16} cannot be read",
        f"2026-03-05 {ACCEPT.name} accept tests.lost: Two tests were one\\x1b[31m",
    ]
    assert lines[2:] == [f"2026-02-04 {DRIFT.name} drift count aaaaaaaa -> bbbbbbbb: Counts bytes"]
    quick.edit("README.md", "quick", "quicker")
    run_engine(quick.root, "judge")
    page = (quick.root / ".gate/report.html").read_text(encoding="utf-8")
    assert "drift count aaaaaaaa -&gt; bbbbbbbb: Counts bytes" in page
    for name in ("report.md", "junit.xml", "packet.public.json"):
        assert "Counts bytes" not in (quick.root / ".gate" / name).read_text(encoding="utf-8")
    stored = str(quick.root / ".gate/merge_packet.json")
    done = quick.run("report", stored, "--format", "html", check=0)
    assert done.stdout == page


def test_a_shallow_clone_knows_no_day(quick: Gate, keys: Keys, tmp_path: Path) -> None:
    put(quick.root, DRIFT, keys)
    commit(quick.root, "2026-02-03")
    commit_all(quick.root, "Something else")
    git(tmp_path, "clone", "--quiet", "--depth=1", quick.root.as_uri(), "shallow")
    [line] = run_engine(tmp_path / "shallow", "report", "--history").stdout.splitlines()
    assert line == f"before     {DRIFT.name} drift count aaaaaaaa -> bbbbbbbb: Counts bytes"


def test_a_packet_or_the_history(quick: Gate) -> None:
    for words in ([], ["--history", "packet.json"]):
        done = run_engine(quick.root, "report", *words)
        assert (done.code, done.stderr.count("\n")) == (2, 1)


def test_a_long_and_hostile_history() -> None:
    past = Past("", HOSTILE, Statement("accept", HOSTILE, "c" * 64, rules=(HOSTILE,)))
    page = html.render(packet(), [past] * 60)
    assert "<script" not in page
    assert page.count("before <code>") == 50
    assert "10 more, see `report --history`" in page
