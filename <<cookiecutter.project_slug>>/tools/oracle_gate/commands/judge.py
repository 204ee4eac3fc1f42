"""`judge`: what changed, may it, does the program still do what is pinned; then the packet and the verdict."""

from __future__ import annotations

import argparse
import datetime
import json
import time
from collections.abc import Mapping
from pathlib import Path
from secrets import randbits

from ..core.commits import submit_head
from ..core.errors import Exit, GateError
from ..core.history import read_history
from ..core.oracle import Oracle, read_oracle
from ..core.packet import Packet
from ..core.patching import submit_patch
from ..core.policy import exit_code, judge
from ..core.submission import Change
from ..render.terminal import show
from .case import Case, Lane
from .context import Context, workers
from .judging import facts
from .judging_workspace import arrived, read_report, workspace_facts
from .output import PACKET, remove_old, write_packet
from .progress import no_progress, progress

SANDBOXES = ["auto", "bubblewrap", "landlock", "plain", "none"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_case_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the verdict and the packet's path as JSON")
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("--verbose", action="store_true", help="name ids under CI as well")
    talk.add_argument("--quiet", action="store_true", help="print the verdict line alone")


def add_case_arguments(parser: argparse.ArgumentParser) -> None:
    """What is judged, by what and how; the harness takes the same."""
    change = parser.add_mutually_exclusive_group()
    change.add_argument(
        "--patch", type=Path, metavar="FILE", help="judge this patch (default: the work tree)"
    )
    change.add_argument(
        "--head", metavar="REF", help="judge the commits from the merge base to REF, on top of the base"
    )
    change.add_argument("--tree", type=Path, metavar="DIR", help="judge the folder DIR as the work tree")
    parser.add_argument(
        "--pack", type=Path, metavar="FILE", help="take objects that --head needs from this pack or bundle"
    )
    parser.add_argument(
        "--workspace-pin", metavar="ID", help="--head is a workspace's: judge what it adds to this snapshot"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="where the packet goes (default: a file in .gate/)"
    )
    parser.add_argument("--workers", type=workers, help="worker processes (default: [replay] workers)")
    parser.add_argument(
        "--sandbox", choices=SANDBOXES, default="auto", help="none: for debugging, never eligible"
    )
    parser.add_argument("--now", type=_date, metavar="DATE", help="judge as of this UTC date (YYYY-MM-DD)")
    parser.add_argument(
        "--approval", type=Path, action="append", default=[], metavar="FILE", help="a signed statement"
    )
    parser.add_argument(
        "--workspace-audit",
        type=Path,
        metavar="FILE",
        help="the report of `audit` on where the change was made",
    )
    parser.add_argument(
        "--sealed",
        type=Path,
        metavar="DIR",
        help="the sealed folder (default: [sealed] dir, else the base's)",
    )


def _date(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no date such as 2026-01-31") from None


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Judges one change; the exit code is the verdict's."""
    out = Path(arguments.out or context.own / PACKET).absolute()
    packet = judged(context, arguments, out)
    if arguments.json:
        print(json.dumps({"verdict": packet.verdict, "packet": str(out)}))
    else:
        show(packet, verbose=arguments.verbose, quiet=arguments.quiet)
    return exit_code(packet)


def judged(
    context: Context, arguments: argparse.Namespace, out: Path, lanes: Mapping[str, Lane] | None = None
) -> Packet:
    """Judges by all lanes or by the given ones alone (mode `harness`), and writes the packet to `out`."""
    started = time.monotonic()
    remove_old(out)
    report = read_report(arguments.workspace_audit)
    oracle = read_oracle(context.store, context.base_entries)
    change, mode = _submitted(context, oracle, arguments)
    today = arguments.now or datetime.datetime.now(datetime.UTC).date()
    case = Case(
        context, oracle, change.before, change, "harness" if lanes else mode, today, arguments.workers,
        arguments.sandbox, now=arguments.now, approvals=tuple(arguments.approval),
        sealed_dir=arguments.sealed, envelope_seed=randbits(32),
        progress=no_progress if getattr(arguments, "quiet", False) else progress,
        workspace=workspace_facts(context, oracle.settings, change, report),
    )  # fmt: skip
    packet = judge(facts(case, lanes))
    meta = {"seconds": round(time.monotonic() - started, 3), "envelope_seed": case.envelope_seed}
    write_packet(out, packet, meta, read_history(context.store, context.launch.base, context.base_entries))
    return packet


def _submitted(context: Context, oracle: Oracle, arguments: argparse.Namespace) -> tuple[Change, str]:
    if not arguments.head and (arguments.pack or arguments.workspace_pin):
        raise GateError("--pack and --workspace-pin go with --head", todo="name the head")
    if arguments.patch:
        limit = oracle.settings.limits.patch_bytes
        with arguments.patch.open("rb") as file:
            patch = file.read(limit + 1)  # one more than allowed is enough to refuse it
        workplace = context.folder("patch")
        return submit_patch(context.store, workplace, context.launch.base, patch, oracle.settings), "patch"
    if arguments.head:
        head, pin, secrets = arrived(context, arguments.head, arguments.pack, arguments.workspace_pin)
        words = (context.store, context.folder("head"), context.launch.base, head, oracle.settings)
        return submit_head(*words, pin, secrets), "head"
    if arguments.tree and not arguments.tree.is_dir():
        raise GateError("no such folder", where=str(arguments.tree), todo="name the patched work tree")
    change = context.work_tree(oracle.denied, arguments.tree)
    return change, "work-tree" if change.changed or change.problems else "self-check"
