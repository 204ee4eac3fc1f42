"""Small repositories and the engine's object store on them, for tests of the engine's core."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from oracle_gate.core.gitdb import Entry, ObjectStore, Repository
from oracle_gate.core.submission import Change, finish

from support.gitenv import commit_all, git, make_repository


def write_files(root: Path, files: Mapping[str, bytes | str]) -> None:
    """Writes the files below `root`, making their folders."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def repository(root: Path, files: Mapping[str, bytes | str]) -> str:
    """A repository on the branch main with one commit of these files. Returns the commit's id."""
    make_repository(root)
    write_files(root, files)
    return commit_all(root, "Base")


@contextmanager
def opened(folder: Path, root: Path | None = None) -> Iterator[ObjectStore]:
    """A private object store in `folder` that borrows the objects of the repository `root`, if given."""
    store = ObjectStore(folder, Repository.discover(root) if root else None)
    try:
        yield store
    finally:
        store.close()


def entries(store: ObjectStore, files: Mapping[str, bytes | str]) -> dict[bytes, Entry]:
    """Plain-file entries whose blobs are written to the store."""
    return {
        name.encode(): Entry("100644", store.write("blob", data.encode() if isinstance(data, str) else data))
        for name, data in files.items()
    }


def change(store: ObjectStore, before: Mapping[str, bytes | str], after: Mapping[str, bytes | str]) -> Change:
    """The change from one set of plain files to another."""
    return finish("0" * 40, entries(store, before), entries(store, after), (), ())


def forge(root: Path, oid: str, kind: str, data: bytes) -> None:
    """Puts a loose object of other content under `oid`; whatever held it before is unpacked or replaced."""
    unpack(root)
    path = root / ".git/objects" / oid[:2] / oid[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(zlib.compress(f"{kind} {len(data)}\0".encode() + data))


def unpack(root: Path) -> None:
    """Turns every pack of a repository into loose objects."""
    folder = root / ".git/objects/pack"
    for pack in list(folder.glob("*.pack")):
        data = pack.read_bytes()
        for file in folder.glob(pack.stem + ".*"):
            file.unlink()
        git(root, "unpack-objects", "-q", data=data)
