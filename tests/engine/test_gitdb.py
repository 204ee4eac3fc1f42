"""Objects are read verified, from a private folder, whatever the judged repository says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from oracle_gate.core.errors import GateError
from oracle_gate.core.gitdb import Entry, ObjectStore, Repository, neutral_environment
from support.gitenv import commit_all, git, git_env, make_repository
from support.objects import forge, opened, repository, unpack

FILES: dict[str, bytes | str] = {
    "a.txt": "a\n",
    "b": b"\x00\xff",
    "dir/c": "",
    "dir.d": "after dir- and before dir/\n",
    "dir/sub/ä b": "c\n",
    "dir-e": "x",
}


def listing(root: Path, commit: str) -> dict[bytes, Entry]:
    """What git itself lists."""
    lines = git(root, "ls-tree", "-r", "-z", commit).split(b"\0")[:-1]
    fields = [(line.partition(b"\t")[2], line.split()) for line in lines]
    return {path: Entry(words[0].decode(), words[2].decode()) for path, words in fields}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    repository(tmp_path / "r", FILES)
    return tmp_path / "r"


def head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").decode().strip()


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("packed", [False, True])
def test_entries_and_trees_are_those_of_git(tmp_path: Path, object_format: str, packed: bool) -> None:
    root = tmp_path / "r"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main", "--template=", f"--object-format={object_format}")
    for name, content in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (root / "run").write_text("#!/bin/sh\n")
    (root / "run").chmod(0o755)
    (root / "link").symlink_to("dir/c")
    commit = commit_all(root, "x")
    if packed:
        git(root, "gc", "--quiet")
    with opened(tmp_path / "s", root) as store:
        entries = store.entries(store.tree_of(commit))
        assert entries == listing(root, commit)
        assert {entries[b"run"].mode, entries[b"link"].mode} == {"100755", "120000"}
        assert store.read(entries[b"b"].oid, "blob") == b"\x00\xff"
        assert store.write_tree(entries) == git(root, "rev-parse", commit + "^{tree}").decode().strip()
        assert store.parents_of(commit) == []
        assert store.oid("blob", b"x") == git(root, "hash-object", "--stdin", data=b"x").decode().strip()
    assert len(commit) == (64 if object_format == "sha256" else 40)


def test_written_objects_stay_in_the_private_folder(base: Path, tmp_path: Path) -> None:
    before = sorted(base.rglob("*"))
    with opened(tmp_path / "s", base) as store:
        oid = store.write("blob", b"new")
        assert store.read(oid, "blob") == b"new"
        assert store.write("blob", b"new") == oid
    assert sorted(base.rglob("*")) == before
    assert git(tmp_path, "--git-dir", "s", "fsck", "--strict", "--no-dangling") == b""


@pytest.mark.parametrize("kind", ["blob", "tree", "commit"])
def test_a_forged_object_is_refused(base: Path, tmp_path: Path, kind: str) -> None:
    commit = head(base)
    tree = git(base, "rev-parse", "HEAD^{tree}").decode().strip()
    blob = git(base, "rev-parse", "HEAD:a.txt").decode().strip()
    other = git(base, "rev-parse", "HEAD:dir").decode().strip()
    data = {
        "blob": b"forged\n",
        "tree": git(base, "cat-file", "tree", other),
        "commit": git(base, "cat-file", "commit", commit).replace(tree.encode(), other.encode()),
    }
    oid = {"blob": blob, "tree": tree, "commit": commit}[kind]
    forge(base, oid, kind, data[kind])
    assert git(base, "cat-file", kind, oid) == data[kind]  # git itself serves it
    with opened(tmp_path / "s", base) as store, pytest.raises(GateError, match="does not match its id"):
        for path in [store.entries(store.tree_of(commit))[b"a.txt"].oid]:
            store.read(path, "blob")


def test_a_forged_object_of_another_kind_is_refused(base: Path, tmp_path: Path) -> None:
    blob = git(base, "rev-parse", "HEAD:a.txt").decode().strip()
    forge(base, blob, "tree", b"")
    with opened(tmp_path / "s", base) as store, pytest.raises(GateError, match="is a tree, not a blob"):
        store.read(blob, "blob")


def test_a_missing_object_is_said(base: Path, tmp_path: Path) -> None:
    unpack(base)
    blob = git(base, "rev-parse", "HEAD:a.txt").decode().strip()
    (base / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with opened(tmp_path / "s", base) as store:
        with pytest.raises(GateError, match=f"object {blob[:12]} is missing"):
            store.read(blob, "blob")
        assert store.read(store.entries(store.tree_of(head(base)))[b"b"].oid, "blob") == b"\x00\xff"


def test_replace_refs_and_grafts_change_nothing(base: Path, tmp_path: Path) -> None:
    first = head(base)
    (base / "a.txt").write_text("other\n")
    second = commit_all(base, "Other")
    git(base, "replace", first, second)
    blob = git(base, "rev-parse", f"{second}:a.txt").decode().strip()
    git(base, "replace", git(base, "rev-parse", f"{first}:b").decode().strip(), blob)
    (base / ".git/info").mkdir(exist_ok=True)
    (base / ".git/info/grafts").write_text(f"{second}\n")
    with opened(tmp_path / "s", base) as store:
        entries = store.entries(store.tree_of(first))
        assert store.read(entries[b"a.txt"].oid, "blob") == b"a\n"
        assert store.read(entries[b"b"].oid, "blob") == b"\x00\xff"
        assert store.parents_of(second) == [first]
        found = store.run("merge-base", first, second).stdout.decode().strip()
        assert found == first


def test_discover_finds_the_repository_around_a_folder(base: Path, tmp_path: Path) -> None:
    found = Repository.discover(base / "dir/sub")
    assert (found.root, found.bare, found.object_format) == (base, False, "sha1")
    assert found.objects == (base / ".git/objects").resolve()
    git(base, "worktree", "add", "--quiet", "--detach", str(tmp_path / "other"))
    linked = Repository.discover(tmp_path / "other")
    assert (linked.root, linked.objects) == (tmp_path / "other", found.objects)
    git(tmp_path, "clone", "--quiet", "--bare", str(base), str(tmp_path / "bare"))
    assert Repository.discover(tmp_path / "bare").bare
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(GateError, match="not a git repository"):
        Repository.discover(empty)
    with pytest.raises(GateError, match="no such folder"):
        Repository.discover(tmp_path / "absent")


def test_names_become_commits(base: Path) -> None:
    found = Repository.discover(base)
    git(base, "tag", "-a", "-m", "t", "v1")
    assert found.resolve("HEAD") == found.resolve("v1") == found.resolve("main") == head(base)
    assert found.resolve("HEAD:a.txt") is None
    assert found.resolve("nothing") is None
    assert found.resolve("--all") is None
    assert found.symbolic_ref("HEAD") == "refs/heads/main"
    git(base, "branch", "side")
    assert found.branches() == ["refs/heads/main", "refs/heads/side"]


@pytest.mark.parametrize("name", ['"quoted', "new\nline", 'new\n"both\\', "plain", "ends\\"])
def test_a_repository_of_any_name_is_read(tmp_path: Path, name: str) -> None:
    commit = repository(tmp_path / name / "r", {"f": "content"})
    with opened(tmp_path / "s", tmp_path / name / "r") as store:
        assert store.entries(store.tree_of(commit)).keys() == {b"f"}


def test_the_environment_is_a_literal_list(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_PARAMETERS", "LD_PRELOAD", "GIT_TRACE"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/etc/x")
    environment = neutral_environment(GIT_DIR="d")
    assert environment["PATH"] == os.environ["PATH"]
    assert environment["GIT_CONFIG_GLOBAL"] == "/dev/null"
    assert environment["GIT_DIR"] == "d"
    assert set(environment) == {
        "PATH", "LC_ALL", "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_ATTR_NOSYSTEM",
        "GIT_NO_REPLACE_OBJECTS", "GIT_LITERAL_PATHSPECS", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT",
        "GIT_NO_LAZY_FETCH", "GIT_DIR",
    }  # fmt: skip


def test_a_shallow_clone_keeps_its_border(base: Path, tmp_path: Path) -> None:
    (base / "a.txt").write_text("more\n")
    commit = commit_all(base, "More")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{base}", str(tmp_path / "shallow"))
    with opened(tmp_path / "s", tmp_path / "shallow") as store:
        log = store.run("rev-list", commit)
        assert (log.returncode, log.stdout.split()) == (0, [commit.encode()])


def test_a_missing_git_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GateError, match="git is not on PATH; install git"):
        Repository.discover(tmp_path)


def test_a_store_without_a_repository_holds_its_own_objects_alone(base: Path, tmp_path: Path) -> None:
    blob = git(base, "rev-parse", "HEAD:a.txt").decode().strip()
    store = ObjectStore(tmp_path / "s", None)
    try:
        with pytest.raises(GateError, match="is missing"):
            store.read(blob, "blob")
        assert store.write("blob", b"a\n") == blob
    finally:
        store.close()


def test_a_promisor_is_not_asked(base: Path, tmp_path: Path) -> None:
    """`git show` in a blobless clone fetches; the gate says what is missing and starts no transport."""
    git(base, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{base}", str(clone))
    blob = git(base, "rev-parse", "HEAD:a.txt").decode().strip()
    with opened(tmp_path / "s", clone) as store, pytest.raises(GateError, match="is missing"):
        store.read(blob, "blob")
    checked = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch-check"], cwd=clone, env=git_env(), capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert blob not in checked.stdout


def test_a_repository_without_commits_resolves_nothing(tmp_path: Path) -> None:
    assert Repository.discover(make_repository(tmp_path / "r")).resolve("HEAD") is None


def test_the_callers_git_variables_reach_no_process(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE", str(trace))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    with opened(tmp_path / "s", base) as store:
        commit = Repository.discover(base).resolve("HEAD")
        assert commit
        assert store.entries(store.tree_of(commit)).keys() == {name.encode() for name in FILES}
    assert not trace.exists()
