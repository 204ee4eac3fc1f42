"""`[subject] setup`: builds a tree before rows run in it (design, section 7).

Each command runs inside the sandbox in a writable copy of the tree; the files that it creates, changes
or deletes there join the tree. So a built tree is a tree like any other: written from verified blobs,
read-only, checked afterwards. The rows' own inputs, below corpus/, are not its to change.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ..core.gitdb import Entries, Entry, ObjectStore
from ..core.observation import ByteSource, FileChange, Observation
from ..core.paths import printable
from ..core.trees import differences, materialise
from ..core.view import CORPUS
from ..sandbox.layer import Inside, Layer
from .environment import Subject
from .job import Job, Limits, TreeSource
from .pool import Pool

#: Bytes that one command may write, and the part of its output that is kept when it fails.
_OUTPUT_BYTES, _KEPT = 1 << 30, 2000


@dataclass(frozen=True)
class Built:
    """The tree after setup, and the paths that setup `made` or changed.

    `failure` says which command failed and how, empty when none did.
    """

    entries: Entries
    failure: str = ""
    made: frozenset[bytes] = frozenset()


@dataclass(frozen=True)
class Builder:
    """Runs the setup commands, `timeout_s` seconds each."""

    store: ObjectStore
    layer: Layer
    subject: Subject
    commands: Sequence[Sequence[str]]
    timeout_s: float

    def build(self, entries: Entries) -> Built:
        """The tree with what the commands made of it; the commands stop at the first failure."""
        tree = dict(entries)
        for number, argv in enumerate(self.commands, 1):
            source = TreeSource(
                partial(materialise, self.store, tree), partial(differences, self.store, tree)
            )
            limits = Limits(self.timeout_s, _OUTPUT_BYTES)
            job = Job("setup", tuple(argv), files=dict(_copies(self.store, tree)), timeout_s=self.timeout_s)
            with Pool(source, self.layer, self.subject, limits=limits) as pool:
                ((_, (changes, failure)),) = pool.run([job], self._outcome)
            if failure:
                return Built(tree, f"command {number} ({' '.join(argv)[:80]}) {failure}")
            wrong = next((path for path, _ in changes if _is_not_its(path)), None)
            if wrong is not None:
                return Built(tree, f"command {number} ({' '.join(argv)[:80]}) writes {printable(wrong)}")
            for path, entry in changes:
                tree.pop(path, None)
                if entry is not None:
                    tree[path] = entry
        made = frozenset(path for path, entry in tree.items() if entries.get(path) != entry)
        return Built(tree, made=made)

    def _outcome(
        self, _job: Job, observation: Observation, _inside: Inside
    ) -> tuple[list[tuple[bytes, Entry | None]], str]:
        if observation.status != "exited":
            return [], f"ended as {observation.status}"
        if observation.exit_code:
            return [], ": ".join(
                filter(None, (f"gave exit code {observation.exit_code}", _tail(observation)))
            )
        return [(change.path, self._entry(change)) for change in observation.files], ""

    def _entry(self, change: FileChange) -> Entry | None:
        """What a changed path is in a tree; folders and special files are not in one."""
        modes = {"file": "100644", "executable": "100755", "symlink": "120000"}
        if change.state == "deleted" or change.kind not in modes:
            return None
        return Entry(modes[change.kind], self.store.write("blob", _whole(change.content)))


def _copies(store: ObjectStore, tree: Entries) -> list[tuple[str, str]]:
    """Destination -> source of every file; a link to a file of the tree becomes a copy of that file."""
    copies = []
    for path, entry in tree.items():
        source = path
        if entry.mode == "120000":
            target = store.read(entry.oid, "blob")
            source = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if source in tree and tree[source].mode.startswith("100"):
            copies.append((os.fsdecode(path), os.fsdecode(source)))
    return copies


def _is_not_its(path: bytes) -> bool:
    return path.startswith(CORPUS) or b".git" in path.lower().split(b"/")


def _whole(source: ByteSource) -> bytes:
    return b"".join(source.chunks())


def _tail(observation: Observation) -> str:
    text = (_whole(observation.stderr) or _whole(observation.stdout))[-_KEPT:]
    return " ".join(text.decode("utf-8", "replace").split())[-300:]
