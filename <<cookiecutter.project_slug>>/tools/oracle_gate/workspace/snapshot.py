"""The snapshot that a generator works in: one commit whose tree is the view of the base (design, principle 1).

It has no parent, fixed names and dates, and the blobs of the base itself, so that a patch made on it
applies to the base. Its id is the pin of a workspace: it covers the tree and the guard's list.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.denyrules import parse_rules
from ..core.gitdb import Entries, Entry, ObjectStore
from ..core.oracle import read_control, read_settings
from ..core.view import is_hidden, link_stays_inside, visible

#: A file of the base that becomes each of the hooks.
HOOK = b"tools/workspace/hook.sh"
HOOKS = ("pre-commit", "pre-merge-commit", "pre-push")
#: The guard's list inside .git, and the refs of a fresh workspace.
GUARD_LIST = "oracle-guard/denylist"
BRANCH, TAG = "refs/heads/main", "refs/tags/base"
_SOMEBODY = "workspace <workspace@invalid> 0 +0000"


@dataclass(frozen=True)
class Finding:
    """Something that a workspace should not hold: what kind, where, and what it is."""

    kind: str
    where: str
    detail: str = ""


@dataclass(frozen=True)
class Snapshot:
    """`entries` is the view; `tree` and `commit` are ids; `guard_list` and `hook` go into .git."""

    base: str
    entries: Entries
    hidden: tuple[str, ...]
    tree: str
    commit: str
    guard_list: bytes
    hook: bytes

    @property
    def pins(self) -> dict[str, str]:
        """What `workspace create` prints."""
        return {"base": self.base, "snapshot": self.commit, "tree": self.tree}


def take_snapshot(store: ObjectStore, base: str, entries: Entries) -> Snapshot:
    """Builds the snapshot of the commit `base` in the private store."""
    hidden = read_settings(store, entries).view.hidden
    view = workspace_view(store, entries, hidden)
    guard_list = _guard_list(read_control(store, entries, "oracle/denylist.txt"), hidden)
    tree = store.write_tree(view)
    commit = commit_for(store, tree, guard_list)
    hook = store.read(view[HOOK].oid, "blob") if HOOK in view else b""
    return Snapshot(base, view, hidden, tree, commit, guard_list, hook)


def workspace_view(store: ObjectStore, entries: Entries, hidden: tuple[str, ...]) -> dict[bytes, Entry]:
    """The view without links that leave it and submodules: both lead to what is not in it."""
    view = {path: entry for path, entry in visible(entries, hidden).items() if entry.mode != "160000"}
    links = {path: store.read(entry.oid, "blob") for path, entry in view.items() if entry.mode == "120000"}
    while outward := [
        path for path in links if path in view and not link_stays_inside(path, links[path], view)
    ]:
        for path in outward:  # another link may have pointed to one of these
            del view[path]
    return view


def commit_for(store: ObjectStore, tree: str, guard_list: bytes) -> str:
    """Writes the snapshot's commit; returns its id."""
    message = f"Generator workspace\n\nguard {store.oid('blob', guard_list)}\n"
    text = f"tree {tree}\nauthor {_SOMEBODY}\ncommitter {_SOMEBODY}\n\n{message}"
    return store.write("commit", text.encode())


def _guard_list(denylist: bytes, hidden: tuple[str, ...]) -> bytes:
    """The denylist without comments; what lies below a hidden path is named by that path alone."""
    rules = {rule.text.removesuffix("/") for rule in parse_rules(denylist)}
    shown = {rule for rule in rules if not is_hidden(rule.encode(), hidden)}
    names = sorted(name.encode() for name in (*shown, *(path.strip("/") for path in hidden)))
    return b"".join(name + b"\n" for name in names)
