"""A head as a change: what each commit does counts, what it comes to is applied to the base."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from oracle_gate.core.commits import submit_head
from oracle_gate.core.denyrules import always_denied
from oracle_gate.core.errors import GateError
from oracle_gate.core.settings import Settings
from oracle_gate.core.submission import Change
from support.gitenv import commit_all, git
from support.objects import opened, repository, write_files

FILES: dict[str, bytes | str] = {
    "src/a.py": "".join(f"a{number}\n" for number in range(20)),
    "src/b.py": "b\n",
    "src/data.bin": bytes(range(256)),
    "oracle/denylist.txt": "oracle/\n",
    "corpus/inputs.jsonl": "\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    repository(tmp_path / "r", FILES)
    return tmp_path / "r"


def commit(root: Path, files: Mapping[str, bytes | str | None], message: str = "Change") -> str:
    """Commits these files; None deletes one."""
    for name, content in files.items():
        if content is None:
            (root / name).unlink()
        else:
            write_files(root, {name: content})
    return commit_all(root, message)


def branch(root: Path, name: str, start: str = "main") -> None:
    git(root, "switch", "--quiet", "--create", name, start)


def merge(root: Path, *others: str) -> str:
    git(root, "merge", "--quiet", "--no-ff", "--no-edit", *others)
    return git(root, "rev-parse", "HEAD").decode().strip()


def made(root: Path, tree: str, *parents: str) -> str:
    """A commit object of any shape."""
    words = [word for parent in parents for word in ("-p", parent)]
    return git(root, "commit-tree", tree, *words, "-m", "Made").decode().strip()


def submitted(root: Path, head: str, base: str = "main") -> Change:
    before, after = (git(root, "rev-parse", name + "^{commit}").decode().strip() for name in (base, head))
    workplace = root.parent / f"workplace-{len(list(root.parent.iterdir()))}"
    with opened(workplace / "store", root) as store:
        return submit_head(store, workplace, before, after, Settings())


def changes(change: Change) -> dict[str, str]:
    return {item.path.decode(): item.status for item in change.changed}


def touched(change: Change) -> set[str]:
    return {path.decode() for path in change.touched}


def denied(change: Change) -> set[str]:
    return {path for path in touched(change) if always_denied(path, ("src",))}


def rules(change: Change) -> list[str]:
    return [problem.rule for problem in change.problems]


def test_commits_in_a_row_are_one_change(root: Path) -> None:
    branch(root, "topic")
    commit(root, {"src/a.py": "x\n", "src/new.py": "n\n"})
    commit(root, {"src/new.py": None, "src/b.py": None, "src/c.py": "c\n"})
    change = submitted(root, "topic")
    assert changes(change) == {"src/a.py": "M", "src/b.py": "D", "src/c.py": "A"}
    assert touched(change) == {"src/a.py", "src/b.py", "src/c.py", "src/new.py"}
    assert (change.problems, change.submitted_sha256) == ((), "")


def test_an_edit_that_a_later_commit_reverts_is_seen(root: Path) -> None:
    branch(root, "topic")
    commit(root, {"src/b.py": "x\n"})
    commit(root, {"oracle/denylist.txt": "\n"})
    commit(root, {"oracle/denylist.txt": FILES["oracle/denylist.txt"]})
    change = submitted(root, "topic")
    assert changes(change) == {"src/b.py": "M"}
    assert denied(change) == {"oracle/denylist.txt"}
    assert change.problems == ()


def test_an_entry_that_was_forbidden_for_a_while_is_refused(root: Path) -> None:
    branch(root, "topic")
    (root / "src/link").symlink_to("/etc/passwd")
    commit_all(root, "A link")
    commit(root, {"src/link": None, "src/b.py": "x\n"})
    change = submitted(root, "topic")
    assert changes(change) == {"src/b.py": "M"}
    assert rules(change) == ["intake.forbidden_entry"]


@pytest.mark.parametrize("content", [None, "reverted"])
def test_nothing_is_an_empty_change(root: Path, content: str | None) -> None:
    """The base itself, empty commits, and commits that cancel out."""
    branch(root, "topic")
    commit_all(root, "Empty")
    if content:
        commit(root, {"src/b.py": content})
        commit(root, {"src/b.py": FILES["src/b.py"]})
    change = submitted(root, "topic")
    assert (changes(change), rules(change)) == ({}, ["intake.empty"])
    assert rules(submitted(root, "main")) == ["intake.empty"]


def test_an_older_head_is_an_empty_change(root: Path) -> None:
    """What the base already holds is not undone by a head that is behind."""
    git(root, "branch", "old")
    commit(root, {"src/b.py": "newer\n"})
    change = submitted(root, "old")
    assert (changes(change), rules(change)) == ({}, ["intake.empty"])


def test_a_merge_brings_what_differs_from_every_parent(root: Path) -> None:
    """Merging the main branch brings its paths from there; they are no edit of the merge."""
    branch(root, "topic")
    commit(root, {"src/b.py": "topic\n"})
    git(root, "switch", "--quiet", "main")
    commit(root, {"oracle/denylist.txt": "oracle/\nmore/\n", "src/a.py": "main\n"})
    git(root, "switch", "--quiet", "topic")
    merge(root, "main")
    change = submitted(root, "topic")
    assert changes(change) == {"src/b.py": "M"}
    assert touched(change) == {"src/b.py"}


def test_an_evil_merge_is_seen(root: Path) -> None:
    """A merge commit that holds what no parent has, and the next commit that takes it back."""
    branch(root, "topic")
    ours = commit(root, {"src/b.py": "topic\n"})
    git(root, "switch", "--quiet", "main")
    theirs = commit(root, {"src/a.py": "main\n"})
    git(root, "switch", "--quiet", "--detach", ours)
    merge(root, "main")
    write_files(root, {"oracle/denylist.txt": "\n", "src/a.py": "of nobody\n"})
    git(root, "add", "--all")
    evil = made(root, git(root, "write-tree").decode().strip(), ours, theirs)
    change = submitted(root, evil)
    assert denied(change) == {"oracle/denylist.txt"}
    assert touched(change) == {"oracle/denylist.txt", "src/a.py", "src/b.py"}
    commit(root, {"oracle/denylist.txt": FILES["oracle/denylist.txt"]})
    head = made(root, git(root, "rev-parse", "HEAD^{tree}").decode().strip(), evil)
    assert denied(submitted(root, head)) == {"oracle/denylist.txt"}


def test_an_octopus_merge(root: Path) -> None:
    for name in ("one", "two", "three"):
        branch(root, name)
        commit(root, {f"src/{name}.py": name})
    branch(root, "topic", "one")
    merge(root, "two", "three")
    change = submitted(root, "topic")
    assert changes(change) == {f"src/{name}.py": "A" for name in ("one", "two", "three")}
    tips = [git(root, "rev-parse", name).decode().strip() for name in ("one", "two", "three")]
    write_files(root, {"oracle/denylist.txt": "\n"})
    git(root, "add", "--all")
    evil = made(root, git(root, "write-tree").decode().strip(), *tips)
    assert denied(submitted(root, evil)) == {"oracle/denylist.txt"}


def test_a_root_commit_brings_everything_in_it(root: Path) -> None:
    """A history of its own that is merged in: its first commit has no parent to differ from."""
    git(root, "switch", "--quiet", "--orphan", "island")
    commit(root, {"lib/island.py": "i\n"})
    branch(root, "topic")
    git(root, "merge", "--quiet", "--no-edit", "--allow-unrelated-histories", "island")
    change = submitted(root, "topic")
    assert changes(change) == {"lib/island.py": "A"}
    git(root, "switch", "--quiet", "island")
    commit(root, {"oracle/denylist.txt": "\n"})
    commit(root, {"oracle/denylist.txt": None})
    git(root, "switch", "--quiet", "topic")
    merge(root, "island")
    assert denied(submitted(root, "topic")) == {"oracle/denylist.txt"}


def test_a_history_that_shares_nothing_is_refused(root: Path) -> None:
    git(root, "switch", "--quiet", "--orphan", "island")
    commit(root, {"src/a.py": "x\n"})
    change = submitted(root, "island")
    assert (changes(change), rules(change)) == ({}, ["intake.rejected"])
    assert change.problems[0].detail == "shares no commit with the base"


def test_a_base_that_moved_on(root: Path) -> None:
    """The net difference since the fork is applied to the base: edits of one file at two places go together."""
    branch(root, "topic")
    text = str(FILES["src/a.py"])
    commit(
        root, {"src/a.py": text.replace("a19\n", "topic\n"), "src/data.bin": b"\0new\xff", "src/c.py": "c"}
    )
    (root / "src/b.py").chmod(0o755)
    commit_all(root, "A mode")
    git(root, "switch", "--quiet", "main")
    commit(root, {"src/a.py": text.replace("a0\n", "main\n"), "oracle/denylist.txt": "oracle/\nmore/\n"})
    change = submitted(root, "topic")
    assert changes(change) == {"src/a.py": "M", "src/b.py": "M", "src/c.py": "A", "src/data.bin": "M"}
    assert touched(change) == set(changes(change))
    with opened(root.parent / "other", root) as store:
        tip = git(root, "rev-parse", "main").decode().strip()
        change = submit_head(
            store, root.parent / "w", tip, git(root, "rev-parse", "topic").decode().strip(), Settings()
        )
        both = text.replace("a0\n", "main\n").replace("a19\n", "topic\n")
        assert store.read(change.after[b"src/a.py"].oid, "blob") == both.encode()
        assert store.read(change.after[b"src/data.bin"].oid, "blob") == b"\0new\xff"
        assert change.after[b"oracle/denylist.txt"] == change.before[b"oracle/denylist.txt"]


def test_a_conflict_with_a_base_that_moved_on_is_refused(root: Path) -> None:
    branch(root, "topic")
    commit(root, {"src/b.py": "topic\n", "oracle/denylist.txt": "\n"})
    git(root, "switch", "--quiet", "main")
    commit(root, {"src/b.py": "main\n"})
    change = submitted(root, "topic")
    assert (changes(change), rules(change)) == ({}, ["intake.rejected"])
    problem = change.problems[0]
    assert problem.detail.startswith("conflicts with the base: ")
    assert problem.detail.endswith("; rebase it")
    assert denied(change) == {"oracle/denylist.txt"}


def test_a_criss_cross_is_told_to_rebase(root: Path) -> None:
    """Two common ancestors, none better: what the base has of the head already cannot be applied again."""
    for name in ("left", "right"):
        branch(root, name)
        commit(root, {f"src/{name}.py": name})
    left, right = (git(root, "rev-parse", name).decode().strip() for name in ("left", "right"))
    merged = merge(root, "left")
    git(root, "switch", "--quiet", "left")
    merge(root, right)
    git(root, "switch", "--quiet", "--create", "base")
    commit(root, {"src/base.py": "x\n"})
    git(root, "switch", "--quiet", "--detach", merged)
    head = commit(root, {"src/head.py": "y\n"})
    ancestors = git(root, "merge-base", "--all", "base", head).decode().split()
    assert sorted(ancestors) == sorted((left, right))
    change = submitted(root, head, "base")
    assert rules(change) == ["intake.rejected"]
    assert change.problems[0].detail.endswith("; rebase it")
    assert touched(change) >= {"src/head.py"}


def test_a_shallow_file_cannot_hide_commits(root: Path) -> None:
    """The list of shallow commits is the judged repository's own word; behind a merge it could hide two."""
    branch(root, "side")
    commit(root, {"oracle/denylist.txt": "\n"})
    commit(root, {"oracle/denylist.txt": FILES["oracle/denylist.txt"]})
    tip = commit(root, {"src/side.py": "s\n"})
    branch(root, "topic")
    commit(root, {"src/topic.py": "t\n"})
    merge(root, "side")
    assert denied(submitted(root, "topic")) == {"oracle/denylist.txt"}
    (root / ".git/shallow").write_text(tip + "\n")
    with pytest.raises(GateError, match="the history of --head is cut off; fetch the whole history"):
        submitted(root, "topic")


def test_commits_are_numbered_up_to_a_limit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oracle_gate.core.commits._MOST_COMMITS", 3)
    branch(root, "topic")
    for number in range(3):
        commit(root, {"src/b.py": str(number)})
    assert rules(submitted(root, "topic")) == []
    commit(root, {"src/b.py": "more"})
    change = submitted(root, "topic")
    assert (rules(change), change.problems[0].detail) == (["intake.too_large"], "more than 3 commits")
