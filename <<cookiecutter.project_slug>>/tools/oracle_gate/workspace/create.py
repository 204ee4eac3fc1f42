"""Builds a generator's workspace that holds no hidden object (design, sections 1 and 4).

Everything is written aside and renamed: a failure leaves nothing behind.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from ..core.errors import GateError
from ..core.gitdb import ObjectStore, Repository, git
from .snapshot import BRANCH, GUARD_LIST, HOOKS, TAG, Snapshot

Mode = Literal["snapshot", "sparse", "tarball"]
#: The only top-level name of a tarball.
FOLDER = b"workspace"


def create(
    snapshot: Snapshot,
    store: ObjectStore,
    repository: Repository,
    destination: Path,
    mode: Mode,
    progress: Callable[[str], None],
) -> None:
    """Makes `destination`: a repository with one commit, or a .tar.gz of the files alone.

    Raises GateError when it exists or lies inside the repository that holds the oracle.
    """
    destination = destination.absolute()
    _check(destination, repository)
    with _staging(destination) as staging:
        if mode == "tarball":
            progress(f"packing {len(snapshot.entries)} files")
            _write_tarball(snapshot, store, staging)
        else:
            staging.mkdir()
            progress("packing objects")
            _write_repository(snapshot, store, staging)
            progress(f"writing {len(snapshot.entries)} files")
            _write_files(snapshot, staging)
            if mode == "sparse":
                _make_sparse(snapshot.hidden, staging)


def _check(destination: Path, repository: Repository) -> None:
    if os.path.lexists(destination):
        raise GateError("exists already", where=str(destination), todo="name a new folder")
    if not destination.parent.is_dir():
        raise GateError("no such folder", where=str(destination.parent), todo="make it first")
    inside = destination.parent.resolve()
    if any(
        Path(place).resolve() in (inside, *inside.parents) for place in (repository.root, repository.git_dir)
    ):
        raise GateError(
            "lies inside the repository that holds the oracle",
            where=str(destination),
            todo="put it elsewhere",
        )


@contextmanager
def _staging(destination: Path) -> Iterator[Path]:
    """A name beside the destination, renamed to it at the end; removed after a failure."""
    staging = destination.with_name(f".{destination.name}.{os.getpid()}")
    try:
        yield staging
        if os.path.lexists(destination):
            raise GateError("appeared meanwhile", where=str(destination), todo="name a new folder")
        staging.rename(destination)
    finally:
        if staging.is_dir():
            shutil.rmtree(staging)
        staging.unlink(missing_ok=True)


def _git(folder: Path, *arguments: str, data: bytes = b"") -> None:
    answer = git(["-c", "core.logAllRefUpdates=false", *arguments], cwd=folder, data=data)
    if answer.returncode:
        detail = " ".join(answer.stderr.decode(errors="replace").split())[:200]
        raise GateError(f"git {arguments[0]} failed: {detail}", todo="run `git fsck` in the repository")


def _write_repository(snapshot: Snapshot, store: ObjectStore, folder: Path) -> None:
    """.git with one pack, two refs, the guard and no trace of how it was made."""
    _git(
        folder, "init", "--quiet", "--template=", f"--initial-branch={BRANCH.rpartition('/')[2]}",
        f"--object-format={store.object_format}",
    )  # fmt: skip
    answer = store.run("pack-objects", "--quiet", "--revs", "workspace", data=f"{snapshot.commit}\n".encode())
    if answer.returncode:
        raise GateError("the base has missing objects", todo="run `git fsck`, fetch the whole history")
    name = f"pack-{answer.stdout.decode().strip()}.pack"
    packs = folder / ".git/objects/pack"
    shutil.copyfile(store.directory / name.replace("pack", "workspace", 1), packs / name)
    # The index is computed from the bytes: an object that is not what its id says has no place in it.
    _git(folder, "-c", "pack.writeReverseIndex=false", "index-pack", str(packs / name))
    for ref in (BRANCH, TAG):
        _git(folder, "update-ref", ref, snapshot.commit)
    guard_list = folder / ".git" / GUARD_LIST
    guard_list.parent.mkdir()
    guard_list.write_bytes(snapshot.guard_list)
    if snapshot.hook:
        (folder / ".git/hooks").mkdir()
        for name in HOOKS:
            (folder / ".git/hooks" / name).write_bytes(snapshot.hook)
            (folder / ".git/hooks" / name).chmod(0o755)


def _write_files(snapshot: Snapshot, folder: Path) -> None:
    """The index and the files, byte for byte: attributes of the tree count again from the first edit on."""
    attributes = folder / ".git/info/attributes"
    attributes.parent.mkdir()
    attributes.write_text("* -text !eol !ident !filter !working-tree-encoding\n")
    _git(folder, "read-tree", "--reset", "-u", snapshot.commit)
    shutil.rmtree(attributes.parent)


def _make_sparse(hidden: tuple[str, ...], folder: Path) -> None:
    """Article B's form: patterns that name what is absent anyway."""
    patterns = (re.sub(r"([\\*?\[ ])", r"\\\1", path.strip("/")) for path in hidden)
    (folder / ".git/info").mkdir()
    lines = "".join(f"!/{pattern}\n" for pattern in patterns)
    (folder / ".git/info/sparse-checkout").write_text("/*\n" + lines, encoding="utf-8", newline="")
    for name, value in (("sparseCheckout", "true"), ("sparseCheckoutCone", "false")):
        _git(folder, "config", f"core.{name}", value)


def _write_tarball(snapshot: Snapshot, store: ObjectStore, file: Path) -> None:
    """The files by name: no attribute of the tree is asked, and the same base gives the same bytes."""
    with (
        file.open("xb") as raw,
        gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8") as archive,
    ):
        for path, entry in sorted(snapshot.entries.items()):
            member = tarfile.TarInfo((FOLDER + b"/" + path).decode("utf-8", "surrogateescape"))
            data = store.read(entry.oid, "blob")
            member.mode = 0o755 if entry.mode == "100755" else 0o644
            if entry.mode == "120000":
                member.type, member.linkname = tarfile.SYMTYPE, data.decode("utf-8", "surrogateescape")
            else:
                member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
