"""One edit, delivered in every way there is, is one change with one verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.gate import Gate, run_gate
from support.gitenv import commit_all, git

COMPARED = ("change_id", "changes", "verdict", "reasons", "tree_before", "tree_after", "replay", "parent_sha")


def edit(tree: Path) -> None:
    """Changes a file, its mode, adds one, deletes one; behaves as before."""
    program = tree / "src/prog.sh"
    program.write_text(program.read_text() + "# as before\n")
    (tree / "src/new").mkdir()
    (tree / "src/new/h\u00e9lper.sh").write_text("#!/bin/sh\n")
    (tree / "src/new/h\u00e9lper.sh").chmod(0o755)
    (tree / "README.md").unlink()


def denied_edit(tree: Path) -> None:
    edit(tree)
    (tree / "corpus/data/more").write_text("x\n")
    (tree / "oracle/notes.pyc").write_text("ignored by .gitignore, and denied\n")


def unstaged(tree: Path) -> None:
    git(tree, "add", "--intent-to-add", "--force", "src/new")


def untracked(tree: Path) -> None:
    git(tree, "reset", "--quiet")


def staged(tree: Path) -> None:
    git(tree, "add", "--all", "--force", ".", ":!.gate")


def committed(tree: Path) -> None:
    staged(tree)
    git(tree, "commit", "--quiet", "--message", "Edit")
    commit_all(tree, "An empty commit on top")


WAYS = [unstaged, untracked, staged, committed]


def summary(packet: dict[str, Any]) -> dict[str, Any]:
    return {name: packet[name] for name in COMPARED}


@pytest.mark.parametrize(
    ("make", "verdict", "code"), [(edit, "eligible", 0), (denied_edit, "block", 1)], ids=["honest", "denied"]
)
def test_base_dir_and_patched_dir(
    quick: Gate, tmp_path: Path, make: Callable[[Path], None], verdict: str, code: int
) -> None:
    """`replay_gate.py BASE_DIR PATCHED_DIR` with two work trees of one repository (article A)."""
    found = []
    for number, way in enumerate(WAYS):
        patched = tmp_path / f"patched-{number}"
        git(quick.root, "worktree", "add", "--quiet", "--detach", str(patched))
        make(patched)
        way(patched)
        run_gate(quick.root / "tools/replay_gate.py", str(quick.root), str(patched), check=code)
        found.append(summary(quick.packet()))
        assert found[-1] == found[0], way.__name__
    paths = {change["path"]: change["status"] for change in found[0]["changes"]}
    expected = {"src/prog.sh": "M", "src/new/h\u00e9lper.sh": "A", "README.md": "D"}
    if make is denied_edit:
        expected |= {"corpus/data/more": "A", "oracle/notes.pyc": "A"}
        assert {reason["subject"] for reason in found[0]["reasons"]} == {
            "corpus/data/more",
            "oracle/notes.pyc",
        }
    assert (paths, found[0]["verdict"]) == (expected, verdict)


def test_work_tree_patch_branch_and_mailbox_agree(quick: Gate) -> None:
    edit(quick.root)
    git(quick.root, "switch", "--quiet", "--create", "topic")
    by_tree = quick.judge(check=0)
    committed(quick.root)
    by_branch = quick.judge(check=0)
    by_head = quick.judge("--head", "topic", "--base", "main", check=0)
    patch = git(quick.root, "diff", "--binary", "--full-index", "main", "topic")
    mails = git(quick.root, "format-patch", "--binary", "--full-index", "--stdout", "main..topic")
    by_patch = quick.judge_patch(patch, "--base", "main", check=0)
    by_mail = quick.judge_patch(mails, "--base", "main", check=0)
    assert by_branch["base_from"] == "merge base with refs/heads/main"
    assert [packet["mode"] for packet in (by_tree, by_branch, by_head, by_patch, by_mail)] == [
        "work-tree", "work-tree", "head", "patch", "patch",
    ]  # fmt: skip
    for packet in (by_branch, by_head, by_patch, by_mail):
        assert summary(packet) == summary(by_tree)
    assert by_patch["patch_sha256"] != by_mail["patch_sha256"] != ""
    assert by_tree["patch_sha256"] == ""


def test_usage(quick: Gate, tmp_path: Path) -> None:
    script = quick.root / "tools/replay_gate.py"
    none = run_gate(script, check=2)
    assert (none.stdout, none.stderr.count("\n")) == ("", 1)
    assert none.stderr.startswith("gate: usage: replay_gate.py BASE_DIR PATCHED_DIR")
    assert run_gate(script, "--help", check=0).stdout.startswith("usage: replay_gate.py BASE_DIR PATCHED_DIR")
    for words, complaint in (
        ([str(quick.root)], "unrecognized arguments"),
        ([str(quick.root), str(quick.root), "x"], "unrecognized arguments"),
        ([str(quick.root), str(tmp_path / "absent")], "no such folder"),
        ([str(tmp_path / "absent"), str(quick.root)], "absent"),
        ([str(tmp_path), str(quick.root)], "not a git repository"),
    ):
        done = run_gate(script, *words, check=2)
        assert complaint in done.stderr
        assert done.stderr.startswith("gate: ")
        assert done.stderr.count("\n") == 1


def test_options_reach_judge(quick: Gate) -> None:
    done = run_gate(quick.root / "tools/replay_gate.py", "--json", check=0)
    assert '"verdict": "none"' in done.stdout
