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
from .policy import RULES

FOLDER = "oracle/approvals/"
#: Whatever a human states, these stay the base's: they decide who may state what.
ALWAYS_BASE = ("oracle/gate.toml", "oracle/denylist.txt", "oracle/allowed_signers", "tools")
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
        return "" if statement.parent == parent else "it is about another parent"
    if statement.change_id != change_id:
        return "it is about another change"
    allowed = set(overridable)
    for rule in statement.rules:
        acceptable = rule in RULES and not rule.startswith(("intake.", "sandbox."))
        if not acceptable or not (RULES[rule].outcome == "inspect" or rule in allowed):
            return f"{rule} cannot be overridden"
    return ""


def covers_pins(statements: Iterable[Statement], before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Whether every pin that changed is one that a statement names, old and new; none came or went."""
    stated = {(row, pin.old, pin.new) for statement in statements for row, pin in statement.ids.items()}
    changed = {(row, before.get(row, ""), after.get(row, "")) for row in before.keys() | after.keys()}
    return all(pin in stated for pin in changed if pin[1] != pin[2])
