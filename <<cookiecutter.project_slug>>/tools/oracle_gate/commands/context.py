"""What every command starts from: the launch by the bootstrap, the repository, the base."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..core.decode import decode_json
from ..core.errors import GateError
from ..core.gitdb import Entries, ObjectStore, Repository
from ..core.submission import Change
from ..core.worktree import submit_work_tree
from .progress import progress

#: The gate's own folder in the judged repository; git-ignored.
OWN_FOLDER = ".gate"


@dataclass(frozen=True)
class Launch:
    """What the bootstrap found: paths, the base's commit id, how it was found, how far to trust the run.

    `home` is the folder that the bootstrap belongs to.
    """

    repository: str
    base: str
    base_from: str
    trust: str
    fresh: str
    home: str = ""


@dataclass(frozen=True)
class Context:
    """An opened repository. `workplace` is a private folder that is gone after the command."""

    launch: Launch
    repository: Repository
    store: ObjectStore
    base_entries: Entries
    workplace: Path

    @property
    def root(self) -> Path:
        """The judged repository's top level."""
        return self.repository.root

    @property
    def own(self) -> Path:
        """Where packets lie."""
        return self.root / OWN_FOLDER

    @property
    def environments(self) -> Path:
        """Where environments lie: what runs in a protected judgement is not the judged repository's."""
        launch = self.launch
        return Path(launch.home) / OWN_FOLDER if launch.trust == "protected" and launch.home else self.own

    def require_oracle(self) -> None:
        """Raises GateError in a generator's workspace, whose base holds no oracle."""
        if not any(path.startswith(b"oracle/") for path in self.base_entries):
            raise GateError(
                "this is a generator workspace: no oracle here",
                todo="`gate.py workspace export .` makes the patch; judge it where the whole repository is",
            )

    def folder(self, name: str) -> Path:
        """A new private folder."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.workplace))

    def work_tree(self, denied: Callable[[bytes], object], root: Path | None = None) -> Change:
        """The work tree (of this repository, or of another folder) as a change to the base."""
        if self.repository.bare and root is None:
            raise GateError("a bare repository has no work tree", where=str(self.root), todo="name a change")
        return submit_work_tree(self.store, self.folder("walk"), self.launch.base, root or self.root, denied)


def parse_launch(text: str) -> Launch:
    """Reads the bootstrap's argument."""
    return decode_json(Launch, text.encode(), "launch")


@contextmanager
def opened(launch: Launch) -> Iterator[Context]:
    """Opens the judged repository; everything private is removed afterwards."""
    workplace = Path(tempfile.mkdtemp(prefix="gate-work-"))
    store = None
    try:
        repository = Repository.discover(Path(launch.repository))
        store = ObjectStore(workplace / "store.git", repository)
        entries = store.entries(store.tree_of(launch.base))
        yield Context(launch, repository, store, entries, workplace)
    finally:
        if store:
            store.close()
        shutil.rmtree(workplace, ignore_errors=True)


def workers(text: str) -> int:
    """A number of worker processes, from the command line."""
    number = int(text)
    if not 1 <= number <= 64:
        raise ValueError
    return number


def warn(message: str) -> None:
    """One line for the human on stderr; the verdict does not depend on it."""
    progress("")
    print(f"gate: warning: {message}", file=sys.stderr)
