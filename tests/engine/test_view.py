"""The view of a commit, the tree that rows run in, and trees on disk."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from oracle_gate.core.errors import GateError
from oracle_gate.core.gitdb import Entry, ObjectStore
from oracle_gate.core.settings import View
from oracle_gate.core.trees import differences, materialise
from oracle_gate.core.view import is_hidden, link_stays_inside, replayed, visible
from support.objects import entries, opened, repository

HIDDEN = View().hidden
FILES = {
    "src/a.py": "a\n",
    "src/run.sh": "#!/bin/sh\n",
    "oracle/digests.json": "{}",
    "oracle.md": "visible\n",
    "corpus/inputs.jsonl": "{}",
    "corpus/data/x.bin": "x\r\n",
    "sealed/fixtures/f": "secret",
    "tools/metamorphic.py": "relations",
    "tools/gate.py": "bootstrap",
}


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        ("oracle", True), ("oracle/x/y", True), ("ORACLE/x", True), ("Oracle./x", True), ("oracle\u200c/x", True),
        ("\uff4fracle/x", True), ("tools/metamorphic.py", True), ("tools/Metamorphic.py", True),
        ("tools/metamorphic.py/x", True), ("oracles/x", False), ("oracle.md", False), ("src/oracle/x", False),
        ("tools/metamorphic.pyc", False), ("tools", False), ("", False),
    ],
)  # fmt: skip
def test_hidden_paths_are_whole_components_in_any_spelling(path: str, hidden: bool) -> None:
    assert is_hidden(path.encode(), HIDDEN) is hidden


def test_a_hidden_folder_may_be_written_with_a_slash_or_in_other_case() -> None:
    assert is_hidden(b"secret/x", ("Secret/",))
    assert not is_hidden(b"secrets/x", ("Secret/",))


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return ObjectStore(tmp_path / "store", None)


def test_the_view_holds_what_is_not_hidden(store: ObjectStore) -> None:
    whole = entries(store, FILES)
    assert visible(whole, HIDDEN).keys() == {b"src/a.py", b"src/run.sh", b"oracle.md", b"tools/gate.py"}


def test_rows_run_with_the_corpus_of_the_base_and_without_the_rows(store: ObjectStore) -> None:
    base = entries(store, FILES)
    link = Entry("120000", store.write("blob", b"data/x.bin"))
    sub = Entry("160000", "1" * 40)
    after = entries(store, {**FILES, "src/a.py": "changed", "corpus/data/x.bin": "forged", "corpus/new": "n"})
    tree = replayed({**after, b"lib": sub}, {**base, b"corpus/link": link}, HIDDEN)
    assert tree == {
        **{name: after[name] for name in (b"src/a.py", b"src/run.sh", b"oracle.md", b"tools/gate.py")},
        b"corpus/data/x.bin": base[b"corpus/data/x.bin"],
        b"corpus/link": link,
    }


@pytest.mark.parametrize(
    ("path", "target", "stays"),
    [
        ("l", "src/a.py", True), ("src/l", "a.py", True), ("src/l", "../oracle.md", True), ("l", "src", True),
        ("src/l", "./../src//a.py", True),
        ("l", "/etc/passwd", False), ("l", "../x", False), ("src/l", "../../x", False),
        ("l", ".", False), ("src/l", "..", False), ("l", "absent", False), ("src/l", "../oracle/digests.json", False),
        ("l", "sr", False),
    ],
)  # fmt: skip
def test_links_of_the_base_stay_if_what_they_name_is_in_the_tree(
    store: ObjectStore, path: str, target: str, stays: bool
) -> None:
    view = visible(entries(store, FILES), HIDDEN)
    assert link_stays_inside(path.encode(), target.encode(), view) is stays


def test_a_tree_is_written_byte_for_byte(tmp_path: Path) -> None:
    """Attributes that would change or drop files at checkout or archive have no effect."""
    root = tmp_path / "r"
    attributes = "* text eol=crlf ident\nsrc/a.py export-ignore\n*.bin working-tree-encoding=UTF-16\n"
    commit = repository(root, {**FILES, "id": "$Id$\n", "odd/\u00e4 b": "n\n"})
    with opened(tmp_path / "store", root) as store:
        base = store.entries(store.tree_of(commit))
        base[b".gitattributes"] = Entry("100644", store.write("blob", attributes.encode()))
        base[b"src/run.sh"] = Entry("100755", base[b"src/run.sh"].oid)
        base[b"src/link"] = Entry("120000", store.write("blob", b"a.py"))
        base[b"src/out"] = Entry("120000", store.write("blob", b"/etc/passwd"))
        base[b"src/\xff"] = base[b"src/a.py"]
        tree = tmp_path / "tree"
        tree.mkdir()
        old = os.umask(0)
        try:
            materialise(store, base, tree)
        finally:
            os.umask(old)
        assert (tree / "id").read_bytes() == b"$Id$\n"
        assert (tree / "src/a.py").read_bytes() == b"a\n"
        assert (tree / "corpus/data/x.bin").read_bytes() == b"x\r\n"
        assert (tree / os.fsdecode(b"src/\xff")).read_bytes() == b"a\n"
        assert stat.S_IMODE((tree / "src/run.sh").stat().st_mode) == 0o755
        assert stat.S_IMODE((tree / "src/a.py").stat().st_mode) == 0o644
        assert (tree / "src/link").readlink() == Path("a.py")
        assert not os.path.lexists(tree / "src/out")
        assert differences(store, base, tree) == []


def test_every_difference_is_found(store: ObjectStore, tmp_path: Path) -> None:
    base = entries(
        store, {name: name for name in ("same", "other", "gone", "mode", "kind", "d/link", "d/e/deep")}
    )
    base[b"link"] = Entry("120000", store.write("blob", b"same"))
    tree = tmp_path / "tree"
    tree.mkdir()
    materialise(store, base, tree)
    (tree / "other").write_bytes(b"OTHER")
    (tree / "gone").unlink()
    (tree / "mode").chmod(0o755)
    (tree / "kind").unlink()
    (tree / "kind").mkdir()
    (tree / "d/link").unlink()
    (tree / "d/link").symlink_to("../same")
    (tree / "link").unlink()
    (tree / "link").symlink_to("other")
    (tree / "new").write_bytes(b"")
    (tree / "empty").mkdir()
    os.mkfifo(tree / "d/fifo")
    assert differences(store, base, tree) == sorted(
        [b"other", b"gone", b"mode", b"kind", b"d/link", b"link", b"new", b"empty", b"d/fifo"]
    )


@pytest.mark.parametrize(
    "path", ["a/../b", "./a", "a//b", "/a", "x/.git/config", ".GIT/hooks/h", "..", ".git"]
)
def test_a_name_that_no_tree_may_hold_is_refused(store: ObjectStore, tmp_path: Path, path: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    with pytest.raises(GateError, match="the tree holds the path"):
        materialise(store, entries(store, {path: "x"}), tree)
    assert list(tree.iterdir()) == []
