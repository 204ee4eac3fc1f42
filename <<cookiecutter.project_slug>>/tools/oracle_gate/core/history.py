"""oracle/approvals/ of a commit: every behaviour change that a human let through (design, section 10)."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import PurePosixPath

from .errors import GateError
from .gitdb import Entries, ObjectStore
from .paths import printable
from .statements import FOLDER, Statement, parse_statement


@dataclass(frozen=True)
class Past:
    """One statement of a commit's history; `day` is the UTC day of the commit that added it, if that is known.

    The signature was verified when it came in; who may sign today says nothing of it.
    """

    day: str
    name: str
    statement: Statement | None

    @property
    def text(self) -> str:
        """In one line: kind, what about, why."""
        if self.statement is None:
            return "cannot be read"
        told = self.statement
        about = [f"{row} {pin.old[:8]} -> {pin.new[:8]}" for row, pin in told.ids.items()]
        return f"{told.kind} {', '.join([*about, *told.paths, *told.rules])}: {told.note}"


def read_history(store: ObjectStore, commit: str, entries: Entries) -> tuple[Past, ...]:
    """The statements in a commit's tree, the newest first; those of unknown day are last."""
    files = {
        path: entry.oid
        for path, entry in entries.items()
        if path.startswith(FOLDER.encode()) and path.endswith(b".json") and entry.mode.startswith("100")
    }
    times = _times(store, commit) if files else {}
    past = []
    for path in sorted(files, key=lambda path: (-times.get(path, 0), path)):
        day = (
            f"{datetime.datetime.fromtimestamp(times[path], datetime.UTC):%Y-%m-%d}" if path in times else ""
        )
        try:
            statement = parse_statement(store.read(files[path], "blob"), printable(path))
        except GateError:
            statement = None
        past.append(Past(day, PurePosixPath(printable(path)).stem, statement))
    return tuple(past)


def _times(store: ObjectStore, commit: str) -> dict[bytes, int]:
    """When each file below oracle/approvals/ was last added, in seconds since 1970.

    At its border a shallow clone seems to add everything: that says nothing.
    """
    border = store.directory / "shallow"
    shallow = border.read_bytes().split() if border.exists() else []
    answer = store.run(
        "log", "--format=%x00%H %ct", "--name-only", "--diff-filter=A", "--no-renames", commit, "--", FOLDER
    )
    found: dict[bytes, int] = {}
    for part in answer.stdout.split(b"\0")[1:]:
        head, *names = part.split(b"\n")
        oid, time = head.split()
        for name in filter(None, names):
            if oid not in shallow:
                found.setdefault(name, int(time))
    return found
