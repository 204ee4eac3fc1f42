"""What the audit of a generator's workspace says of the change that came from it (design, sections 4 and 11)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import GateError
from ..core.packet import Workspace
from ..core.settings import Settings
from ..core.submission import Change
from ..workspace.audit import secrets
from ..workspace.objects import is_commit, recheck, unpack_head
from ..workspace.report import Audit, is_foreign, parse_report
from ..workspace.snapshot import take_snapshot, workspace_view
from .audit import hidden_files
from .context import Context, warn


@dataclass(frozen=True)
class Report:
    """An audit's report as it was given, and the sha256 of its bytes."""

    audit: Audit
    sha256: str


def read_report(file: Path | None) -> Report | None:
    """The report that `--workspace-audit` names, if it names one."""
    if file is None:
        return None
    if not file.is_file():
        raise GateError("no such file", where=str(file), todo="make it with `audit DIR --out FILE`")
    data = file.read_bytes()
    return Report(parse_report(data, str(file)), hashlib.sha256(data).hexdigest())


def arrived(
    context: Context, name: str, pack: Path | None, pin: str | None
) -> tuple[str, str, Container[str]]:
    """The commit id that `--head` names, here or in the pack alone; the workspace's pin, if any, and then
    the blobs that no commit of its author's can have."""
    hidden: Container[str] = ()
    if pin:  # the base's own snapshot is made: a head may come without it
        snapshot = take_snapshot(context.store, context.launch.base, context.base_entries)
        hidden = secrets(context.store, snapshot, hidden_files(context, snapshot))
    head = unpack_head(context.store, pack, name) if pack else context.repository.resolve(name)
    if head is None:
        raise GateError(f"--head {name} is no commit {'of the pack' if pack else 'here'}", todo="fetch it")
    if pin and not is_commit(context.store, pin):
        todo = "pass the snapshot's id that `workspace create` printed; if the base moved on, send it with the head"
        raise GateError(f"--workspace-pin {pin} is no commit here", todo=todo)
    if pin and not pack:
        recheck(context.store, head, pin)
    return head, pin or "", hidden


def workspace_facts(context: Context, settings: Settings, change: Change, report: Report | None) -> Workspace:
    """Whether the report speaks for this change. One without findings does when the workspace's last commit
    holds exactly what the change makes of the view; findings in a workspace of this base always count."""
    required = settings.workspace.require
    if report is None:
        return Workspace(required=required)
    audit = report.audit
    snapshot = take_snapshot(context.store, context.launch.base, context.base_entries)
    problem = is_foreign(audit, snapshot, secrets(context.store, snapshot, hidden_files(context, snapshot)))
    leaks = {} if problem else dict(Counter(found.kind for found in audit.findings))
    view = workspace_view(context.store, change.after, snapshot.hidden)
    if not problem and audit.tree != context.store.write_tree(view):
        problem = "the audited workspace's last commit is not this change"
    if problem:
        warn(f"the report of the workspace does not count: {problem}; audit what the change came from")
    return Workspace(not (problem or leaks), required, report.sha256, leaks, problem)
