"""`audit DIR`: the full check of a generator's workspace, on the side that knows what is hidden."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path

from ..core.decode import to_json
from ..core.errors import Exit, GateError
from ..core.view import is_hidden
from ..workspace.audit import audit
from ..workspace.objects import files_ever
from ..workspace.report import Audit
from ..workspace.snapshot import Snapshot, take_snapshot
from .context import Context
from .progress import progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="the workspace, or a copy of it")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the report for `judge --workspace-audit FILE`"
    )
    parser.add_argument("--verbose", action="store_true", help="name places under CI as well")


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Exit 1 when anything was found."""
    folder = arguments.folder.resolve()
    if not folder.is_dir():
        raise GateError(
            "no such folder", where=str(arguments.folder), todo="name the workspace; unpack a tarball"
        )
    if context.root.resolve() in (folder, *folder.parents):
        raise GateError("holds the oracle itself", where=str(folder), todo="name the workspace")
    report = examine(context, folder)
    progress("")
    if arguments.out:
        arguments.out.write_bytes(to_json(report))
    if arguments.json:
        print(to_json(report).decode(), end="")
    else:
        _show(report, named=arguments.verbose or not os.environ.get("CI"))
    return Exit.BLOCK if report.findings else Exit.OK


def examine(context: Context, folder: Path) -> Audit:
    """Looks for all that is hidden in the base, or was in any commit of any ref, in `folder`."""
    snapshot = take_snapshot(context.store, context.launch.base, context.base_entries)
    hidden = hidden_files(context, snapshot)
    return audit(folder, context.store, snapshot, hidden, context.folder("audit"), progress)


def hidden_files(context: Context, snapshot: Snapshot) -> list[tuple[str, bytes]]:
    """Id and path of all that is hidden in the base, or was in any commit of any ref."""
    ever = files_ever(context.store, context.repository, snapshot.base, snapshot.hidden)
    now = {(entry.oid, path) for path, entry in context.base_entries.items() if path not in snapshot.entries}
    return sorted((oid, path) for oid, path in ever | now if is_hidden(path, snapshot.hidden))


def _show(report: Audit, *, named: bool) -> None:
    """One line a finding; under CI, whose log the generator may read, kinds and counts alone."""
    if named:
        for found in report.findings:
            print(f"{found.kind}: {found.where} {found.detail}".rstrip())
    else:
        for kind, count in sorted(Counter(found.kind for found in report.findings).items()):
            print(f"{kind}: {count}")
    counts = ", ".join(f"{count} {name}" for name, count in report.counts.items())
    print(f"{len(report.findings) or 'no'} finding(s); looked at: {counts}")
