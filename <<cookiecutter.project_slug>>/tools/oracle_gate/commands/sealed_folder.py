"""The sealed folder: read whole before anything of a patch runs, from a tree or from a folder of this host."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..core.errors import GateError
from ..core.freeze_ledger import Frozen, parse_freezes
from ..core.gitdb import Entries, ObjectStore
from ..core.manifest import FOLDER, LEDGER, MANIFEST, Manifest, parse_manifest
from ..core.packet import Finding
from ..core.pins import sha256
from ..core.settings import Settings
from ..core.trees import walk
from .context import Context

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class SealedFolder:
    """`files` are the plain files by path below it, as they were when it was opened; `read` reads them anew."""

    files: Files
    read: Callable[[], Files]
    manifest: Manifest
    ledger: tuple[Frozen, ...]

    @property
    def listed(self) -> set[str]:
        """The paths that the manifest binds."""
        properties, fixtures = self.manifest.properties, self.manifest.fixtures
        return {LEDGER, *(item.path for item in properties), *(item.path for item in fixtures)}

    def ledger_findings(self) -> list[Finding]:
        """Whether the freeze ledger is the one that was sealed."""
        data, sealed = self.files.get(LEDGER), self.manifest.freeze_sha256
        if data is None:
            return [Finding("fixtures.missing", FOLDER + LEDGER)] if sealed else []
        if sha256(data) == sealed:
            return []
        detail = "is not what was sealed" if sealed else "was never sealed: run `seal`"
        return [Finding("fixtures.digest_mismatch", FOLDER + LEDGER, detail)]

    def changed_since(self) -> list[Finding]:
        """Listed files that are no longer what they were when the folder was opened."""
        now = self.read()
        changed = (path for path in sorted(self.listed | {MANIFEST}) if now.get(path) != self.files.get(path))
        return [
            Finding("fixtures.digest_mismatch", FOLDER + path, "changed during the run") for path in changed
        ]


def open_sealed(
    context: Context, settings: Settings, entries: Entries, named: Path | None
) -> SealedFolder | None:
    """The folder that `--sealed` or `[sealed] dir` names, else sealed/ of the tree; None without a manifest.

    Raises GateError for a manifest or ledger that cannot be read, or a folder inside the judged work tree.
    """
    folder = outside(context, settings, named)
    read = partial(_of_folder, folder) if folder else partial(_of_tree, context.store, entries)
    files = read()
    if MANIFEST not in files:
        return None
    where = str(folder) + os.sep if folder else FOLDER
    manifest = parse_manifest(files[MANIFEST], where + MANIFEST)
    ledger = parse_freezes(files[LEDGER], where + LEDGER) if LEDGER in files else ()
    return SealedFolder(files, read, manifest, ledger)


def outside(context: Context, settings: Settings, named: Path | None) -> Path | None:
    """The sealed folder outside the repository, if one is named."""
    if not named and not settings.sealed.dir:
        return None
    folder = (named or context.root / settings.sealed.dir).resolve()
    if folder.is_relative_to(context.root.resolve()):
        raise GateError("is inside the judged work tree", where=str(folder), todo="name a folder outside it")
    return folder


def _of_tree(store: ObjectStore, entries: Entries) -> Files:
    prefix = FOLDER.encode()
    return {
        os.fsdecode(path.removeprefix(prefix)): store.read(entry.oid, "blob")
        for path, entry in entries.items()
        if path.startswith(prefix) and entry.mode.startswith("100")
    }


def _of_folder(folder: Path) -> Files:
    """Links are not followed: a file behind one is not there."""
    if not folder.is_dir():
        return {}
    files = {}
    for path, information in walk(folder):
        if stat.S_ISREG(information.st_mode):
            name = folder / os.fsdecode(path)
            with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                files[os.fsdecode(path)] = file.read()
    return files
