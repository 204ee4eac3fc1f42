"""L: workspaces that a generator could read the oracle in; the audit on the trusted side must see each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.baking import bake
from support.gate import run_gate
from support.gitenv import commit_all, git, make_repository
from support.hosts import SEALED, Host
from support.leaks import LEAKS, Plant

#: A clone made with these arguments, or what tests/support/leaks.py plants under this name.
Way = tuple[str, ...] | str


@dataclass(frozen=True)
class Leak:
    """A workspace that holds what it must not."""

    id: str
    title: str
    way: Way

    @property
    def name(self) -> str:
        """Id and title."""
        return f"{self.id} {self.title}"


CASES = (
    Leak("L1", "sparse checkout, as article B has it", ("--sparse",)),
    Leak("L2", "clone without blobs, which fetches them when asked", ("--filter=blob:none", "--no-checkout")),
    Leak("L3", "shallow clone", ("--depth=1",)),
    Leak("L5", "a later branch", "a_later_branch"),
    Leak("L5", "a hidden ref", "another_ref"),
    Leak("L5", "a tag that tells", "annotated_tag"),
    Leak("L7", "objects shared with the host", ("--shared",)),
    Leak("L7", "a worktree", "worktree"),
    Leak("L7", "alternates", "alternates"),
    Leak("L9", "a remote with a token", "remote_url"),
    Leak("L9", "a file of credentials", "credential_file"),
    Leak("L10", "a submodule's folder", "submodule_folder"),
    Leak("L10", "the cache of large files", "lfs_cache"),
    Leak("L17", "a link out of the workspace", "link"),
    Leak("L17", "a hard link", "hard_link"),
    Leak("L18", "a digest of a fixture", "notes"),
    Leak("L18", "a blob id in a document", "blob_id_in_a_document"),
    Leak("L21", "a property's id in a document", "property_id_in_a_document"),
    Leak("L21", "a hidden name in a document", "name_in_a_document"),
    Leak("LiveBench#480", "what a fetch left behind", "reflog"),
    Leak("LiveBench#480", "a compiled copy", "byte_code"),
    Leak("Pro#7", "an earlier version", "earlier_version"),
)


@dataclass(frozen=True)
class Place:
    """The trusted host, and a clean workspace to plant in."""

    host: Host
    clean: Path
    folder: Path

    def finds(self, leak: Leak) -> bool:
        """Whether the audit says anything of a workspace with this leak."""
        workspace = self.folder / "workspace"
        if isinstance(leak.way, str):
            shutil.copytree(self.clean, workspace, symlinks=True)
            LEAKS[leak.way](Plant(workspace, self.host))
        else:
            # Only by its path a clone can share objects.
            origin = str(self.host.root) if "--shared" in leak.way else f"file://{self.host.root}"
            git(self.folder, "clone", "--quiet", *leak.way, origin, workspace.name)
        try:
            return bool(self.host.audit(workspace).findings)
        finally:
            shutil.rmtree(workspace)

    def clean_is_clean(self) -> bool:
        """Whether the audit is silent about a workspace that the gate made."""
        return not self.host.audit(self.clean).findings


@contextmanager
def open_place(folder: Path) -> Iterator[Place]:
    """A host with a history, and a snapshot made of it."""
    root = make_repository(bake(folder / "bake"))
    for path, data in SEALED.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    fixture = root / "sealed/fixtures/put_ok.bin"
    fixture.write_bytes(b"KEY=first\nVALUE=an earlier fixture that was replaced since\n" * 3)
    commit_all(root, "Scaffold")
    fixture.write_bytes(SEALED["sealed/fixtures/put_ok.bin"])
    commit_all(root, "Seal")
    git(root, "switch", "--quiet", "--create", "later")
    (root / "sealed/fixtures/f_late.bin").write_bytes(b"KEY=late\nVALUE=of a branch nobody merged yet\n" * 3)
    commit_all(root, "A later fixture")
    git(root, "switch", "--quiet", "main")
    git(root, "config", "uploadpack.allowFilter", "true")
    clean = folder / "clean"
    run_gate(root / "tools/gate.py", "workspace", "create", str(clean), "--mode", "snapshot", check=0)
    yield Place(Host(root), clean, folder)
