"""A work tree as a change: walked by us, hashed as it lies on disk (design, sections 3 and 6).

`.git/info/attributes` and the user's configuration say nothing here, and the index only which ignored
paths are tracked, so the same edit is seen whether it is unstaged, staged, committed or untracked.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from .errors import GateError
from .gitdb import Entries, Entry, ObjectStore, Repository, git, neutral_environment
from .submission import Change, difference, forbidden
from .trees import hash_file

#: The gate's own folder; the only untracked path on the denylist that does not count.
OWN = b".gate"


def submit_work_tree(
    store: ObjectStore,
    workplace: Path,
    base: str,
    root: Path,
    denied: Callable[[bytes], object],
) -> Change:
    """Compares the folder `root` with the commit `base`.

    Untracked files count unless .gitignore files of the base match them; those that `denied` names
    count always. Changed blobs are stored in `store`; `workplace` is an empty folder.
    """
    before = store.entries(store.tree_of(base))
    tracked = _tracked(store, workplace, root)
    after = _Walk(store, before, tracked, root, _Ignored(store, workplace, before), denied).entries()
    changed = difference(before, after)
    touched = tuple(item.path for item in changed)
    return Change(base, before, after, changed, touched, tuple(forbidden(changed)))


def _tracked(store: ObjectStore, workplace: Path, root: Path) -> set[bytes]:
    """What the folder's own index and HEAD track: `git add --force` makes ignored files part of a change."""
    if not os.path.lexists(root / ".git"):
        return set()
    repository = Repository.discover(root)
    tracked: set[bytes] = set()
    with contextlib.suppress(FileNotFoundError):
        index = Path(shutil.copyfile(repository.git_dir / "index", workplace / "index"))
        answer = store.run("ls-files", "--cached", "-z", index=index)
        if answer.returncode:
            where, what = str(repository.git_dir / "index"), answer.stderr.decode(errors="replace")[:200]
            raise GateError(f"the index cannot be read: {what}", where=where, todo="run `git reset`")
        tracked.update(answer.stdout.split(b"\0")[:-1])
    head = git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], cwd=root).stdout.decode().strip()
    if head:
        theirs = ObjectStore(workplace / "theirs", repository)
        with contextlib.closing(theirs):
            tracked.update(theirs.entries(theirs.tree_of(head)))
    return tracked


class _Ignored:
    """Asks git which untracked paths the base's own .gitignore files name."""

    def __init__(self, store: ObjectStore, workplace: Path, before: Entries) -> None:
        self.tree = workplace / "ignore"
        self.tree.mkdir()
        self.git_dir = store.directory
        for path, entry in before.items():
            if path.rpartition(b"/")[2] == b".gitignore" and entry.mode.startswith("100"):
                file = os.path.join(os.fsencode(self.tree), path)
                os.makedirs(os.path.dirname(file), exist_ok=True)
                Path(os.fsdecode(file)).write_bytes(store.read(entry.oid, "blob"))

    def among(self, folders: list[bytes], files: list[bytes]) -> set[bytes]:
        """Those of the given paths that are ignored."""
        if not folders and not files:
            return set()
        for folder in folders:  # git looks at the disk to tell a folder from a file
            with contextlib.suppress(
                FileExistsError, NotADirectoryError
            ):  # it stands where the base has .gitignore
                os.makedirs(os.path.join(os.fsencode(self.tree), folder), exist_ok=True)
        # check-ignore does not know literal pathspecs; behind "./" a leading colon is no magic.
        places = {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.tree), "GIT_LITERAL_PATHSPECS": "0"}
        answer = git(
            ["check-ignore", "--no-index", "-z", "--stdin"], cwd=self.tree,
            data=b"".join(b"./" + path + b"\0" for path in (*folders, *files)),
            environment=neutral_environment(**places),
        )  # fmt: skip
        if answer.returncode not in (0, 1):
            raise GateError(f"cannot read .gitignore: {answer.stderr.decode(errors='replace')[:200]}")
        return {path.removeprefix(b"./") for path in answer.stdout.split(b"\0")[:-1]}


class _Walk:
    """One walk over a work tree, folder level by folder level."""

    def __init__(
        self,
        store: ObjectStore,
        before: Entries,
        tracked: set[bytes],
        root: Path,
        ignored: _Ignored,
        denied: Callable[[bytes], object],
    ) -> None:
        self.store, self.before, self.root = store, before, os.fsencode(root)
        self.ignored, self.denied = ignored, denied
        self.tracked = before.keys() | tracked
        self.tracked_folders = {
            path[:at] for path in self.tracked for at, byte in enumerate(path) if byte == ord("/")
        }
        self.found: dict[bytes, Entry] = {}

    def entries(self) -> dict[bytes, Entry]:
        """What the work tree holds, as a commit of it would."""
        level = [b""]
        while level:
            folders, files = self._list(level)
            untracked = [f for f in folders if f not in self.tracked_folders and not self.denied(f)]
            loose = [f for f in files if f not in self.tracked and not self.denied(f)]
            skip = self.ignored.among(untracked, loose)
            for path in files:
                if path not in skip:
                    self._add(path)
            level = [folder for folder in folders if folder not in skip]
        return self.found

    def _list(self, level: Iterable[bytes]) -> tuple[list[bytes], list[bytes]]:
        folders, files = [], []
        for folder in level:
            try:
                listing = sorted(os.scandir(os.path.join(self.root, folder)), key=lambda item: item.name)
            except OSError as error:
                where = os.fsdecode(os.path.join(self.root, folder))
                raise GateError(f"cannot be read: {error.strerror}", where=where) from None
            for item in listing:
                path = os.path.join(folder, item.name)
                if path == OWN or item.name == b".git":
                    continue
                if item.is_dir(follow_symlinks=False) and not self._submodule(path):
                    folders.append(path)
                else:
                    files.append(path)
        return folders, files

    def _submodule(self, path: bytes) -> bool:
        """A folder that is a repository of its own, or stands where the base has a submodule."""
        tracked = self.before.get(path)
        inside = os.path.lexists(os.path.join(self.root, path, b".git"))
        return bool(tracked and tracked.mode == "160000") or (inside and path not in self.tracked_folders)

    def _add(self, path: bytes) -> None:
        full = os.path.join(self.root, path)
        information = os.lstat(full)
        if stat.S_ISDIR(information.st_mode):
            self.found[path] = self._gitlink(path, full)
            return
        if not (stat.S_ISREG(information.st_mode) or stat.S_ISLNK(information.st_mode)):
            if path in self.before or self.denied(path):
                self.found[path] = Entry("000001", self.store.oid("blob", b""))  # not a file: forbidden_entry
            return
        entry = hash_file(self.store, full, information)
        if entry != self.before.get(path):
            entry = hash_file(self.store, full, information, keep=True)
        self.found[path] = entry

    def _gitlink(self, path: bytes, full: bytes) -> Entry:
        known = self.before.get(path)
        if not os.path.lexists(os.path.join(full, b".git")):
            return known or Entry("160000", self.store.oid("blob", b""))
        head = git(["rev-parse", "--verify", "--quiet", "HEAD"], cwd=Path(os.fsdecode(full)))
        return Entry("160000", head.stdout.decode().strip() or self.store.oid("blob", b""))
