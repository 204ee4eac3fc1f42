"""Trees on disk: written from verified blobs, byte for byte, and checked against them afterwards.

Checkout and archive obey attributes of the tree itself (eol, ident, export-ignore drops files), so
neither is used (research: measurements, "git").
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from .errors import GateError
from .gitdb import Entries, Entry, ObjectStore
from .view import link_stays_inside

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def materialise(store: ObjectStore, entries: Entries, destination: Path) -> None:
    """Writes `entries` below `destination`, which must exist and be empty.

    Folders and files are made read-only for others than their owner; symbolic links that leave the
    tree are left out. Raises GateError for a name that no tree may hold.
    """
    made: set[bytes] = set()
    root = os.fsencode(destination)
    for path, entry in sorted(entries.items()):
        parts = path.split(b"/")
        if any(part in (b"", b".", b"..") or part.lower() == b".git" for part in parts):
            raise GateError(f"the tree holds the path {path!r}", todo="remove it from the base")
        folder = b"/".join(parts[:-1])
        if folder not in made:
            os.makedirs(os.path.join(root, folder), 0o755, exist_ok=True)
            made.add(folder)
        data = store.read(entry.oid, "blob")
        if entry.mode == "120000":
            if link_stays_inside(path, data, entries):
                os.symlink(data, os.path.join(root, path))
            continue
        descriptor = os.open(os.path.join(root, path), _NEW, 0o755 if entry.mode == "100755" else 0o644)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)


def differences(store: ObjectStore, entries: Entries, directory: Path) -> list[bytes]:
    """The paths below `directory` that are no longer what `materialise` wrote, sorted."""
    seen = dict(walk(directory))
    wrong = []
    for path, entry in entries.items():
        information = seen.pop(path, None)
        full = os.path.join(os.fsencode(directory), path)
        if entry.mode == "120000" and information is None:
            continue
        if information is None or hash_file(store, full, information) != entry:
            wrong.append(path)
    return sorted([*wrong, *seen])


def walk(directory: Path) -> Iterator[tuple[bytes, os.stat_result]]:
    """Every path below `directory` that is not a folder, and every empty folder; links are not followed."""
    pending = [b""]
    while pending:
        folder = pending.pop()
        empty = True
        with os.scandir(os.path.join(os.fsencode(directory), folder)) as listing:
            for item in listing:
                empty = False
                path = folder + b"/" + item.name if folder else item.name
                if item.is_dir(follow_symlinks=False):
                    pending.append(path)
                else:
                    yield path, item.stat(follow_symlinks=False)
        if empty and folder:
            yield folder, os.lstat(os.path.join(os.fsencode(directory), folder))


def hash_file(store: ObjectStore, path: bytes, information: os.stat_result, *, keep: bool = False) -> Entry:
    """The entry git would give this file, its bytes taken as they are (no filter, no attribute).

    With `keep` the blob is stored as well. Special files and folders have the mode `000000`.
    """
    kind = stat.S_IFMT(information.st_mode)
    if kind == stat.S_IFLNK:
        mode, data = "120000", os.readlink(path)
    elif kind == stat.S_IFREG:
        mode = "100755" if information.st_mode & stat.S_IXUSR else "100644"
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            data = file.read()
    else:
        return Entry("000000", "")
    return Entry(mode, store.write("blob", data) if keep else store.oid("blob", data))
