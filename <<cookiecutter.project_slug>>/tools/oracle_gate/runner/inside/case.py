"""The case folder of a row with "files": laid out before the program runs, compared afterwards."""

from __future__ import annotations

import binascii
import hashlib
import os
import stat
import struct
from collections.abc import Iterable, Iterator

from .folders import Entry, walk

#: One change in the memory file: state, kind, bytes of the path, bytes of the content; then these two.
CHANGE = struct.Struct(">BBIQ")
STATES = ("created", "changed", "deleted")
KINDS = ("file", "executable", "symlink", "directory", "other")
_FILES = ("file", "executable")
_PIECE = 1 << 18
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW

#: What stands at a path of the case folder: its kind, and the digest of a file's bytes.
Laid = dict[bytes, tuple[str, bytes]]
#: Where a laid-out file comes from: {"path": relative to the tree} or {"base64": its bytes}.
Source = dict[str, str]


class TooMuch(Exception):
    """The changes are more bytes than the output limit."""


def lay_out(files: dict[str, Source], tree: str, case: int) -> Laid:
    """Copies `files` (destination -> source) into the open, empty folder `case`; says what stands there now.

    Raises OSError with the destination as its filename.
    """
    laid: Laid = {}
    for destination, source in files.items():
        try:
            _make_folders(destination, laid, case)
            laid[os.fsencode(destination)] = _copy(source, tree, destination, case)
        except OSError as error:
            raise OSError(error.errno, error.strerror, destination) from None
    return laid


def _make_folders(destination: str, laid: Laid, case: int) -> None:
    parts = destination.split("/")
    for depth in range(1, len(parts)):
        path = "/".join(parts[:depth])
        if os.fsencode(path) not in laid:
            os.mkdir(path, 0o755, dir_fd=case)
            laid[os.fsencode(path)] = ("directory", b"")


def _copy(source: Source, tree: str, destination: str, case: int) -> tuple[str, bytes]:
    pieces: Iterable[bytes]
    if "base64" in source:
        pieces, mode = [binascii.a2b_base64(source["base64"])], 0o644
    else:
        original = os.open(f"{tree}/{source['path']}", _READ)
        mode = 0o755 if os.fstat(original).st_mode & stat.S_IXUSR else 0o644
        pieces = _pieces(original)
    digest = hashlib.sha256()
    target = os.open(destination, _WRITE, mode, dir_fd=case)
    try:
        for piece in pieces:
            digest.update(piece)
            write_all(target, piece)
    finally:
        os.close(target)
    return ("executable" if mode == 0o755 else "file"), digest.digest()


def report_changes(case: int, before: Laid, changes: int, limit: int) -> None:
    """Writes every path of `case` that is not what was laid out to the file `changes`, in no order.

    Contents are compared, never times: an edit may keep both length and time
    (approvals/ApprovalTests.Python#159). Raises TooMuch beyond `limit` bytes.
    """
    writer = _ChangeWriter(changes, limit)
    missing = dict(before)
    for entry in walk(case):
        if entry.leaving:
            continue
        path, kind = entry.path, _kind(entry.info)
        old = missing.pop(path, None)
        if old is None or old != (kind, _digest(entry, kind)):
            size = entry.info.st_size if kind in (*_FILES, "symlink") else 0
            writer.change("created" if old is None else "changed", kind, path, size)
            for piece in _content(entry, kind):
                writer.write(piece)
    for path, (kind, _) in missing.items():
        writer.change("deleted", kind, path, 0)


class _ChangeWriter:
    """Appends to the memory file, at most `limit` bytes."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self._descriptor = descriptor
        self._left = limit

    def change(self, state: str, kind: str, path: bytes, size: int) -> None:
        self.write(CHANGE.pack(STATES.index(state), KINDS.index(kind), len(path), size) + path)

    def write(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left < 0:
            raise TooMuch
        write_all(self._descriptor, data)


def _kind(info: os.stat_result) -> str:
    if stat.S_ISREG(info.st_mode):
        return "executable" if info.st_mode & stat.S_IXUSR else "file"
    if stat.S_ISLNK(info.st_mode):
        return "symlink"
    return "directory" if stat.S_ISDIR(info.st_mode) else "other"


def _digest(entry: Entry, kind: str) -> bytes:
    """What `lay_out` would have noted for this path."""
    if kind not in _FILES:
        return b""
    digest = hashlib.sha256()
    for piece in _content(entry, kind):
        digest.update(piece)
    return digest.digest()


def _content(entry: Entry, kind: str) -> Iterator[bytes]:
    """A file's bytes, a link's target, else nothing."""
    if kind == "symlink":
        return iter([os.fsencode(os.readlink(entry.name, dir_fd=entry.folder))])
    if kind not in _FILES:
        return iter(())
    if not entry.info.st_mode & stat.S_IRUSR:
        os.chmod(entry.name, 0o600, dir_fd=entry.folder)
    return _pieces(os.open(entry.name, _READ, dir_fd=entry.folder))


def _pieces(descriptor: int) -> Iterator[bytes]:
    """The bytes of an open file, which is closed at their end."""
    try:
        while piece := os.read(descriptor, _PIECE):
            yield piece
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """os.write until everything is written."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
