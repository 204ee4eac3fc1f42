"""Keys, signers and statements, made for a test by ssh-keygen."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from oracle_gate.commands.case import Case
from oracle_gate.commands.context import Context, Launch, opened
from oracle_gate.core.oracle import read_oracle
from oracle_gate.core.statements import FOLDER, Repinned, Statement

from .gate import Gate
from .gitenv import commit_all, git

NAMESPACE = "oracle-approval"
OLD, NEW = "a" * 64, "b" * 64
CHANGE, PARENT = "c" * 64, "d" * 40


@dataclass(frozen=True)
class Keys:
    """Private keys by name: `owner` may sign, `expired` and `other_namespace` could once or elsewhere,
    `stranger` never."""

    folder: Path

    def path(self, name: str = "owner") -> Path:
        """The private key's file."""
        return self.folder / name

    def sign(self, data: bytes, name: str = "owner", namespace: str = NAMESPACE) -> bytes:
        """The signature of these bytes."""
        command = ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", str(self.path(name))]
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout

    @property
    def allowed_signers(self) -> str:
        """The file that names who may approve."""
        options = {
            "owner": f'namespaces="{NAMESPACE}"',
            "expired": f'namespaces="{NAMESPACE}",valid-before="20200101"',
            "other_namespace": 'namespaces="git"',
        }
        public = {name: self.path(name).with_suffix(".pub").read_text().split() for name in options}
        return "".join(
            f"{name}@example.org,{name} {option} {public[name][0]} {public[name][1]}\n"
            for name, option in options.items()
        )


def make_keys(folder: Path) -> Keys:
    """Four fresh keys without a passphrase."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("owner", "expired", "other_namespace", "stranger"):
        if not (folder / name).exists():
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return Keys(folder)


def drift(**fields: object) -> Statement:
    """A drift statement about one row, with these fields replaced."""
    values = {"note": "wanted", "change_id": CHANGE, "ids": {"upper": Repinned(OLD, NEW)}, **fields}
    return Statement("drift", **values)  # type: ignore[arg-type]


def put(root: Path, statement: Statement, keys: Keys, name: str = "owner") -> str:
    """Writes a signed statement where a change brings it; returns its path without the suffix."""
    stem = f"{FOLDER}{statement.name}"
    (root / f"{stem}.json").write_bytes(statement.data)
    (root / f"{stem}.sig").write_bytes(keys.sign(statement.data, name))
    return stem


def allow(gate: Gate, keys: Keys) -> None:
    """Commits the signers to the base."""
    gate.write("oracle/allowed_signers", keys.allowed_signers)
    commit_all(gate.root, "Name who may approve")


@contextmanager
def work_tree_case(gate: Gate, fresh: Path) -> Iterator[Case]:
    """The work tree as a judgement in this process, before any lane has run."""
    head = git(gate.root, "rev-parse", "HEAD").decode().strip()
    with opened(Launch(str(gate.root), head, "HEAD", "local", str(fresh))) as context:
        yield _case(context)


def _case(context: Context) -> Case:
    oracle = read_oracle(context.store, context.base_entries)
    change = context.work_tree(oracle.denied)
    return Case(context, oracle, change.before, change, "work-tree", datetime.date(2026, 1, 1), None)
