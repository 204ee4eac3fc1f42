"""The report of an audit, and whether it is one of the workspace that a judged change comes from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..core.decode import decode_json
from ..core.errors import GateError
from .snapshot import Finding, Snapshot

_ID = r"[0-9a-f]{40}|[0-9a-f]{64}"
_FORMS = {"base": _ID, "snapshot": _ID, "head": f"{_ID}|", "tree": f"{_ID}|", "hidden_sha256": "[0-9a-f]{64}"}


@dataclass(frozen=True)
class Audit:
    """The report that `judge --workspace-audit` binds: which base, which state of the workspace, what was found.

    `head` and `tree` are ids of the workspace's last commit, empty without git. `hidden_sha256` is of the
    sorted ids of the hidden files that were looked for, `counts` of what was looked at.
    """

    schema: Literal["workspace-audit-v1"]
    base: str
    snapshot: str
    head: str
    tree: str
    hidden_sha256: str
    findings: tuple[Finding, ...]
    counts: Mapping[str, int]


def parse_report(data: bytes, where: str) -> Audit:
    """Reads a report strictly; raises GateError."""
    report = decode_json(Audit, data, where)
    for name, form in _FORMS.items():
        if not re.fullmatch(form, getattr(report, name)):
            raise GateError(f"{name} is no id", where=where, todo="run `audit` again")
    return report


def digest_of(ids: Iterable[str]) -> str:
    """The sha256 that stands for a set of hidden files."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def is_foreign(report: Audit, snapshot: Snapshot, hidden: Iterable[str]) -> str:
    """Why the report is not one of a workspace of this base and its hidden files; empty when it is."""
    if (report.base, report.snapshot) != (snapshot.base, snapshot.commit):
        return f"the audit was made for base {report.base[:12]}"
    if report.hidden_sha256 != digest_of(hidden):
        return "the audit looked for other hidden files than there are"
    return ""
