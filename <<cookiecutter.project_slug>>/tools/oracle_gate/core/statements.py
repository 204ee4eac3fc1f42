"""Statements by humans: what each kind says, and which facts it covers (design, section 10). No effects here.

A statement is canonical JSON in oracle/approvals/<16 hex>.json, its signature beside it in a .sig file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .decode import SHA256, decode_json, encode
from .errors import GateError
from .pins import DIGESTS, PROVENANCE
from .policy import RULES

FOLDER = "oracle/approvals/"
#: Whatever a human states, these stay the base's: they decide who may state what.
ALWAYS_BASE = ("oracle/gate.toml", "oracle/denylist.txt", "oracle/allowed_signers", "tools")
#: Rules after which nothing, or not everything, was run: there is no evidence left that a human could accept.
_FINAL = ("intake.", "sandbox.", "setup.", "denylist.", "freeze_ledger.", "replay.misbehaved")
#: The identity of a change of nothing but the oracle's own records.
_NO_CHANGE = hashlib.sha256(b"").hexdigest()
Kind = Literal["drift", "protected-change", "repin", "accept"]


@dataclass(frozen=True)
class Repinned:
    """One pin's digest before and after."""

    old: str
    new: str


@dataclass(frozen=True)
class Statement:
    """`drift`: these rows may change so; `protected-change`: these denied paths may change; `repin`: the
    machine moved, no patch; `accept`: these rules are overridden. `note` says why, in words."""

    kind: Kind
    note: str
    change_id: str = ""
    parent: str = ""
    ids: Mapping[str, Repinned] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    schema: Literal["oracle-approval-v1"] = "oracle-approval-v1"

    @property
    def data(self) -> bytes:
        """The bytes that are signed."""
        return json.dumps(encode(self), sort_keys=True, separators=(",", ":")).encode() + b"\n"

    @property
    def name(self) -> str:
        """The file name, without its suffix."""
        return hashlib.sha256(self.data).hexdigest()[:16]


def parse_statement(data: bytes, where: str) -> Statement:
    """Reads a statement strictly; GateError for anything but the canonical bytes of a complete one."""
    statement = decode_json(Statement, data, where)
    if statement.data != data:
        raise GateError("not canonical JSON", where=where, todo="let `approve` write it")
    complaint = _complaint(statement)
    if complaint:
        raise GateError(complaint, where=where, todo="let `approve` write it")
    return statement


def _complaint(statement: Statement) -> str:
    needed = {
        "drift": ("change_id", "ids"), "protected-change": ("change_id", "paths"),
        "repin": ("parent", "ids"), "accept": ("change_id", "rules"),
    }[statement.kind]  # fmt: skip
    for name in ("change_id", "parent", "ids", "paths", "rules"):
        if bool(getattr(statement, name)) != (name in needed):
            return f"a {statement.kind} statement {'needs' if name in needed else 'has no'} {name}"
    if not statement.note.strip():
        return "the note is empty"
    if any(not SHA256.fullmatch(digest) for pin in statement.ids.values() for digest in (pin.old, pin.new)):
        return "a digest is not 64 hex digits"
    return ""


def refusal(statement: Statement, change_id: str, parent: str, overridable: Iterable[str]) -> str:
    """Why a statement does not apply to this change; empty when it does."""
    if statement.kind == "repin":
        if statement.parent != parent:
            return "it is about another parent"
        return "" if change_id == _NO_CHANGE else "a re-pin comes alone: the change holds more than pins"
    if statement.change_id != change_id:
        return "it is about another change"
    if any(path.startswith(FOLDER) for path in statement.paths):
        return f"no statement covers {FOLDER}"
    allowed = set(overridable)
    for rule in statement.rules:
        outcome = RULES[rule].outcome if rule in RULES and not rule.startswith(_FINAL) else ""
        if not (outcome == "inspect" or (outcome == "block" and rule in allowed)):
            return f"{rule} cannot be overridden"
    return ""


def covers_path(statements: Iterable[Statement], path: str) -> bool:
    """Whether a protected-change names the path.

    Pins and provenance need more: they are no part of a change's identity, so nobody has signed their bytes.
    """
    return path not in (DIGESTS, PROVENANCE) and any(path in statement.paths for statement in statements)


def covers_pins(statements: Iterable[Statement], before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Whether every pin that changed is one that a statement names, old and new.

    Pins come and go only with a protected-change that names digests.json: with rows, which it binds.
    """
    amending = [statement for statement in statements if statement.kind != "accept"]
    stated = {(row, pin.old, pin.new) for statement in amending for row, pin in statement.ids.items()}
    may_come_and_go = any(DIGESTS in statement.paths for statement in amending)
    changed = {(row, before.get(row, ""), after.get(row, "")) for row in before.keys() | after.keys()}
    return bool(amending) and all(
        pin in stated if pin[1] and pin[2] else may_come_and_go for pin in changed if pin[1] != pin[2]
    )
