"""The full check of a workspace, on the trusted side, which knows what is hidden (design, section 4).

Every file below the folder is looked at, .git included, and every git object, whatever pack or loose
file holds it. Nothing of the workspace is run, no link is followed, none of its configuration obeyed.
Linear in the size of what is looked at; what the base's visible tree holds is not looked at again.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..core.gitdb import ObjectStore
from ..core.paths import printable
from ..core.trees import walk
from ..core.view import is_hidden
from .furniture import furniture
from .hidden import DENSE, SMALLEST, Evidence, Index
from .objects import add_pack, all_objects, reachable
from .report import Audit, digest_of
from .snapshot import Finding, Snapshot
from .unpack import Budget, inside

#: How often something packed may be packed again; bytes of a file that are looked at in one piece, of the
#: overlap of two pieces, of the largest git object.
DEPTH, PIECE, OVERLAP, LARGEST = 6, 32 << 20, 1 << 16, 64 << 20
_PACK = re.compile(rb"PACK\0\0\0[\2\3]")
_LOOSE = re.compile(rb"(blob|tree|commit|tag) \d+\0")


def secrets(
    store: ObjectStore, snapshot: Snapshot, hidden: Iterable[tuple[str, bytes]]
) -> dict[str, tuple[bytes, int]]:
    """Path and size by id, of the hidden files that are told from chance: not shown as well, not small."""
    known = _shown(store, snapshot)
    paths = {oid: path for oid, path in sorted(hidden) if oid not in known}
    form = "--batch-check=%(objectname) %(objectsize)"
    lines = store.run("cat-file", form, data="".join(f"{oid}\n" for oid in paths).encode()).stdout.decode()
    sizes = (
        (oid, int(size) if size.isdigit() else SMALLEST) for oid, size in map(str.split, lines.splitlines())
    )
    return {oid: (paths[oid], size) for oid, size in sizes if size >= SMALLEST}


def _shown(store: ObjectStore, snapshot: Snapshot) -> set[str]:
    """The ids of everything that a fresh workspace holds."""
    return {*reachable(store, snapshot.commit), store.oid("blob", snapshot.guard_list)}


def audit(
    folder: Path,
    store: ObjectStore,
    snapshot: Snapshot,
    hidden: Iterable[tuple[str, bytes]],
    workplace: Path,
    progress: Callable[[str], None],
    budget: Budget | None = None,
) -> Audit:
    """Looks for the files `hidden` (id, path) of the base's store in `folder`; `workplace` is empty."""
    packs = ObjectStore(workplace / "packs.git", None, store.object_format)
    search = _Search(folder, store, snapshot, packs, budget or Budget(), progress)
    try:
        search.index_hidden(hidden)
        search.files()
        search.objects()
        head = _head(folder / ".git")
        tree = packs.tree_of(head) if head in search.seen else ""
        findings = (*furniture(folder, snapshot), *search.findings())
    finally:
        packs.close()
    return Audit(
        schema="workspace-audit-v1",
        base=snapshot.base,
        snapshot=snapshot.commit,
        head=head,
        tree=tree,
        hidden_sha256=digest_of(search.index.copies),
        findings=tuple(dict.fromkeys(findings)),
        counts=dict(search.counts),
    )


class _Search:
    """One audit at work: what is known, what was found where, what could not be looked into."""

    def __init__(
        self, folder: Path, store: ObjectStore, snapshot: Snapshot, packs: ObjectStore, budget: Budget,
        progress: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.folder, self.store, self.snapshot, self.packs = folder, store, snapshot, packs
        self.budget, self.progress = budget, progress
        self.small = Budget()  # of names, link texts and attributes: large files leave it alone
        self.known = _shown(store, snapshot)
        self.index = Index()
        self.found: defaultdict[str, set[Evidence]] = defaultdict(set)
        self.problems: list[Finding] = []
        self.seen: set[str] = set()
        self.counts: Counter[str] = Counter(files=0, objects=0, hidden=0)

    def index_hidden(self, hidden: Iterable[tuple[str, bytes]]) -> None:
        """Reads the hidden files, and the ids of the base's folders that hold them."""
        wanted = secrets(self.store, self.snapshot, hidden)
        if sum(size for _, size in wanted.values()) > DENSE:
            self.index.step = 1
        for _, path in hidden:
            self.index.add_name(path)
        self.index.file_names()
        for oid, (path, _) in wanted.items():
            self.index.add(path, oid, self.store.read(oid, "blob"))
        files = {path for _, path in hidden}
        for oid, path in reachable(self.store, self.store.tree_of(self.snapshot.base)).items():
            if oid not in self.known and path not in files:
                self.index.add_id(oid, path)
        self.counts["hidden"] = len(self.index.copies)

    def files(self) -> None:
        """Every file below the folder: its name, content, link text and extended attributes."""
        folders: set[bytes] = set()
        for path, information in walk(self.folder):
            self.counts["files"] += 1
            if self.counts["files"] % 1000 == 0:
                self.progress(f"{self.counts['files']} files looked at")
            where = printable(path)
            self.look(path, where, budget=self.small)
            self._attributes(path, where)
            parent = path.rpartition(b"/")[0]
            while parent not in folders:
                folders.add(parent)
                self._attributes(parent, printable(parent) or ".")
                parent = parent.rpartition(b"/")[0]
            if is_hidden(path, self.snapshot.hidden):
                self.problems.append(Finding("hidden path", where))
            if stat.S_ISREG(information.st_mode):
                self._file(path, where)
            elif stat.S_ISLNK(information.st_mode):
                target = (self.folder / os.fsdecode(path)).readlink()
                self.look(os.fsencode(target), where, budget=self.small)
            elif not stat.S_ISDIR(information.st_mode):
                self.problems.append(Finding("not looked into", where, "not a file"))

    def _attributes(self, path: bytes, where: str) -> None:
        """The extended attributes of a file or folder, which no commit shows."""
        full = self.folder / os.fsdecode(path)
        if not hasattr(os, "listxattr"):  # Linux has them
            return
        try:
            for name in os.listxattr(full, follow_symlinks=False):
                shown = f"{where} (attribute {printable(os.fsencode(name))})"
                for text in (os.fsencode(name), os.getxattr(full, name, follow_symlinks=False)):
                    self.look(text, shown, budget=self.small)
        except OSError as error:
            if error.errno != errno.ENOTSUP:
                reason = error.strerror or "has unreadable attributes"
                self.problems.append(Finding("not looked into", where, reason))

    def _file(self, path: bytes, where: str) -> None:
        full = self.folder / os.fsdecode(path)
        try:
            descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            self.problems.append(Finding("not looked into", where, error.strerror or "cannot be opened"))
            return
        with os.fdopen(descriptor, "rb") as file:
            piece = file.read(PIECE)
            if piece.startswith(b"PACK"):
                if complaint := add_pack(self.packs, full):
                    self.problems.append(Finding("not looked into", where, complaint))
            elif not self._loose(piece):
                while piece:
                    self.look(piece, where)
                    rest = file.read(PIECE)
                    piece = piece[-OVERLAP:] + rest if rest else b""

    def _loose(self, data: bytes) -> bool:
        """Stores the object when the bytes are one, alone and whole."""
        stream = zlib.decompressobj()
        try:
            content = stream.decompress(data, self.budget.item)
        except zlib.error:
            return False
        header = _LOOSE.match(content)
        if not header or not stream.eof or stream.unused_data:
            return False
        return bool(self.packs.write(header[1].decode(), content[header.end() :]))

    def objects(self) -> None:
        """Every git object that packs and loose files brought; packs inside objects bring more."""
        while new := [known for known in all_objects(self.packs) if known.oid not in self.seen]:
            for oid, kind, size in new:
                self.seen.add(oid)
                self.counts["objects"] += 1
                if size > LARGEST:
                    self.problems.append(Finding("not looked into", f"{kind} {oid}", f"{size} bytes"))
                elif oid not in self.known:
                    self.look(self.packs.read(oid, kind), f"{kind} {oid}", 1)

    def look(self, data: bytes, where: str, depth: int = 0, budget: Budget | None = None) -> None:
        """Compares bytes, and what they hold packed or encoded, with the index."""
        budget = budget or self.budget
        oid = self.store.oid("blob", data)
        if oid in self.known:
            return
        copied = self.index.copies.get(oid)
        if copied:
            self._note(where, {Evidence("copy", oid.encode(), copied)})
            return
        self._note(where, self.index.evidence(data))
        for start in _PACK.finditer(data):
            if complaint := add_pack(self.packs, data[start.start() :]):
                self.problems.append(Finding("not looked into", where, complaint))
        if depth < DEPTH:
            for how, inner in inside(data, budget):
                if inner:
                    self.look(inner, f"{where} ({how})", depth + 1, budget)
        self.problems += [Finding("not looked into", where, reason) for reason in budget.unread]
        budget.unread.clear()

    def _note(self, where: str, evidence: set[Evidence]) -> None:
        if evidence:
            self.found[where] |= evidence

    def findings(self) -> Iterator[Finding]:
        """What was found, without what the visible tree of the base holds as well."""
        yield from self.problems
        everything = set().union(*self.found.values())
        innocent: set[Evidence] = set()
        if everything:
            index = self.index.only(everything)
            for path, entry in self.snapshot.entries.items():
                innocent |= index.evidence(path) | index.evidence(self.store.read(entry.oid, "blob"))
        for where, evidence in sorted(self.found.items()):
            for kind, source in sorted({(kind, source) for kind, _, source in evidence - innocent}):
                yield Finding(f"hidden {kind}", where, source)


def _head(git_dir: Path) -> str:
    """The commit id that HEAD leads to, read as text; empty when there is none."""
    files = [git_dir / "HEAD", git_dir / "packed-refs"]
    if any(file.is_symlink() or not file.is_file() for file in files[: 1 + files[1].exists()]):
        return ""
    head = files[0].read_text(errors="replace").strip()
    name = head.removeprefix("ref: ")
    if name != head and ".." not in name:
        loose, packed = git_dir / name, files[1].read_text(errors="replace") if files[1].exists() else ""
        found = re.search(rf"(?m)^([0-9a-f]+) {re.escape(name)}$", packed)
        head = loose.read_text(errors="replace").strip() if loose.is_file() else found[1] if found else ""
    return head if re.fullmatch(r"[0-9a-f]{40,64}", head) else ""
