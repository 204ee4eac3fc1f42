"""Git objects of a folder that nobody vouches for: its packs are indexed anew, in a private store.

An .idx file can leave an object out, alternates can lead anywhere: neither is looked at.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from ..core.errors import GateError
from ..core.gitdb import ObjectStore, Repository, git, neutral_environment

#: Bytes of the largest pack that is read.
LARGEST_PACK = 4 << 30
_INDEX_PACK = (
    "-c", "pack.threads=1", "-c", "core.bigFileThreshold=16m", "index-pack", f"--max-input-size={LARGEST_PACK}"
)  # fmt: skip


class Known(NamedTuple):
    """An object of the store: its id, kind and size in bytes."""

    oid: str
    kind: str
    size: int


def add_pack(store: ObjectStore, source: Path | bytes) -> str:
    """Copies a pack into the store and indexes it; returns why it cannot be read, or nothing.

    A file must be a pack from its first byte to its last; bytes may go on after the pack's end.
    """
    if isinstance(source, bytes):
        answer = store.run(*_INDEX_PACK, "--stdin", data=source)
    else:
        folder = store.directory / "objects/pack"
        copy = folder / f"pack-{sum(1 for _ in folder.iterdir()):040x}.pack"
        with os.fdopen(os.open(source, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file, copy.open("wb") as target:
            shutil.copyfileobj(file, target)
        answer = store.run(*_INDEX_PACK, str(copy))
        if answer.returncode:
            copy.unlink()
    return " ".join(answer.stderr.decode(errors="replace").split())[:200] if answer.returncode else ""


def unpack_head(store: ObjectStore, file: Path, name: str) -> str | None:
    """Takes a pack or a bundle into the store, as checked data; the id of its commit `name`, if it is one.

    Only a bundle knows refs; in a pack `name` is a full id. Raises GateError when git finds it unsound.
    """
    data, refs = file.read_bytes(), {name: name}
    if data.startswith(b"# v"):
        header, _, data = data.partition(b"\n\n")
        lines = (line.decode(errors="replace").partition(" ") for line in header.split(b"\n")[1:])
        refs |= {ref: oid for oid, _, ref in lines}
    _take_strictly(store, data, str(file))
    head = refs.get(f"refs/heads/{name}", refs[name])
    return head if is_commit(store, head) else None


def recheck(store: ObjectStore, head: str, pin: str) -> None:
    """Checks the objects of a head that git fetched, which looks at them less closely."""
    packed = store.run("pack-objects", "--quiet", "--revs", "--stdout", data=f"{head}\n^{pin}\n".encode())
    _take_strictly(store, packed.stdout, head)


def _take_strictly(store: ObjectStore, data: bytes, where: str) -> None:
    answer = store.run("index-pack", "--strict", "--fix-thin", "--stdin", data=data)
    if answer.returncode:
        raise GateError("is no sound pack or bundle", where=where, todo="cut the change again")


def is_commit(store: ObjectStore, oid: str) -> bool:
    """Whether this is the full id of a commit of the store."""
    full = re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", oid)
    return bool(full) and store.run("cat-file", "-t", oid).stdout == b"commit\n"


def all_objects(store: ObjectStore) -> list[Known]:
    """Every object of the store, reachable or not."""
    form = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
    lines = store.run("cat-file", "--batch-all-objects", "--unordered", form).stdout.decode().splitlines()
    return [Known(oid, kind, int(size)) for oid, kind, size in map(str.split, lines)]


def reachable(store: ObjectStore, commit: str) -> dict[str, bytes]:
    """The ids of a commit, its ancestors and all their trees and files, each with a path that leads to it."""
    answer = store.run("rev-list", "--objects", commit)
    if answer.returncode:
        raise GateError(f"objects of {commit[:12]} are missing", todo="make a new workspace")
    lines = (line.partition(b" ") for line in answer.stdout.split(b"\n")[:-1])
    return {oid.decode(): path for oid, _, path in lines}


def read_settings(config: Path) -> list[tuple[str, str]]:
    """The names and values of a git configuration file, includes not followed; GateError when it is none."""
    answer = git(["config", "--file", str(config), "--no-includes", "--list", "-z"], cwd=config.parent)
    if answer.returncode:
        raise GateError("is not a git configuration file", where=str(config), todo="repair or remove it")
    lines = answer.stdout.decode(errors="replace").split("\0")[:-1]
    return [(name, value) for name, _, value in (line.partition("\n") for line in lines)]


def files_ever(
    store: ObjectStore, repository: Repository, base: str, prefixes: tuple[str, ...]
) -> set[tuple[str, bytes]]:
    """Id and path of every file that any commit of any ref, or the base, had at or below the prefixes."""
    refs = git(["for-each-ref", "--format=%(objectname)"], cwd=repository.root).stdout
    form = ("-m", "--root", "--no-renames", "--raw", "--no-abbrev", "-z", "--format=", "--stdin")
    places = (f":(top,icase,literal){prefix.strip('/')}" for prefix in prefixes)
    environment = neutral_environment(GIT_DIR=str(store.directory), GIT_LITERAL_PATHSPECS="0")
    answer = git(
        ["log", *form, "--", *places],
        cwd=store.directory,
        data=refs + base.encode() + b"\n",
        environment=environment,
    )
    if answer.returncode:
        raise GateError("the history cannot be read", todo="run `git fsck`, fetch the whole history")
    lines = re.findall(rb":(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) \w\0([^\0]+)\0", answer.stdout)
    sides = (
        (mode, oid, path)
        for before, after, old, new, path in lines
        for mode, oid in ((before, old), (after, new))
    )
    return {(oid.decode(), path) for mode, oid, path in sides if mode.startswith(b"10")}
