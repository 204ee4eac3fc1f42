"""`workspace create DEST`, `verify DIR`, `export DIR`: the generator's side of the split of hosts."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from ..core.errors import Exit, GateError
from ..workspace.create import Mode, create
from ..workspace.export import export
from ..workspace.snapshot import take_snapshot
from ..workspace.verify import verify
from .context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=["create", "verify", "export"])
    parser.add_argument("path", type=Path, metavar="DEST or DIR", help="the workspace")
    parser.add_argument(
        "--mode",
        choices=get_args(Mode),
        help="create: what to make (default: snapshot); tarball makes a .tar.gz",
    )
    parser.add_argument(
        "--expect-commit", metavar="ID", help="verify, export: the snapshot's id that `create` printed"
    )
    parser.add_argument(
        "--out", type=Path, metavar="PREFIX", help="export: where .mbox and .diff go (default: beside DIR)"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Runs one action; options of another are refused."""
    given = {name for name in ("mode", "expect_commit", "out") if getattr(arguments, name)}
    allowed = {"create": {"mode"}, "verify": {"expect_commit"}, "export": {"expect_commit", "out"}}
    for name in sorted(given - allowed[arguments.action]):
        raise GateError(
            f"--{name.replace('_', '-')} means nothing to {arguments.action}", todo="leave it out"
        )
    return {"create": _create, "verify": _verify, "export": _export}[arguments.action](context, arguments)


def _create(context: Context, arguments: argparse.Namespace) -> Exit:
    context.require_oracle()
    progress(f"reading {len(context.base_entries)} files of the base")
    snapshot = take_snapshot(context.store, context.launch.base, context.base_entries)
    mode: Mode = arguments.mode or "snapshot"
    create(snapshot, context.store, context.repository, arguments.path, mode, progress)
    progress("")
    _print(snapshot.pins, as_json=arguments.json)
    return Exit.OK


def _verify(context: Context, arguments: argparse.Namespace) -> Exit:
    if not arguments.path.is_dir():
        raise GateError("no such folder", where=str(arguments.path), todo="name the workspace")
    checked = verify(arguments.path.resolve(), context.folder("verify"), arguments.expect_commit)
    if arguments.json:
        print(
            json.dumps(
                {
                    "compared_with": checked.compared_with,
                    "findings": [vars(found) for found in checked.findings],
                }
            )
        )
    else:
        for found in checked.findings:
            print(f"ORACLE LEAK {found.kind}: {found.where} {found.detail}".rstrip())
        state = f"{len(checked.findings)} finding(s)" if checked.findings else "nothing hidden by name"
        pinned = "as pinned" if arguments.expect_commit else "not pinned: pass --expect-commit ID"
        print(f"{state}; {checked.compared_with or 'no commit'} ({pinned})")
    return Exit.BLOCK if checked.findings else Exit.OK


def _export(context: Context, arguments: argparse.Namespace) -> Exit:
    folder = arguments.path.resolve()
    done = export(folder, context.folder("export"), arguments.expect_commit)
    prefix = arguments.out or folder
    files = {name: prefix.with_name(f"{prefix.name}.{name}").absolute() for name in ("mbox", "diff")}
    files["mbox"].write_bytes(done.mailbox)
    files["diff"].write_bytes(done.diff)
    pins = {"snapshot": done.start, "head": done.head, "tree": done.tree}
    _print({**pins, **{name: str(file) for name, file in files.items()}}, as_json=arguments.json)
    return Exit.OK


def _print(values: Mapping[str, str], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(values))
    else:
        print("".join(f"{name} {value}\n" for name, value in values.items()), end="")


def progress(text: str) -> None:
    """One line that the next replaces, on a terminal alone; empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
