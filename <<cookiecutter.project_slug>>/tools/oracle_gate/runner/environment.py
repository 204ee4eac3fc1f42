"""The environment that programs run in: which variables they see, and which file a name means.

A literal list, never os.environ: yamllint changes its output when it sees GITHUB_ACTIONS, clap when it
sees COLORTERM (vercel/turborepo#11564; design, section 7).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..sandbox.layer import Inside

_SYSTEM = (Path("/usr/bin"), Path("/bin"))


@dataclass(frozen=True)
class Subject:
    """Where the judged programs find what they need; absolute paths outside the sandbox.

    `python` is the interpreter (a virtual environment's, unresolved), `tools` are folders of further
    programs, `import_path` becomes PYTHONPATH (relative to the tree), `read_only` are the folders a
    sandbox has to show, the interpreter's included.
    """

    python: Path
    tools: tuple[Path, ...] = ()
    import_path: tuple[str, ...] = ("src",)
    read_only: tuple[Path, ...] = ()

    @property
    def search_path(self) -> tuple[Path, ...]:
        """PATH: the tools, the environment's own programs, the system's."""
        return (*self.tools, self.python.parent, *_SYSTEM)


@dataclass(frozen=True)
class Envelope:
    """What is around a run and must not change what it shows: the hash seed, other variables, absent ones."""

    hash_seed: int = 0
    variables: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


STANDARD = Envelope()


def another_envelope(hash_seed: int) -> Envelope:
    """One without what article A sets for the gate's runs: a program must not behave for these alone."""
    return Envelope(hash_seed, removed=("SOURCE_DATE_EPOCH",))


def variables(subject: Subject, inside: Inside) -> dict[str, str]:
    """The environment variables that every run of one worker has in common."""
    return {
        "PATH": os.pathsep.join(map(str, subject.search_path)),
        "HOME": f"{inside.scratch}/home",
        "TMPDIR": f"{inside.scratch}/tmp",  # noqa: S108
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "80",
        "SOURCE_DATE_EPOCH": "0",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONPATH": os.pathsep.join(f"{inside.tree}/{path}" for path in subject.import_path),
        # An interpreter that runs as root would write into the read-only tree.
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def additions(envelope: Envelope, row: Mapping[str, str]) -> dict[str, str | None]:
    """What one run has besides or instead (None: has not); the row's own variables come last."""
    removed = dict.fromkeys(envelope.removed)
    return {**removed, "PYTHONHASHSEED": str(envelope.hash_seed), **envelope.variables, **row}


def find(name: str, subject: Subject) -> Path | None:
    """The program that a name without a slash means on the subject's PATH."""
    for folder in subject.search_path:
        found = folder / name
        if found.is_file() and os.access(found, os.X_OK):
            return found
    return None
