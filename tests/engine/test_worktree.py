"""A work tree as a change: what is on disk counts, whatever the index, attributes or configuration say."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from oracle_gate.core.denyrules import always_denied
from oracle_gate.core.errors import GateError
from oracle_gate.core.submission import Change
from oracle_gate.core.worktree import submit_work_tree
from support.gitenv import commit_all, git
from support.objects import opened, repository, write_files

FILES: dict[str, bytes | str] = {
    "src/a.py": "a = 1\n",
    "src/run.sh": "#!/bin/sh\n",
    "src/pkg/b.py": "b = 1\n",
    "oracle/digests.json": "{}\n",
    "corpus/inputs.jsonl": "\n",
    ".gitignore": "*.pyc\n/build/\n!keep.pyc\n__pycache__/\n.gate/\n",
    "src/pkg/.gitignore": "*.log\n",
    "README.md": "text\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    repository(tmp_path / "r", FILES)
    return tmp_path / "r"


def head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").decode().strip()


def walked(root: Path, base: str = "", tree: Path | None = None) -> Change:
    """The work tree of `root`, or the folder `tree`, against `base` (HEAD)."""
    workplace = root.parent / f"workplace-{len(list(root.parent.iterdir()))}"
    workplace.mkdir()
    with opened(workplace / "store", root) as store:
        return submit_work_tree(
            store, workplace, base or head(root), tree or root, lambda path: always_denied(path, ("src",))
        )


def changes(change: Change) -> dict[bytes, str]:
    return {item.path: item.status for item in change.changed}


def test_an_untouched_tree_is_no_change(root: Path) -> None:
    change = walked(root)
    assert (change.changed, change.problems, change.touched, change.before) == ((), (), (), change.after)


def test_every_kind_of_edit_is_seen(root: Path) -> None:
    write_files(root, {"src/a.py": "a = 2\n", "src/new/deep/c.py": "c\n"})
    (root / "src/run.sh").chmod(0o755)
    (root / "README.md").unlink()
    change = walked(root)
    assert changes(change) == {
        b"src/a.py": "M",
        b"src/new/deep/c.py": "A",
        b"src/run.sh": "M",
        b"README.md": "D",
    }
    modes = {item.path: (item.before.mode, item.after.mode) for item in change.changed}
    assert modes[b"src/run.sh"] == ("100644", "100755")
    assert change.problems == ()
    assert change.touched == tuple(sorted(changes(change)))


def test_changed_blobs_are_kept_to_be_judged(root: Path, tmp_path: Path) -> None:
    (root / "src/a.py").write_text("new content\n")
    with opened(tmp_path / "s", root) as store:
        (tmp_path / "w").mkdir()
        change = submit_work_tree(store, tmp_path / "w", head(root), root, lambda _: None)
        assert store.read(change.changed[0].after.oid, "blob") == b"new content\n"
    stored = git(root, "cat-file", "--batch-all-objects", "--batch-check")
    assert change.changed[0].after.oid.encode() not in stored


def test_only_the_ignore_files_of_the_base_hide_untracked_files(root: Path) -> None:
    names = (
        "src/x.pyc",
        "build/x",
        "src/build/x",
        "keep.pyc",
        "src/__pycache__/m.py",
        "src/pkg/x.log",
        "src/x.log",
    )
    write_files(root, dict.fromkeys((*names, "src/y.tmp"), "x"))
    write_files(root, {"src/.gitignore": "*.tmp\n", ".git/info/exclude": "src/y.tmp\nsrc/x.log\n"})
    git(root, "config", "core.excludesFile", str(root / "src/.gitignore"))
    assert changes(walked(root)) == dict.fromkeys(
        [b"src/build/x", b"keep.pyc", b"src/x.log", b"src/y.tmp", b"src/.gitignore"], "A"
    )


def test_a_changed_ignore_file_hides_nothing(root: Path) -> None:
    write_files(
        root, {".gitignore": "*\n", "src/pkg/.gitignore": "", "src/evil.py": "x", "src/pkg/x.log": "x"}
    )
    assert changes(walked(root)) == {b".gitignore": "M", b"src/pkg/.gitignore": "M", b"src/evil.py": "A"}


def test_an_ignore_file_that_became_a_folder_hides_nothing(root: Path) -> None:
    (root / ".gitignore").unlink()
    (root / "src/pkg/.gitignore").unlink()
    write_files(root, {".gitignore/x.py": "x", "src/pkg/.gitignore/sub/y.py": "y", "src/x.pyc": "x"})
    assert changes(walked(root)) == {
        b".gitignore": "D", b".gitignore/x.py": "A", b"src/pkg/.gitignore": "D", b"src/pkg/.gitignore/sub/y.py": "A",
    }  # fmt: skip


def test_ignored_files_on_denied_paths_count(root: Path) -> None:
    poisoned = "tools/oracle_gate/core/__pycache__/policy.cpython-311.pyc"
    names = ["corpus/x.pyc", "corpus/__pycache__/x", "oracle/build/x.pyc", "src/sitecustomize.pyc", poisoned]
    write_files(root, dict.fromkeys([*names, "build/sitecustomize.py", "docs/corpus/x.pyc"], "x"))
    assert changes(walked(root)) == dict.fromkeys(map(str.encode, names), "A")


@pytest.mark.parametrize("place", ["staged", "committed", "committed, then out of the index", "in a clone"])
def test_ignored_files_that_are_tracked_count(root: Path, tmp_path: Path, place: str) -> None:
    """What `git add --force` made a part of the change is not untracked."""
    base, where = head(root), root
    if place == "in a clone":
        where = tmp_path / "clone"
        git(tmp_path, "clone", "--quiet", "--template=", str(root), str(where))
    write_files(where, {"src/json.pyc": "x", "build/deep/x": "x", "build/other": "x", "src/other.pyc": "x"})
    git(where, "add", "--force", "src/json.pyc", "build/deep/x")
    if place != "staged":
        git(where, "commit", "--quiet", "--message", "x")
    if "index" in place:
        git(where, "rm", "--quiet", "--cached", "-r", "src/json.pyc", "build")
    assert changes(walked(root, base, where)) == {b"src/json.pyc": "A", b"build/deep/x": "A"}


def test_the_gates_own_folder_never_counts(root: Path) -> None:
    write_files(root, {".gate/merge_packet.json": "{}", ".gate/env/x/bin/python": "x", "src/.gate/x.py": "x"})
    (root / ".gitignore").write_text("")
    git(root, "add", ".gitignore")
    commit_all(root, "Ignore nothing")
    git(root, "rm", "-r", "--quiet", "--cached", ".gate")
    git(root, "commit", "--quiet", "--message", "x")
    write_files(root, {"src/.gate/y.py": "y"})
    assert changes(walked(root)) == {b"src/.gate/y.py": "A"}
    assert always_denied(b".gate/x", ("src",))


def test_bytes_count_as_they_lie_on_disk(root: Path) -> None:
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/attributes").write_text("* text eol=crlf filter=evil\n")
    git(root, "config", "core.autocrlf", "true")
    git(root, "config", "filter.evil.clean", "touch ran; cat src/run.sh")
    git(root, "config", "core.fileMode", "false")
    (root / "src/a.py").write_bytes(b"a = 1\r\n")
    (root / "src/run.sh").chmod(0o755)
    change = walked(root)
    assert changes(change) == {b"src/a.py": "M", b"src/run.sh": "M"}
    assert not (root / "ran").exists()


def test_flags_in_the_index_hide_nothing(root: Path) -> None:
    git(root, "update-index", "--assume-unchanged", "src/a.py")
    git(root, "update-index", "--skip-worktree", "src/run.sh")
    write_files(root, {"src/a.py": "evil\n", "src/run.sh": "evil\n"})
    assert changes(walked(root)) == {b"src/a.py": "M", b"src/run.sh": "M"}


def test_a_broken_index_is_said(root: Path) -> None:
    (root / ".git/index").write_bytes(b"DIRCgarbage")
    with pytest.raises(GateError, match="index"):
        walked(root)


def test_no_index_is_no_error(root: Path) -> None:
    (root / ".git/index").unlink()
    assert walked(root).changed == ()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (b"src/new\nline", "control"), (b"src/\xff\xfe", "UTF-8"), (b"src/\xe2\x80\xaetxt.py", "bidirectional"),
        (b"-rf", "dash"), (b"src/a:b", "colon"), (b"src/ab~1", "~"), (b"src/end ", "trailing"),
        (b"src/back\\slash", "backslash"),
        (b"src/A.py", "same name as"),
    ],
)  # fmt: skip
def test_odd_names_are_seen_and_refused(root: Path, name: bytes, reason: str) -> None:
    (root / os.fsdecode(name)).touch()
    if name == b"src/A.py":
        (root / "src/a.py").write_text("changed as well\n")
    change = walked(root)
    assert changes(change)[name] == "A"
    assert [problem.rule for problem in change.problems] == ["intake.forbidden_entry"]
    assert reason in change.problems[0].detail
    assert change.problems[0].subject.isprintable()


def test_names_that_mean_something_to_git_are_names(root: Path) -> None:
    names = [":(exclude)src", ":x", "src/*", "src/[a].py", "!keep", "#note", "a b", "src/**"]
    write_files(root, dict.fromkeys([*names, ":(glob)x.pyc", "src/*.pyc"], "x"))
    assert set(changes(walked(root))) == set(map(str.encode, names))


def test_links_count_as_links(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside\n")
    (root / "src/a.py").unlink()
    (root / "src/a.py").symlink_to(tmp_path / "secret")
    (root / "src/dir").symlink_to("../oracle")
    (root / "README.md").unlink()
    (root / "README.md").symlink_to("absent")
    change = walked(root)
    assert changes(change) == {b"src/a.py": "T", b"src/dir": "A", b"README.md": "T"}
    assert {problem.detail for problem in change.problems} == {"is a symbolic link (mode 120000)"}
    assert len(change.problems) == 3


def test_files_and_folders_that_change_places(root: Path) -> None:
    (root / "src/a.py").unlink()
    write_files(root, {"src/a.py/inner.py": "x"})
    for name in (".gitignore", "b.py"):
        (root / "src/pkg" / name).unlink()
    (root / "src/pkg").rmdir()
    (root / "src/pkg").write_text("a file\n")
    assert changes(walked(root)) == {
        b"src/a.py": "D", b"src/a.py/inner.py": "A", b"src/pkg": "A", b"src/pkg/b.py": "D", b"src/pkg/.gitignore": "D",
    }  # fmt: skip


def test_special_files(root: Path) -> None:
    """A commit cannot hold them; where they matter they are refused, never opened."""
    os.mkfifo(root / "src/pipe")
    os.mkfifo(root / "oracle/pipe")
    (root / "src/a.py").unlink()
    os.mkfifo(root / "src/a.py")
    (root / "src/run.sh").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        folder = os.open(root / "src", os.O_RDONLY)
        try:
            server.bind(f"/proc/self/fd/{folder}/run.sh")
        finally:
            os.close(folder)
        change = walked(root)
    assert changes(change) == {b"src/a.py": "T", b"src/run.sh": "T", b"oracle/pipe": "A"}
    assert {problem.rule for problem in change.problems} == {"intake.forbidden_entry"}
    assert sorted(problem.subject for problem in change.problems) == ["oracle/pipe", "src/a.py", "src/run.sh"]


def test_submodules(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    first = repository(other, {"f": "1"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "lib")
    git(root, "rm", "--quiet", "--cached", ".gitmodules")
    (root / ".gitmodules").unlink()
    git(root, "commit", "--quiet", "--message", "Add a submodule")
    assert walked(root).changed == ()
    (root / "lib/f").write_text("an edit below a submodule is not the repository's\n")
    assert walked(root).changed == ()
    commit_all(root / "lib", "Moved")
    moved = walked(root)
    assert changes(moved) == {b"lib": "M"}
    assert moved.changed[0].before.oid == first
    assert [problem.detail for problem in moved.problems] == ["is a submodule (mode 160000)"]


def test_a_submodule_that_is_not_checked_out_is_no_change(root: Path, tmp_path: Path) -> None:
    oid = repository(tmp_path / "other", {"f": "1"})
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{oid},lib")
    git(root, "commit", "--quiet", "--message", "Add a submodule")
    (root / "lib").mkdir(exist_ok=True)
    assert walked(root).changed == ()
    (root / "lib").rmdir()
    assert changes(walked(root)) == {b"lib": "D"}


def test_a_repository_inside_is_refused(root: Path) -> None:
    repository(root / "src/nested", {"f": "x"})
    write_files(root, {"src/pkg/.git/hooks/x": "x"})
    change = walked(root)
    assert changes(change) == {b"src/nested": "A"}
    assert [problem.rule for problem in change.problems] == ["intake.forbidden_entry"]


def test_a_plain_folder_can_be_judged(root: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    write_files(plain, {**FILES, "src/a.py": "a = 2\n", "src/x.pyc": "ignored"})
    assert changes(walked(root, tree=plain)) == {b"src/a.py": "M"}


def test_a_linked_work_tree_has_its_own_index(root: Path, tmp_path: Path) -> None:
    base = head(root)
    linked = tmp_path / "linked"
    git(root, "worktree", "add", "--quiet", "--detach", str(linked))
    write_files(linked, {"src/x.pyc": "forced", "src/y.pyc": "ignored", "src/a.py": "a = 2\n"})
    git(linked, "add", "--force", "src/x.pyc")
    assert changes(walked(root, base, linked)) == {b"src/x.pyc": "A", b"src/a.py": "M"}
    assert walked(root).changed == ()
