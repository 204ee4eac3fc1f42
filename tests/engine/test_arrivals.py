"""One change is one change, however it arrives: as a patch, as mails, as commits, as a work tree or a folder."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle_gate.core.commits import submit_head
from oracle_gate.core.denyrules import always_denied
from oracle_gate.core.patching import submit_patch
from oracle_gate.core.settings import Settings
from oracle_gate.core.submission import Change, change_id
from oracle_gate.core.worktree import submit_work_tree
from support.engine import run_engine
from support.gate import Gate, copy_repository, run_gate
from support.gitenv import commit_all, git
from support.objects import opened, repository
from support.steps import CHANGES, FILES, Step, apply

REFUSED: tuple[Step, Step, Step] = (
    {"src/a~1.py": "x\n", "src/b.py": "b = 2\n"},
    {"src/end .py": "x\n", "src/B.py": "twin of b.py\n", "src/dot.": "x\n"},
    {"src/dash/-rf": "x\n"},
)


def facts(change: Change) -> dict[str, Any]:
    """All that a verdict depends on."""
    found = {name: getattr(change, name) for name in ("base", "before", "after", "changed", "touched")}
    return found | {"rules": sorted({(problem.rule, problem.subject) for problem in change.problems})}


class Ways:
    """The change of three steps in a repository, and each way in which it can arrive."""

    def __init__(self, folder: Path, steps: tuple[Step, Step, Step]) -> None:
        self.folder, self.root = folder, folder / "r"
        self.base = repository(self.root, FILES)
        git(self.root, "switch", "--quiet", "--create", "topic")
        for number, step in enumerate(steps):
            apply(self.root, step)
            git(self.root, "add", "--all", "--force")
            self.head = commit_all(self.root, f"Step {number}")

    def one_commit(self) -> str:
        """The same tree in a single commit on the base."""
        tree = git(self.root, "rev-parse", "topic^{tree}").decode().strip()
        return git(self.root, "commit-tree", tree, "-p", self.base, "-m", "All").decode().strip()

    def work_tree(self) -> Path:
        """A copy on the base, with the change as edits of its files."""
        git(self.root, "worktree", "add", "--quiet", "--detach", str(self.folder / "tree"), self.base)
        git(self.folder / "tree", "checkout", "--quiet", "--no-overlay", "topic", "--", ".")
        git(self.folder / "tree", "reset", "--quiet")
        return self.folder / "tree"

    def plain_folder(self) -> Path:
        """The files alone, without a repository."""
        shutil.copytree(self.root, self.folder / "plain", ignore=shutil.ignore_patterns(".git"))
        return self.folder / "plain"

    def arrive(self) -> dict[str, Change]:
        """The change in each way."""
        options = ["--binary", "--full-index"]
        mails = ["format-patch", "--stdout", *options]
        patches = {
            "patch": git(self.root, "diff", *options, "--no-renames", self.base, "topic"),
            "patch with renames": git(self.root, "diff", *options, "-M", "-C", self.base, "topic"),
            "one mail": git(self.root, *mails, f"{self.base}..{self.one_commit()}"),
            "three mails": git(self.root, *mails, f"{self.base}..topic"),
        }
        found = {}
        with opened(self.folder / "store", self.root) as store:
            for number, (name, patch) in enumerate(patches.items()):
                found[name] = submit_patch(store, self.folder / f"p{number}", self.base, patch, Settings())
                assert found[name].submitted_sha256 == hashlib.sha256(patch).hexdigest()
            for name, head in (("head", self.head), ("head of one commit", self.one_commit())):
                found[name] = submit_head(store, self.folder / name, self.base, head, Settings())
            for name, tree in (("tree", self.work_tree()), ("folder", self.plain_folder())):
                place = self.folder / f"walk of {name}"
                place.mkdir()
                found[name] = submit_work_tree(store, place, self.base, tree, self.denied)
            self.ids = {name: change_id(store, change.changed) for name, change in found.items()}
        return found

    @staticmethod
    def denied(path: bytes) -> str | None:
        return always_denied(path, ("src",))


@pytest.mark.parametrize("steps", CHANGES.values(), ids=CHANGES)
def test_one_change_arrives_in_eight_ways(tmp_path: Path, steps: tuple[Step, Step, Step]) -> None:
    ways = Ways(tmp_path, steps)
    found = ways.arrive()
    whole = facts(found["tree"])
    assert whole["changed"]
    assert len(set(ways.ids.values())) == 1
    net = {"patch", "one mail", "head of one commit", "tree", "folder"}
    for name, change in found.items():
        seen = facts(change)
        if name not in net:  # what came and went in between is touched as well
            assert set(seen["touched"]) >= set(whole["touched"]), name
            seen["touched"] = whole["touched"]
        assert seen == whole, name


def test_what_no_change_may_bring_is_refused_in_every_way(tmp_path: Path) -> None:
    """Odd names end a mailbox at the mail that brings them; what the whole of it comes to is not asked any more."""
    for name, change in Ways(tmp_path, REFUSED).arrive().items():
        assert {problem.rule for problem in change.problems} == {"intake.forbidden_entry"}, name
        assert {b"src/a~1.py", b"src/dash/-rf"} <= set(change.touched), name


def test_the_steps_in_between_are_touched(tmp_path: Path) -> None:
    found = Ways(tmp_path, CHANGES["moves"]).arrive()
    for name in ("three mails", "head"):
        assert set(found[name].touched) == {*found["tree"].touched, b"src/deep/c.py"}


def revert_in_between(root: Path) -> None:
    """Three commits on a topic: an honest edit, an edit of the denylist, and its reverse."""
    git(root, "switch", "--quiet", "--create", "topic")
    (root / "README.md").write_text("fast\n")
    commit_all(root, "Honest")
    (root / "oracle/denylist.txt").write_text("\n")
    commit_all(root, "Open the door")
    git(root, "revert", "--no-edit", "HEAD")


def by_mails(quick: Gate) -> int:
    mails = git(quick.root, "format-patch", "--stdout", "--binary", "--full-index", "main..topic")
    (quick.root.parent / "mails").write_bytes(mails)
    return run_engine(quick.root, "judge", "--patch", str(quick.root.parent / "mails"), base="main").code


def by_head(quick: Gate) -> int:
    return run_engine(quick.root, "judge", "--head", "topic", base="main").code


def by_tree(quick: Gate) -> int:
    return run_engine(quick.root, "judge", base="main").code


@pytest.mark.parametrize(("way", "code"), [(by_mails, 1), (by_head, 1), (by_tree, 0)])
def test_a_denied_edit_and_its_reverse(quick: Gate, way: Callable[[Gate], int], code: int) -> None:
    """As mails and as commits it is seen and blocks; a work tree has no steps in between."""
    revert_in_between(quick.root)
    assert way(quick) == code
    packet = quick.packet()
    assert [change["path"] for change in packet["changes"]] == ["README.md"]
    hits = [(reason["rule"], reason["subject"]) for reason in packet["reasons"]]
    assert hits == ([("denylist.hit", "oracle/denylist.txt")] if code else [])
    assert len(packet["change_id"]) == 64


def test_a_folder_pair_is_the_work_tree(quick: Gate, quick_source: Path, tmp_path: Path) -> None:
    """Article A's command line on two folders, the patched one in a repository of its own."""
    patched = copy_repository(quick_source, tmp_path / "patched")
    patched.edit("src/prog.sh", "esac", "esac # as before")
    run_gate(quick.root / "tools/replay_gate.py", str(quick.root), str(patched.root), check=0)
    pair = quick.packet()
    assert run_engine(patched.root, "judge").code == 0
    tree = patched.packet()
    for name in ("change_id", "changes", "verdict", "reasons", "replay", "tree_after"):
        assert pair[name] == tree[name]


def test_protected_trust(quick: Gate, quick_source: Path, tmp_path: Path) -> None:
    """The bootstrap lies outside the judged repository, the base is a full id; else the trust is local."""
    outside = copy_repository(quick_source, tmp_path / "outside").root / "tools/gate.py"
    base = git(quick.root, "rev-parse", "HEAD").decode().strip()
    quick.edit("README.md", "quick", "fast")
    words = ("judge", "--repo", str(quick.root))
    run_gate(outside, *words, "--base", base, check=0)
    assert quick.packet()["trust"] == "protected"
    run_gate(outside, *words, f"--base={base[:12]}", check=0)
    assert quick.packet()["trust"] == "local"
    run_gate(quick.root / "tools/gate.py", *words, "--base", base, check=0)
    packet = quick.packet()
    assert (packet["trust"], packet["base_from"]) == ("local", f"--base {base}")
