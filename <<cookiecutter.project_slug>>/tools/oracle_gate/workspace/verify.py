"""Is this workspace what `create` made, and nothing else? Names and ids only: no oracle is needed here.

For the generator's host, before the session. With the snapshot's id every leak is found, since nothing
else may be there; without it, what HEAD holds is believed as long as no name is a hidden one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import GateError
from ..core.gitdb import Entries, ObjectStore, Repository, git, neutral_environment
from ..core.paths import below, printable
from ..core.settings import View
from ..core.trees import differences, hash_file, walk
from .furniture import leads_out
from .objects import add_pack, all_objects, reachable, read_settings
from .snapshot import BRANCH, GUARD_LIST, HOOK, HOOKS, TAG, Finding

#: Every file and empty folder that `create` leaves in .git; a pack's name is its checksum.
_FRESH = re.compile(
    rb"HEAD|config|index|packed-refs|refs/(heads(/main)?|tags(/base)?)|info(/sparse-checkout)?|oracle-guard/denylist"
    rb"|objects/info|objects/pack/pack-[0-9a-f]+\.(pack|idx|rev)|hooks/(pre-commit|pre-merge-commit|pre-push)"
)
_FRESH_SETTINGS = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks"
    r"|sparsecheckout|sparsecheckoutcone)|extensions\.objectformat"
)


@dataclass(frozen=True)
class Verification:
    """What was found, and the id that the folder was compared with: a commit's, or a tree's without git."""

    findings: tuple[Finding, ...]
    compared_with: str


def verify(folder: Path, workplace: Path, expected: str | None) -> Verification:
    """Checks a workspace; `workplace` is an empty folder, `expected` the id that `create` printed.

    For an unpacked tarball that is the tree's id. GateError when the folder cannot be read at all.
    """
    found = dict(walk(folder))
    git_files = {path[5:]: information for path, information in found.items() if path.startswith(b".git/")}
    files = {path: information for path, information in found.items() if not path.startswith(b".git/")}
    findings = list(_names(folder, files))
    if not git_files:
        store = ObjectStore(workplace / "verify.git", None, "sha256" if len(expected or "") == 64 else "sha1")
        compared_with = store.write_tree(
            {path: hash_file(store, os.fsencode(folder / os.fsdecode(path)), files[path]) for path in files}
        )
        if expected not in (None, compared_with):
            findings.append(Finding("not as pinned", ".", f"these files make the tree {compared_with}"))
        return Verification(tuple(findings), compared_with)
    repository = Repository.discover(folder)
    if repository.git_dir.resolve() != (folder / ".git").resolve():
        raise GateError("is not a git repository of its own", where=str(folder), todo="make a new workspace")
    store = ObjectStore(workplace / "verify.git", None, repository.object_format)
    try:
        findings += _Check(folder, store, repository, expected).all(git_files)
    finally:
        store.close()
    return Verification(tuple(findings), expected or repository.resolve("HEAD") or "")


def _names(folder: Path, files: dict[bytes, os.stat_result]) -> Iterator[Finding]:
    """Hidden names, links and special files outside .git."""
    for path, information in files.items():
        where = printable(path)
        if hidden := below(path, View().hidden):
            yield Finding("hidden path", where, f"below {hidden}")
        if path == b".git":
            yield Finding("git folder", where, "lies elsewhere")
        if stat.S_ISLNK(information.st_mode):
            target = os.fsencode((folder / os.fsdecode(path)).readlink())
            if leads_out(path, target):
                yield Finding("link", where, f"leaves the workspace: {printable(target)}")
        elif information.st_nlink > 1 and stat.S_ISREG(information.st_mode):
            yield Finding("hard link", where, "the same file has another name")


class _Check:
    """One verification of a repository; yields findings."""

    def __init__(
        self, folder: Path, store: ObjectStore, repository: Repository, expected: str | None
    ) -> None:
        self.folder, self.git_dir, self.store = folder, folder / ".git", store
        self.head, self.expected = repository.resolve("HEAD"), expected

    def all(self, git_files: Mapping[bytes, os.stat_result]) -> Iterator[Finding]:
        """Compares everything below the folder with the pinned commit, or with HEAD."""
        for path, information in git_files.items():
            plain = stat.S_IFMT(information.st_mode) in (stat.S_IFREG, stat.S_IFDIR)
            if not plain or not _FRESH.fullmatch(path):
                yield Finding("not of a fresh workspace", ".git/" + printable(path))
        for pack in sorted(self.git_dir.glob("objects/pack/*.pack")):
            if complaint := add_pack(self.store, pack):
                yield Finding("unreadable pack", f".git/objects/pack/{pack.name}", complaint)
        commit = self.expected or self.head
        objects = {known.oid for known in all_objects(self.store)}
        if commit is None or commit not in objects:
            yield Finding("not as pinned", ".git", f"no pack holds the commit {commit or 'of HEAD'}")
            return
        yield from self._objects(commit, objects)
        entries = self.store.entries(self.store.tree_of(commit))
        yield from self._references(commit)
        yield from self._furniture(commit, entries)
        yield from self._index(entries)
        for path in differences(self.store, entries, self.folder):
            if not path.startswith(b".git/"):
                yield Finding("not as committed", printable(path))

    def _objects(self, commit: str, objects: set[str]) -> Iterator[Finding]:
        paths = reachable(self.store, commit)
        for oid in sorted(objects - paths.keys()):
            yield Finding("object", oid, f"is not reachable from {commit[:12]}")
        for path in sorted(set(paths.values())):
            if hidden := below(path, View().hidden):
                yield Finding("hidden path", printable(path), f"below {hidden}, in a commit")

    def _references(self, commit: str) -> Iterator[Finding]:
        expected = {"HEAD": f"ref: {BRANCH}", BRANCH: commit, TAG: commit}
        for name, content in expected.items():
            file = self.git_dir / name
            if file.is_file() and file.read_bytes() != content.encode() + b"\n":
                yield Finding("not as pinned", f".git/{name}", "leads elsewhere")
        packed = self.git_dir / "packed-refs"
        lines = packed.read_bytes().split(b"\n") if packed.is_file() else []
        allowed = {f"{commit} {name}".encode() for name in (BRANCH, TAG)}
        for line in lines:
            if line and not line.startswith(b"# pack-refs ") and line not in allowed:
                yield Finding("not as pinned", ".git/packed-refs", printable(line))

    def _furniture(self, commit: str, entries: Entries) -> Iterator[Finding]:
        """Configuration, hooks, the guard's list, the patterns of a sparse checkout."""
        for name, _ in read_settings(self.git_dir / "config"):
            if not _FRESH_SETTINGS.fullmatch(name):
                yield Finding("setting", ".git/config", name)
        hook = self.store.read(entries[HOOK].oid, "blob") if HOOK in entries else b""
        for name in HOOKS:
            file = self.git_dir / "hooks" / name
            if file.is_file() and file.read_bytes() != hook:
                yield Finding("hook", f".git/hooks/{name}", "is not the workspace's own")
        guard_list = self.git_dir / GUARD_LIST
        data = guard_list.read_bytes() if guard_list.is_file() else b""
        if f"\nguard {self.store.oid('blob', data)}\n".encode() not in self.store.read(commit, "commit"):
            yield Finding("not as pinned", f".git/{GUARD_LIST}", "is not the list of the snapshot")
        sparse = self.git_dir / "info/sparse-checkout"
        for line in sparse.read_bytes().split(b"\n")[:-1] if sparse.is_file() else []:
            if line != b"/*" and line[2:] not in data.split(b"\n"):
                yield Finding("not as pinned", ".git/info/sparse-checkout", printable(line))

    def _index(self, entries: Entries) -> Iterator[Finding]:
        """The index, read through a private folder, must hold the commit's entries and nothing else."""
        index = self.git_dir / "index"
        environment = neutral_environment(GIT_DIR=str(self.store.directory), GIT_INDEX_FILE=str(index))
        expected = {f"{entry.mode} {entry.oid} 0\t".encode() + path for path, entry in entries.items()}
        for option, allowed in (("--stage", expected), ("--resolve-undo", set[bytes]())):
            answer = git(["ls-files", "-z", option], cwd=self.store.directory, environment=environment)
            lines = set(answer.stdout.split(b"\0")[:-1])
            if answer.returncode or lines != allowed:
                odd = sorted(lines ^ allowed)[:1]
                yield Finding("not as pinned", ".git/index", printable(odd[0]) if odd else "cannot be read")
