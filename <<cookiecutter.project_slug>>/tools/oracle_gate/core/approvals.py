"""Verifies statements with ssh-keygen against allowed_signers of the base (design, section 10)."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import GateError
from .gitdb import ObjectStore
from .packet import Approval
from .paths import printable
from .statements import FOLDER, Statement, parse_statement, refusal
from .submission import ABSENT, Change

NAMESPACE, SIGNERS = "oracle-approval", "oracle/allowed_signers"
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Signers:
    """The people who may state something. `at` replaces today for keys with a validity."""

    allowed: bytes
    workplace: Path
    at: datetime.date | None = None

    def verify(self, data: bytes, signature: bytes) -> str:
        """Who signed these bytes; empty when nobody allowed did, or the key is not valid at that time."""
        files = {name: self.workplace / name for name in ("allowed", "signature")}
        files["allowed"].write_bytes(self.allowed)
        files["signature"].write_bytes(signature)
        common = ["-f", str(files["allowed"]), "-n", NAMESPACE, "-s", str(files["signature"])]
        when = [f"-Overify-time={self.at:%Y%m%d}120000"] if self.at else []
        found = _ssh_keygen(["-Y", "find-principals", *when, *common], data)
        if found.returncode:
            return ""
        # A line of allowed_signers may name several principals, with commas.
        for principal in found.stdout.decode(errors="replace").replace(",", "\n").split("\n"):
            if not principal:
                continue
            answer = _ssh_keygen(["-Y", "verify", *when, "-I", principal, *common], data)
            if answer.returncode == 0:
                return principal
        return ""


def _ssh_keygen(arguments: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    command = ["ssh-keygen", *arguments]
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": "/nonexistent"}
    try:
        return subprocess.run(
            command, input=data, env=environment, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        raise GateError("ssh-keygen does not answer", todo="install OpenSSH 8.9 or later") from None


@dataclass(frozen=True)
class Submitted:
    """A statement as it came: its two files' bytes and where they were found."""

    where: str
    data: bytes
    signature: bytes


@dataclass(frozen=True)
class Verified:
    """The statements that count for a change, and a fact for each one that was submitted."""

    statements: tuple[Statement, ...]
    facts: tuple[Approval, ...]
    valid_paths: frozenset[bytes]


def submitted_with(change: Change, store: ObjectStore) -> list[Submitted]:
    """The statements that a change adds below oracle/approvals/; a pair of files each."""
    added: Mapping[bytes, str] = {
        item.path: item.after.oid
        for item in change.changed
        if item.path.startswith(FOLDER.encode()) and item.before == ABSENT and item.after.mode == "100644"
    }
    found = []
    for path, oid in sorted(added.items()):
        beside = added.get(path.removesuffix(b".json") + b".sig")
        if path.endswith(b".json"):
            signature = store.read(beside, "blob") if beside else b""
            found.append(Submitted(printable(path), store.read(oid, "blob"), signature))
    return found


def read_submitted(path: Path) -> Submitted:
    """A statement given by file name; its signature lies beside it. GateError when one is not there."""
    files = path, path.with_suffix(".sig")
    for file in files:
        if not file.is_file():
            raise GateError("is missing", where=str(file), todo="keep it beside the statement's other file")
    return Submitted(str(path), *(file.read_bytes() for file in files))


def verify_all(
    submitted: list[Submitted], signers: Signers, change_id: str, parent: str, overridable: tuple[str, ...]
) -> Verified:
    """Checks form, name, signature and subject of each; what fails is a fact, not an exception."""
    statements, facts, paths = [], [], set()
    for item in submitted:
        signer, statement, complaint = "", None, ""
        try:
            statement = parse_statement(item.data, item.where)
            signer = signers.verify(item.data, item.signature)
            if not signer:
                complaint = "no allowed signer's signature for the namespace oracle-approval, valid now"
            elif item.where.startswith(FOLDER) and Path(item.where).stem != statement.name:
                complaint = f"the file is not named {statement.name}"
            else:
                complaint = refusal(statement, change_id, parent, overridable)
        except GateError as error:
            complaint = error.what
        kind, note = (statement.kind, statement.note) if statement else ("", "")
        rules = statement.rules if statement and not complaint else ()
        name = statement.name if statement else ""
        facts.append(Approval(name, kind, signer, note, not complaint, complaint, rules))
        if statement and not complaint:
            statements.append(statement)
            paths |= {f"{FOLDER}{name}{suffix}".encode() for suffix in (".json", ".sig")}
    return Verified(tuple(statements), tuple(facts), frozenset(paths))
