"""What one judgement is about, what its lanes get, and what they give."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..core.approvals import Verified
from ..core.gitdb import Entries
from ..core.oracle import Oracle
from ..core.packet import Workspace
from ..core.submission import Change
from ..lanes.replay import Replayers
from ..runner.claims import Run
from ..runner.pool import Pool
from ..runner.replayer import Bench
from .context import Context
from .evidence import TestEvidence
from .progress import Progress, progress
from .sealed_folder import SealedFolder


@dataclass(frozen=True)
class Case:
    """One judgement: the change, what judges it, as of which day, with how many workers, isolated or not.

    `corpus` is the tree whose corpus data rows read, `now` an injected clock, `approvals` files of statements,
    `envelope_seed` decides on the rows that run in another envelope, and on which one; a patch must not know it.
    `sealed_dir` the folder that `--sealed` names, `sealed` what was read of it before any patched code ran;
    `workspace` is what an audit says of where the change was made.
    """

    context: Context
    oracle: Oracle
    corpus: Entries
    change: Change
    mode: str
    today: datetime.date
    workers: int | None
    sandbox: str = "auto"
    now: datetime.date | None = None
    approvals: tuple[Path, ...] = ()
    sealed_dir: Path | None = None
    sealed: SealedFolder | None = None
    workspace: Workspace = field(default_factory=Workspace)
    envelope_seed: int = 0
    progress: Progress = progress
    verified: Verified = field(default_factory=lambda: Verified((), (), frozenset()))


@dataclass(frozen=True)
class Arena:
    """Where patched code runs: pools on the tree of the patch (twice) and on the base's; `elsewhere` the same
    in another envelope.

    `pool` is the second one and `base_pool` the base's, for lanes that run single programs; `tests` is what
    the lanes about tests share. `runs_elsewhere` runs a program of the patch, and of the base, in the other
    envelope.
    """

    bench: Bench
    replayers: Replayers
    elsewhere: Replayers
    pool: Pool
    base_pool: Pool
    runs_elsewhere: tuple[Run, Run]
    tests: TestEvidence


@dataclass(frozen=True)
class LaneResult:
    """What a lane found: packet fields by name, the lane's state, numbers for `counts`."""

    fields: Mapping[str, Any]
    state: Literal["ran", "empty", "absent", "not_run"]
    counts: Mapping[str, int]


#: A lane that runs patched code; it gets no arena when the judgement has ended before it.
Lane = Callable[[Case, Arena | None], LaneResult]
