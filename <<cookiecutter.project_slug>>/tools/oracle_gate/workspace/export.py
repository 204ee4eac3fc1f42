"""A workspace's commits as a patch: a mailbox and a plain diff (article B: ship only the diff)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..core.errors import GateError
from ..core.gitdb import ObjectStore, Repository
from ..core.worktree import submit_work_tree
from .snapshot import TAG

#: The form that the judge reads: whole ids, binary files included, no program of the workspace's choice.
_FORM = ("--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")


@dataclass(frozen=True)
class Export:
    """Ids of the commit the work started from, of its head and tree; the patch in both forms."""

    start: str
    head: str
    tree: str
    mailbox: bytes
    diff: bytes


def export(folder: Path, workplace: Path, expected: str | None) -> Export:
    """Reads a workspace through a private store; `workplace` is an empty folder.

    `expected` is the snapshot's id; without it the tag `base`, else the root commit counts.
    GateError when work is uncommitted or nothing was done.
    """
    repository = Repository.discover(folder)
    store = ObjectStore(workplace / "export.git", repository)
    try:
        start, head = _ends(repository, store, expected)
        changed = submit_work_tree(store, workplace, head, repository.root, lambda _: False).changed
        if changed:
            raise GateError(
                f"{len(changed)} file(s) differ from the last commit, such as {changed[0].path!r}",
                where=str(folder), todo="commit, ignore or remove them",
            )  # fmt: skip
        tree = store.tree_of(head)
        if tree == store.tree_of(start):
            raise GateError("nothing was changed here", where=str(folder), todo="commit the work first")
        revisions = _linear(store, start, head)
        mailbox = _ask(store, "format-patch", "--stdout", "--no-stat", "--no-signature", *_FORM, *revisions)
        diff = _ask(store, "diff-tree", "-r", "-p", *_FORM, start, head)
        return Export(start, head, tree, mailbox, diff)
    finally:
        store.close()


def _ask(store: ObjectStore, *arguments: str) -> bytes:
    answer = store.run(*arguments)
    if answer.returncode:
        raise GateError(f"git {arguments[0]} failed: {answer.stderr.decode(errors='replace')[:200]}")
    return answer.stdout


def _ends(repository: Repository, store: ObjectStore, expected: str | None) -> tuple[str, str]:
    where = str(repository.root)
    head = repository.resolve("HEAD")
    if head is None:
        raise GateError("no commit here", where=where, todo="commit the work first")
    if expected is not None:
        start = repository.resolve(expected)
    elif not (start := repository.resolve(TAG)):
        roots = _ask(store, "rev-list", "--max-parents=0", head).decode().split()
        start = roots[0] if len(roots) == 1 else None
    if start is None:
        raise GateError("the snapshot's commit is not here", where=where, todo="pass --expect-commit ID")
    return start, head


def _linear(store: ObjectStore, start: str, head: str) -> list[str]:
    """The range as it is, when each commit has one parent; else one commit that does the same.

    format-patch drops merges, and knows no change after an amended root.
    """
    at = head
    while at != start and len(parents := store.parents_of(at)) == 1:
        at = parents[0]
    if at == start:
        return [f"{start}..{head}"]
    lines = store.read(head, "commit").split(b"\n")
    header, blank = lines[: lines.index(b"")], lines.index(b"")
    kept = [line for line in header if line.startswith((b"tree ", b"author ", b"committer ", b"encoding "))]
    squashed = [kept[0], b"parent " + start.encode(), *kept[1:], *lines[blank:]]
    return ["-1", store.write("commit", b"\n".join(squashed))]
