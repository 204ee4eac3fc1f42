"""Every kind of repository: it is judged, or one line says what it lacks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.engine import run_engine
from support.gate import Gate, copy_repository, run_gate
from support.gitenv import commit_all, git, make_repository
from support.quick import make_quick, record

HONEST = ("README.md", "quick", "fast")
#: A name as rude as a file system allows: space, LF, letters of two bytes, a line separator, a byte of no text.
RUDE = "sp ace\nl\u00edne\u2028" + os.fsdecode(b"\xff")


def clone(source: Path, destination: Path, *options: str) -> Gate:
    """A clone without the environment of .gate; the quick repository needs none."""
    git(destination.parent, "clone", "--quiet", "--template=", *options, source.as_uri(), str(destination))
    return Gate(destination)


@pytest.fixture
def patch(quick: Gate) -> bytes:
    quick.edit(*HONEST)
    return quick.cut_patch()


def one_line(done: object, said: str) -> None:
    """Exit 2 and one line on stderr that begins so and goes on with what to do."""
    code = getattr(done, "returncode", getattr(done, "code", None))
    stderr = str(getattr(done, "stderr", ""))
    assert code == 2, stderr
    assert stderr.startswith(f"gate: {said}"), stderr
    assert stderr.count("\n") == 1
    assert stderr.endswith("\n")
    assert "; " in stderr


def test_a_shallow_clone(quick: Gate, patch: bytes, tmp_path: Path) -> None:
    shallow = clone(quick.root, tmp_path / "shallow", "--depth=1")
    assert (shallow.root / ".git/shallow").is_file()
    assert shallow.judge_patch(patch, check=0)["verdict"] == "eligible"
    git(shallow.root, "switch", "--quiet", "--create", "topic")
    shallow.edit(*HONEST)
    commit_all(shallow.root, "Topic")
    assert run_engine(shallow.root, "judge", "--head", "topic", base="main").code == 0


def test_a_head_that_a_shallow_clone_cut_off(quick: Gate, tmp_path: Path) -> None:
    """An edit that a later commit reverts would go unseen in a history that is cut."""
    git(quick.root, "switch", "--quiet", "--create", "topic")
    quick.edit("oracle/denylist.txt", "oracle/\n", "")
    commit_all(quick.root, "Edit")
    git(quick.root, "revert", "--no-edit", "HEAD")
    git(quick.root, "switch", "--quiet", "main")
    shallow = clone(quick.root, tmp_path / "shallow", "--depth=1", "--no-single-branch")
    words = ("judge", "--head", "origin/topic")
    one_line(run_engine(shallow.root, *words, base="main"), "the history of --head is cut off; ")
    git(shallow.root, "fetch", "--quiet", "--unshallow")
    assert run_engine(shallow.root, *words, base="main").code == 1
    assert Gate(shallow.root).packet()["denylist"]["hits"][0]["subject"] == "oracle/denylist.txt"


def test_missing_commits_are_no_silence(quick: Gate) -> None:
    """Without the commit in between, git lists none at all; that must not read as an empty change."""
    git(quick.root, "switch", "--quiet", "--create", "topic")
    lost = [commit_all(quick.root, f"Commit {number}") for number in range(3)][1]
    (quick.root / ".git/objects" / lost[:2] / lost[2:]).unlink()
    one_line(
        run_engine(quick.root, "judge", "--head", "topic", base="main"), "the history of --head is cut off; "
    )


def test_a_bare_repository(quick: Gate, patch: bytes, tmp_path: Path) -> None:
    bare = clone(quick.root, tmp_path / "bare.git", "--bare").root
    base = git(bare, "rev-parse", "HEAD").decode().strip()
    (tmp_path / "p.patch").write_bytes(patch)
    out = tmp_path / "out/packet.json"
    words = ("--repo", str(bare), "--base", base, "--out", str(out))
    quick.run("judge", *words, "--patch", str(tmp_path / "p.patch"), check=0)
    assert b'"trust": "protected"' in out.read_bytes()
    assert {path.name for path in bare.iterdir()} == {
        "HEAD", "config", "objects", "packed-refs", "refs",
    }  # fmt: skip
    for command in ("judge", "record", "replay"):
        one_line(run_engine(bare, command), f"{bare}: a bare repository has no work tree; ")


def test_a_linked_work_tree(quick: Gate, tmp_path: Path) -> None:
    linked = Gate(tmp_path / "linked")
    git(quick.root, "worktree", "add", "--quiet", "--detach", str(linked.root))
    linked.edit(*HONEST)
    packet = linked.judge(check=0)
    assert [change["path"] for change in packet["changes"]] == ["README.md"]
    assert not (quick.root / ".gate/merge_packet.json").exists()


def test_a_submodule_checkout(quick: Gate, tmp_path: Path) -> None:
    outer = make_repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(quick.root), "inner")
    inner = Gate(outer / "inner")
    assert (inner.root / ".git").is_file()
    inner.edit(*HONEST)
    packet = inner.judge(check=0)
    assert [change["path"] for change in packet["changes"]] == ["README.md"]


def test_another_default_branch_and_no_remote(quick: Gate) -> None:
    """The only local branch is the base, whatever bytes its name is of; of two, neither."""
    git(quick.root, "branch", "--move", "main", os.fsdecode(b"d\xe9velop\xe2\x80\xa8"))
    quick.edit(*HONEST)
    packet = quick.judge(check=0)
    assert packet["base_from"].startswith("merge base with refs/heads/d")
    git(quick.root, "branch", "other")
    one_line(quick.run("judge"), "no base: no origin/HEAD, main, master or trunk here; pass --base REF")


def test_a_remote_with_another_default_branch(quick: Gate, tmp_path: Path) -> None:
    git(quick.root, "branch", "--move", "main", "develop")
    cloned = clone(quick.root, tmp_path / "clone")
    git(cloned.root, "switch", "--quiet", "--create", "topic")
    cloned.edit(*HONEST)
    commit_all(cloned.root, "Topic")
    packet = cloned.judge(check=0)
    assert packet["base_from"] == "merge base with refs/remotes/origin/HEAD"
    assert [change["path"] for change in packet["changes"]] == ["README.md"]


def test_a_sha256_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "--template=", "repository")
    quick = make_quick(tmp_path / "repository")
    record(quick)
    quick.edit(*HONEST)
    packet = quick.judge(check=0)
    assert len(packet["parent_sha"]) == len(packet["tree_after"]) == 64
    by_patch = quick.judge_patch(quick.cut_patch(), check=0)
    assert by_patch["change_id"] == packet["change_id"]


def test_rude_names(quick_source: Path, tmp_path: Path) -> None:
    """The repository's own folder, and files that stand in its base, are called whatever they like."""
    quick = copy_repository(quick_source, tmp_path / RUDE)
    (quick.root / "src" / RUDE).write_text("x\n")
    (quick.root / "src" / RUDE.replace("sp ace", "caf\u00e9")).mkdir()
    commit_all(quick.root, "Rude names")
    quick.edit(*HONEST)
    assert quick.judge(check=0)["verdict"] == "eligible"
    patch = quick.cut_patch()
    assert quick.judge_patch(patch, "--json", check=0)["verdict"] == "eligible"
    (quick.root / "src" / RUDE).write_text("y\n")
    done = quick.run("judge", "--verbose", check=1, env={"LC_ALL": "C"})
    assert "src/sp ace\\nl" in done.stdout
    assert "\u2028" not in done.stdout


#: Settings that the bootstrap looks into by itself, before the engine reads them strictly.
REFS = {
    "[base]\nref = 5\n": "oracle/gate.toml:2: base.ref is not a string; ",
    '[base]\nref = ["main"]\n': "oracle/gate.toml:2: base.ref is not a string; ",
    "base = 1\n": "oracle/gate.toml:1: base is not an object; ",
    "x = " + "[" * 100_000: "oracle/gate.toml:1: not TOML: ",
    '[base]\nref = "a\\u0000b"\n': "no base: no a b here; ",
    '[base]\nref = "two\\nlines"\n': "no base: no two lines here; ",
    '[base]\nref = "--help"\n': "no base: no --help here; ",
}


def test_a_base_ref_of_any_kind(quick: Gate) -> None:
    for settings, said in REFS.items():
        (quick.root / "oracle/gate.toml").write_text(settings)
        commit_all(quick.root, "Settings")
        one_line(quick.run("judge"), said)


def test_what_the_bootstrap_needs(quick: Gate, tmp_path: Path) -> None:
    script = quick.root / "tools/gate.py"
    one_line(quick.run("judge", env={"PATH": str(tmp_path)}), "git: No such file or directory; ")
    one_line(
        run_gate(script, "judge", "--repo", str(tmp_path / "absent")), f"{tmp_path}/absent: No such file"
    )
    one_line(run_gate(script, "judge", "--repo", str(tmp_path)), f"{tmp_path}: not a git repository; ")
    one_line(quick.run("judge", "--base", "no\nsuch"), "--base no such: no such commit; fetch it")
    empty = make_repository(tmp_path / "empty")
    one_line(run_gate(script, "judge", "--repo", str(empty)), f"{empty}: no readable commit; ")
    commit_all(empty, "Nothing")
    one_line(run_gate(script, "judge", "--repo", str(empty)), "base ")
