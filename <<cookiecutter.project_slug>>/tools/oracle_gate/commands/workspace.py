"""`workspace create DEST`, `verify DIR`, `export DIR`: the generator's side of the split of hosts."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from ..core.errors import Exit, GateError
from ..core.gitdb import neutral_environment
from ..core.oracle import read_control
from ..workspace.create import Mode, create
from ..workspace.snapshot import take_snapshot
from .context import Context
from .progress import progress


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
    allowed = {"create": {"mode"}, "verify": {"expect_commit"}, "export": {"expect_commit", "out"}}
    for name in {"mode", "expect_commit", "out"} - allowed[arguments.action]:
        if getattr(arguments, name):
            option = "--" + name.replace("_", "-")
            raise GateError(f"{option} means nothing to {arguments.action}", todo="leave it out")
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
    done = _script(context, "verify", arguments)
    *findings, summary = done.stdout.splitlines()
    if arguments.json:
        print(json.dumps({"findings": findings, "summary": summary}))
    else:
        print(done.stdout, end="")
    return Exit(done.returncode)


def _export(context: Context, arguments: argparse.Namespace) -> Exit:
    prefix = (arguments.out or arguments.path.resolve()).absolute()
    lines = _script(context, "export", arguments, str(prefix)).stdout.splitlines()[:3]
    pins = dict(line.split() for line in lines)
    _print({**pins, "mbox": f"{prefix}.mbox", "diff": f"{prefix}.diff"}, as_json=arguments.json)
    return Exit.OK


def _script(
    context: Context, name: str, arguments: argparse.Namespace, *words: str
) -> subprocess.CompletedProcess[str]:
    """Runs tools/workspace/NAME.sh of the base; its complaint becomes a GateError."""
    file = context.folder("script") / f"{name}.sh"
    file.write_bytes(read_control(context.store, context.base_entries, f"tools/workspace/{file.name}"))
    pin = ["--expect-commit", arguments.expect_commit] if arguments.expect_commit else []
    done = subprocess.run(
        ["sh", str(file), *pin, str(arguments.path.absolute()), *words], stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", errors="surrogateescape", check=False,
        env=neutral_environment(TMPDIR=str(context.workplace)),
    )  # fmt: skip
    if done.returncode not in (0, 1) or done.stderr:
        raise GateError(done.stderr.removeprefix(f"{file.name}: ") or f"{file.name} failed")
    return done


def _print(values: Mapping[str, str], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(values))
    else:
        sys.stdout.buffer.write(b"".join(os.fsencode(f"{name} {value}\n") for name, value in values.items()))
