"""From what was submitted to what changed (design, section 6)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from .gitdb import Entries, Entry, ObjectStore
from .patchscan import Problem
from .paths import fold, forbidden_name, printable

ABSENT = Entry("000000", "")
#: What approvals write; a change's identity does not depend on them.
_NOT_IDENTITY = (b"oracle/approvals/", b"oracle/digests.json", b"oracle/provenance.json")


@dataclass(frozen=True)
class Changed:
    """One net difference of two trees; `ABSENT` stands for no entry."""

    path: bytes
    before: Entry
    after: Entry

    @property
    def status(self) -> str:
        """A, D, M, or T when the kind of entry changed."""
        if self.before == ABSENT:
            return "A"
        if self.after == ABSENT:
            return "D"
        return "M" if self.before.mode[:3] == self.after.mode[:3] else "T"


@dataclass(frozen=True)
class Change:
    """A change that is to be judged.

    `before` and `after` are the whole trees; `changed` their net difference; `touched` every path that
    the submission names, net or not; `problems` what intake found, and what ends the judgement.
    `submitted_sha256` is of the submitted bytes, empty when there were none (a work tree).
    """

    base: str
    before: Entries
    after: Entries
    changed: tuple[Changed, ...]
    touched: tuple[bytes, ...]
    problems: tuple[Problem, ...]
    submitted_sha256: str = ""


def finish(
    base: str, before: Entries, after: Entries, touched: Iterable[bytes], problems: Iterable[Problem],
    submitted: bytes | None = None,
) -> Change:  # fmt: skip
    """Completes a submitted change: net difference, what is forbidden in it, what it touches in all."""
    changed = difference(before, after)
    found = list(dict.fromkeys([*problems, *forbidden(changed)]))
    if not changed and not found:
        found.append(Problem("intake.empty", "change", "changes nothing"))
    paths = sorted({*touched, *(item.path for item in changed)})
    digest = "" if submitted is None else hashlib.sha256(submitted).hexdigest()
    return Change(base, before, after, changed, tuple(paths), tuple(found), digest)


def difference(before: Entries, after: Entries) -> tuple[Changed, ...]:
    """The net changes from one tree to another, by path."""
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return tuple(Changed(path, before.get(path, ABSENT), after.get(path, ABSENT)) for path in paths)


def change_id(store: ObjectStore, changed: Iterable[Changed]) -> str:
    """What approvals bind to: sha256 of the sorted net raw entries, without the oracle's own records."""
    zero = "0" * len(store.oid("blob", b""))
    lines = (
        f":{c.before.mode} {c.after.mode} {c.before.oid or zero} {c.after.oid or zero} {c.status}\0".encode()
        + c.path + b"\0"
        for c in changed
        if not c.path.startswith(_NOT_IDENTITY[0]) and c.path not in _NOT_IDENTITY
    )  # fmt: skip
    return hashlib.sha256(b"".join(lines)).hexdigest()


def forbidden(changed: Iterable[Changed]) -> list[Problem]:
    """Entries that no change may bring: links, submodules, odd modes and names, names that fold together."""
    problems: list[Problem] = []
    folded: dict[str, bytes] = {}
    for item in changed:
        if item.after == ABSENT:
            continue
        subject = printable(item.path)
        if item.after.mode not in ("100644", "100755"):
            kind = {"120000": "a symbolic link", "160000": "a submodule"}.get(item.after.mode, "not a file")
            problems.append(Problem("intake.forbidden_entry", subject, f"is {kind} (mode {item.after.mode})"))
        reason = forbidden_name(item.path)
        if reason:
            problems.append(Problem("intake.forbidden_entry", subject, reason))
        other = folded.setdefault(fold(item.path), item.path)
        if other != item.path:
            detail = f"is the same name as {printable(other)} on some file systems"
            problems.append(Problem("intake.forbidden_entry", subject, detail))
    return problems
