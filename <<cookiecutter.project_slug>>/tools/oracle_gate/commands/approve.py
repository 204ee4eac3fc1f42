"""`approve`: signs a human's statement about a packet (design, section 10)."""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path

from ..core.approvals import NAMESPACE
from ..core.decode import decode_json
from ..core.errors import Exit, GateError
from ..core.oracle import read_settings
from ..core.packet import Packet
from ..core.statements import FOLDER, Repinned, Statement, parse_statement, refusal
from .context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--packet", type=Path, required=True, metavar="P", help="the packet that you have read"
    )
    parser.add_argument("--kind", choices=["drift", "protected-change", "repin", "accept"], default="drift")
    parser.add_argument(
        "--id", action="append", default=[], metavar="ID", help="a row (default: all that drift)"
    )
    parser.add_argument(
        "--rule", action="append", default=[], metavar="RULE", help="a rule, for --kind accept"
    )
    parser.add_argument("--note", required=True, help="the behaviour note: what changes and why it is wanted")
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help="the signing key (default: git's user.signingkey)"
    )


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Writes oracle/approvals/<16 hex>.json and its .sig; nothing when signing fails."""
    packet = decode_json(Packet, arguments.packet.read_bytes(), str(arguments.packet))
    statement = _statement(packet, arguments)
    parse_statement(statement.data, "statement")
    overridable = read_settings(context.store, context.base_entries).approvals.overridable
    complaint = refusal(statement, packet.change_id, packet.parent_sha, overridable)
    if complaint:
        raise GateError(complaint, where=str(arguments.packet), todo="the judge would not take it")
    key = arguments.key or _configured_key()
    signature = _sign(statement.data, key, context.folder("signing"))
    folder = context.root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    # The signature first: a statement without one would hold.
    (folder / f"{statement.name}.sig").write_bytes(signature)
    (folder / f"{statement.name}.json").write_bytes(statement.data)
    print(f"approve: {FOLDER}{statement.name}.json ({statement.kind}); commit it with the change")
    return Exit.OK


def _statement(packet: Packet, arguments: argparse.Namespace) -> Statement:
    if arguments.kind == "accept":
        return Statement("accept", arguments.note, packet.change_id, rules=tuple(arguments.rule))
    if arguments.kind == "protected-change":
        paths = tuple(
            hit.subject for hit in packet.denylist.hits if not hit.subject.startswith(FOLDER)
        )  # a stale statement is dropped, not approved
        return Statement("protected-change", arguments.note, packet.change_id, paths=paths)
    status = "drift" if arguments.kind == "drift" else "base_mismatch"
    rows = {row.id: Repinned(row.expected, row.observed) for row in packet.replay if row.status == status}
    unknown = [name for name in arguments.id if name not in rows]
    if unknown or not rows:
        what = f"no row {unknown[0]!r}" if unknown else "no row"
        raise GateError(
            f"{what} with status {status} in the packet", where=str(arguments.packet), todo="judge again"
        )
    chosen = {name: pin for name, pin in rows.items() if not arguments.id or name in arguments.id}
    if arguments.kind == "drift":
        return Statement("drift", arguments.note, packet.change_id, ids=chosen)
    return Statement("repin", arguments.note, parent=packet.parent_sha, ids=chosen)


def _configured_key() -> Path:
    """git's user.signingkey of the person who approves; this is their own command, so their own setting."""
    answer = subprocess.run(
        ["git", "config", "--global", "--type=path", "user.signingkey"], capture_output=True, check=False
    )
    name = os.fsdecode(answer.stdout.removesuffix(b"\n"))
    if not name:
        raise GateError("no signing key", todo="pass --key FILE or set git's user.signingkey")
    return Path(name)


def _sign(data: bytes, key: Path, workplace: Path) -> bytes:
    if not key.is_file():
        raise GateError("no such key", where=str(key), todo="pass --key FILE")
    message = workplace / "statement.json"
    message.write_bytes(data)
    command = ["ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f", str(key), str(message)]
    answer = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=False)
    if answer.returncode:
        raise GateError(f"ssh-keygen: {answer.stderr.decode(errors='replace')[:200]}", where=str(key))
    return message.with_name("statement.json.sig").read_bytes()
